"""Waking workers: messages by the name of a task, so that who sends one imports none of the work.

Each may be lost or come twice without harm: rows say what there is to do, and every worker looks
for neglected ones (`heartbeat.py`).
"""

from typing import Any

from celery import current_app

from evaluations.models import WorkerHeartbeat
from geval_site.queues import (
    JUDGE_RUN,
    RUN_ERRAND,
    RUNS,
    SEND_PASSWORD_RESET,
    SEND_WEBHOOKS,
    WORK_ON_UPLOAD,
)


def send(task: str, *arguments: Any, **named: Any) -> None:
    """Leave a message for a task in its queue."""
    current_app.send_task(task, arguments, named)


def wake_one_worker(run_id: int) -> None:
    """Have a run prepared, which one worker does; it wakes the others when there are items to
    share."""
    send(JUDGE_RUN, run_id)


def wake_workers(run_id: int) -> None:
    """Tell the workers that there is work: one message for each that is alive, at least one."""
    for _ in range(max(1, WorkerHeartbeat.objects.doing(RUNS).count())):
        send(JUDGE_RUN, run_id)


def wake_other_workers(run_id: int) -> None:
    """Call for help with a run that this worker has just laid out."""
    for _ in range(WorkerHeartbeat.objects.doing(RUNS).count() - 1):
        send(JUDGE_RUN, run_id)


def wake_for_upload(upload_id: int) -> None:
    """Have an upload checked or loaded."""
    send(WORK_ON_UPLOAD, upload_id)


def wake_for_errand(kind: str, errand_id: int) -> None:
    """Have an endpoint asked something for a page or the API."""
    send(RUN_ERRAND, kind, errand_id)


def wake_for_webhooks() -> None:
    """Have the messages sent that are due."""
    send(SEND_WEBHOOKS)


def wake_for_password_reset(email: str, *, domain: str, use_https: bool) -> None:
    """Have a link sent by which a password is set anew, if somebody has that address."""
    send(SEND_PASSWORD_RESET, email, domain=domain, use_https=use_https)
