"""Verdicts in a pipeline: what a pull request changes, in one comment that is renewed."""
