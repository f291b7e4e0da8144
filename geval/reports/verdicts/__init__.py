"""Conclusions from ratings and scores: a judge's analysis, null judges, the verdict."""
