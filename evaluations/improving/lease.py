"""How long a worker holds a search without being heard of."""

from datetime import timedelta

# Longer than a slice of work (tasks.py), so that a late worker has died.
LEASE = timedelta(minutes=7)
