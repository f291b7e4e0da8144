"""Documents set aside: which are locked, and what the site remembers of each draw."""
