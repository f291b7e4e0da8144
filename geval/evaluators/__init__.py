"""Evaluators: one file each, found by entry points; `base` has their interface."""
