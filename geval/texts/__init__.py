"""Texts, turns, tables and numbers as people and judges read them. Pure."""
