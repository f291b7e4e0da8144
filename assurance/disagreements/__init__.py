"""Where a judge and people are far apart, and what such outputs have in common."""
