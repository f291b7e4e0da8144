"""Limits of the interval widths that can be goals of runs and campaigns. Pure."""

# Half-widths of rho's interval.
LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH = 0.01, 0.5
