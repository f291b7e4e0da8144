"""The optional Django app that improves, checks, certifies and compares judges, and shows where
they fail. Its rows are models of `evaluations`, so that archives, deletion and hidden ratings do
not depend on it."""

from django.apps import AppConfig


class AssuranceConfig(AppConfig):
    name = "assurance"
    extension = "assurance.extension.EXTENSION"
