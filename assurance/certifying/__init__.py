"""Certificates: whether a judge meets stated requirements, bound to what was measured."""
