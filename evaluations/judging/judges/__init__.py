"""Judges, and their endpoints, criteria and evaluation steps."""
