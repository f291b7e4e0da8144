"""Judges in repositories: verdicts in comments of pull requests, and projects as YAML files."""
