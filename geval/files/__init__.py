"""Files of ratings, scores and texts: bytes become records, and records rows. Pure."""
