"""The corpus, the judges, their runs, the statistics and the reports."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EvaluationsConfig(AppConfig):
    name = "evaluations"

    def ready(self) -> None:
        from evaluations import heartbeat  # noqa: F401 - its signal handlers are what is wanted
        from geval_site import checks  # noqa: F401 - registered by being imported

        post_migrate.connect(_install_queue, sender=self)


def _install_queue(using: str, **_kwargs: Any) -> None:
    """After `migrate`: put the message queue's functions beside our tables, where the queue lives
    in the database."""
    from django.db import connections

    from geval_site.embedded.queue import install_queue

    install_queue(connections[using])
