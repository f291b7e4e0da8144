"""The contents of pages of runs, their items and their judges."""
