"""Old address of what packages with evaluators import; it ends with the next release."""
