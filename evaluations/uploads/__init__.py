"""From files that somebody chose to records: kept, looked at, checked, and loaded in the
background."""
