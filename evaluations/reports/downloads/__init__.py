"""A report as files: tables, JSON, LaTeX, metrics, a frozen page."""
