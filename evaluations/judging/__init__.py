"""G-Eval: prompts, evaluation steps, endpoints, parsing, scoring, and the run that ties them
together."""
