"""Campaigns: which items there are, who gets which, and in which order."""
