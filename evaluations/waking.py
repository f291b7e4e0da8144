"""Wake workers with messages by task name, so that senders need not import the tasks.

A lost or repeated message does no harm: rows say what there is to do, and every worker looks for
neglected ones (`upkeep.py`).
"""

from typing import Any

from evaluations.models import WorkerHeartbeat
from geval_site.celery import app
from geval_site.queues import (
    COMPUTE_REPORT,
    JUDGE_RUN,
    RUN_ERRAND,
    RUNS,
    SEARCH_CHANGES,
    SEND_PASSWORD_RESET,
    SEND_WEBHOOKS,
    WORK_ON_UPLOAD,
)


def send(task: str, *arguments: Any, **named: Any) -> None:
    """Put a message for a task into its queue."""
    app.send_task(task, arguments, named)


def wake_one_worker(run_id: int) -> None:
    """Have one worker prepare a run; it wakes the others when there are items to share."""
    send(JUDGE_RUN, run_id)


def wake_workers(run_id: int) -> None:
    """Tell the workers that there is work: one message per live worker, at least one."""
    for _ in range(max(1, WorkerHeartbeat.objects.doing(RUNS).count())):
        send(JUDGE_RUN, run_id)


def wake_other_workers(run_id: int) -> None:
    """Wake other workers for a run that this worker has just prepared."""
    for _ in range(WorkerHeartbeat.objects.doing(RUNS).count() - 1):
        send(JUDGE_RUN, run_id)


def wake_for_upload(upload_id: int) -> None:
    """Have an upload checked or loaded."""
    send(WORK_ON_UPLOAD, upload_id)


def wake_for_errand(kind: str, errand_id: int) -> None:
    """Have an errand of a page or the API processed."""
    send(RUN_ERRAND, kind, errand_id)


def wake_for_search(search_id: int) -> None:
    """Have a search for changes of a judge done."""
    send(SEARCH_CHANGES, search_id)


def wake_for_report(kept_id: int) -> None:
    """Have the report of a large project computed."""
    send(COMPUTE_REPORT, kept_id)


def wake_for_webhooks() -> None:
    """Have due webhook messages sent."""
    send(SEND_WEBHOOKS)


def wake_for_password_reset(email: str, *, domain: str, use_https: bool) -> None:
    """Have a password reset link sent if there is an account with that address."""
    send(SEND_PASSWORD_RESET, email, domain=domain, use_https=use_https)
