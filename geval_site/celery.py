"""The Celery application. Tasks live in each app's tasks.py and call one function each."""

import logging.config
import os
import socket
from typing import Any

import structlog
from celery import Celery
from celery.signals import setup_logging, task_postrun, task_prerun
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")

app = Celery("geval_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def _use_the_sites_log(**_kwargs: Any) -> None:
    """Log as the site does; Celery's `--loglevel` has no effect."""
    logging.config.dictConfig(settings.LOGGING)


@task_prerun.connect
def _bind_ids(task_id: str, **_kwargs: Any) -> None:
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(
        task_id=task_id, worker=f"{socket.gethostname()}:{os.getpid()}"
    )


@task_postrun.connect
def _forget_ids(**_kwargs: Any) -> None:
    structlog.contextvars.clear_contextvars()
