"""Two judges compared: paired differences, tests, and what each costs."""
