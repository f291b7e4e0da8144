"""The Django app of the corpus, judges, runs, statistics and reports."""

from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db import connections
from django.db.models.signals import post_migrate

from geval.files.limits import use_limits
from geval_site.embedded.queue import install_queue


class EvaluationsConfig(AppConfig):
    name = "evaluations"

    def ready(self) -> None:
        use_limits(lambda: settings.FILE_LIMITS)
        import_module("geval_site.checks")  # registered on import, which needs the models
        import_module("geval_site.sql")
        import_module("evaluations.people.audit")
        post_migrate.connect(_install_queue, sender=self)


def _install_queue(using: str, **_kwargs: Any) -> None:
    """After `migrate`: install the message queue's functions, if the queue is in the database."""
    install_queue(connections[using])
