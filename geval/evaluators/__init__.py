"""Evaluators: one file each, loaded through entry points; `base` has their interface."""
