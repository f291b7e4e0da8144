"""A judge made better from the scores there are, on documents that are not locked, and proven on
those that are."""
