"""Reports computed at once or by a worker, kept, and brought up to date."""
