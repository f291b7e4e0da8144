"""Load texts, ratings and scores: bytes become rows; rows are staged, checked and merged."""
