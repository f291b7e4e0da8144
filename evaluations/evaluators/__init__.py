"""What gives a score to an output: one file an evaluator, found by entry points; `base` is what
each is."""
