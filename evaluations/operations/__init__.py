"""Watching the site: whether it can work, what it does in numbers, and what to do about it."""
