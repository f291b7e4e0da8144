"""Reports computed at once or by a worker, stored, and kept up to date."""
