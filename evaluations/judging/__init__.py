"""Judges, their steps and their runs."""
