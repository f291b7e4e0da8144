"""Reports: numbers from records and statistics, charts, and exports."""
