"""The queue of each kind of job, and the name of a worker, which reads all queues or those it is
started with."""

import os
import secrets
import socket
from collections.abc import Mapping

# Keeps a worker busy for minutes; all other jobs are shorter.
RUNS = "runs"
SHORT = ("uploads", "webhooks", "quick", "reports")
# These mostly wait for other servers, so many can share a process.
WAITING = ("uploads", "webhooks", "quick")
# The task names by which messages are sent (evaluations/people/waking.py).
JUDGE_RUNS = "evaluations.judge_run"
WORK_ON_UPLOAD = "evaluations.work_on_upload"
SEND_WEBHOOKS = "evaluations.send_webhooks"
RUN_ERRAND = "evaluations.run_errand"
COMPUTE_REPORT = "evaluations.compute_report"
SEND_PASSWORD_RESET = "evaluations.send_password_reset"  # noqa: S105 - a task's name
SEND_INVITATION = "evaluations.send_invitation"
SEND_MAIL = "evaluations.send_mail"
SEARCH_CHANGES = "evaluations.search_changes"
_JOBS = {
    JUDGE_RUNS: RUNS,
    WORK_ON_UPLOAD: "uploads",
    SEND_WEBHOOKS: "webhooks",
    RUN_ERRAND: "quick",
    SEARCH_CHANGES: RUNS,
    COMPUTE_REPORT: "reports",
    SEND_PASSWORD_RESET: "quick",
    SEND_INVITATION: "quick",
    SEND_MAIL: "quick",
}


def queue_names(base: str) -> dict[str, str]:
    """Return the queue of each kind of job: runs use the name itself, the others add a suffix."""
    return {RUNS: base} | {job: f"{base}_{job}" for job in SHORT}


def task_queues(names: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return Celery's queues; each has its own exchange, otherwise a message would go to all of
    them."""
    return {
        name: {"exchange": name, "exchange_type": "direct", "routing_key": name}
        for name in names.values()
    }


def task_routes(names: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return Celery's routes from task names to queues."""
    return {task: {"queue": names[job]} for task, job in _JOBS.items()}


# Containers may share the name of a host, and their first processes have one id.
_TOKEN = secrets.token_hex(3)


def worker_name() -> str:
    """Return the name of this process as a worker, which is unique."""
    return f"{socket.gethostname()}:{os.getpid()}:{_TOKEN}"
