"""Where a judge and people differ most, and what such outputs have in common."""
