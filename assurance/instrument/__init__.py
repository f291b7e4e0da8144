"""A judge as an instrument: its drift, its steadiness, and its sensitivity to irrelevant
changes."""
