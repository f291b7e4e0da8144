"""The corpus, the judges, their runs, the statistics and the reports."""

from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate

from geval_site.embedded.queue import install_queue


class EvaluationsConfig(AppConfig):
    name = "evaluations"

    def ready(self) -> None:
        import_module("geval_site.checks")  # registered by being imported, once models are there
        post_migrate.connect(_install_queue, sender=self)


def _install_queue(using: str, **_kwargs: Any) -> None:
    """After `migrate`: put the message queue's functions beside our tables, where the queue lives
    in the database."""
    install_queue(connections[using])
