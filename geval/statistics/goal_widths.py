"""How narrow and how wide an interval may be that is the goal of a run or a campaign. Pure."""

# Of rho, to both sides.
LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH = 0.01, 0.5
