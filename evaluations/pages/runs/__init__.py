"""What pages of runs, their items and their judges show."""
