"""Improve a judge from existing scores on documents that are not locked, and test it on locked
ones."""
