"""From records and statistics to one report's numbers, its charts, and its exports."""
