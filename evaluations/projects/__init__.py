"""What happens to whole projects: they are archived, restored and deleted."""
