"""The optional Django app that improves, checks, certifies and compares judges, and shows where
they fail. Its rows are models of `evaluations`, so that archives, deletion and hidden ratings do
not depend on it."""

from django.apps import AppConfig


class AssuranceConfig(AppConfig):
    name = "assurance"
    extension = "assurance.extension.EXTENSION"
    # By group of the command line's help, which waits for no import of the extension.
    commands = {
        "Results": ("disagreements", "compare"),
        "Better judges": ("improve", "study", "certify", "verify"),
    }
