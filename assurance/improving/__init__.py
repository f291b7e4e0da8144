"""Making a judge better from ratings, and proving it on documents that no choice has seen."""
