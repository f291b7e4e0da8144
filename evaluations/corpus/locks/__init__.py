"""Locked documents: which are locked, and the site's record of each draw."""
