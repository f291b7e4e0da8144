"""Plan campaigns: which items they have, who gets which, and in which order."""
