"""Improve a judge using ratings, and prove the gain on documents that played no part in the
choice."""
