"""Evaluators, which score outputs: one file each, found by entry points; `base` has their
interface."""
