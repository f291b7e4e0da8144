"""Judges and what they are made of: endpoints, criteria, evaluation steps."""
