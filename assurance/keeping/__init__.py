"""Policies of judges: which answers are kept, proven on a project's ratings, and what they keep in
use."""
