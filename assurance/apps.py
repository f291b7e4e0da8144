"""The Django app that improves, checks, certifies and compares judges, and shows where they fail.
Its rows are models of `evaluations`, which imports nothing of it."""

from django.apps import AppConfig


class AssuranceConfig(AppConfig):
    name = "assurance"
