"""A judge as an instrument: its steadiness, and its sensitivity to irrelevant changes."""
