"""The Celery application. Tasks live in `evaluations/management/tasks.py`, and in
`assurance/tasks.py`; each calls one function."""

import logging.config
import os
from typing import Any

import structlog
from celery import Celery, Task
from celery.signals import (
    before_task_publish,
    setup_logging,
    task_postrun,
    task_prerun,
)
from django.conf import settings

from geval_site.queues import JUDGE_RUNS, worker_name

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")

# What the log of a worker has of the request that led to a message.
IDS = ("request_id", "user_id")
IDS_HEADER = "log_ids"

app = Celery("geval_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["evaluations.management"])


@setup_logging.connect
def _use_the_sites_log(**_kwargs: Any) -> None:
    """Log as the site does; Celery's `--loglevel` has no effect."""
    logging.config.dictConfig(settings.LOGGING)


@before_task_publish.connect
def _send_ids(sender: str, headers: dict[str, Any], **_kwargs: Any) -> None:
    """Add the causing request and its user to a message, except to one that wakes a slot, which may
    then serve other people's runs."""
    if sender == JUDGE_RUNS:
        return
    ids = structlog.contextvars.get_contextvars()
    headers[IDS_HEADER] = {name: ids[name] for name in IDS if ids.get(name) is not None}


@task_prerun.connect
def _bind_ids(task_id: str, task: Task[Any, Any], **_kwargs: Any) -> None:
    sent = getattr(task.request, IDS_HEADER, None) or {}
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(
        **{name: sent[name] for name in IDS if name in sent},
        task_id=task_id,
        worker=worker_name(),
    )


@task_postrun.connect
def _forget_ids(**_kwargs: Any) -> None:
    structlog.contextvars.clear_contextvars()
