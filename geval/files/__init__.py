"""Files of ratings, scores and texts: from bytes to records, and from records to rows. Pure."""
