"""Monitoring the site: whether it can work, its metrics, and advice on problems."""
