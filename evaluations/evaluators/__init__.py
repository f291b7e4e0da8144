"""Old addresses of what packages with evaluators import; they end with the next release."""
