"""Wake workers with messages by task name, so that senders need not import the tasks.

A lost or repeated message does no harm: rows hold the work, and every worker looks for neglected
rows (`upkeep.py`). If the broker is unavailable, work that a row holds is therefore accepted
without an error; only password resets and invitations' links have no row.
"""

from typing import Any

import psycopg
import structlog
from django.db import Error as DatabaseError
from kombu.exceptions import OperationalError

from evaluations.models import WorkerSlot
from geval_site.celery import app
from geval_site.logs import kind_of
from geval_site.queues import (
    COMPUTE_REPORT,
    JUDGE_RUNS,
    RUN_ERRAND,
    SEND_INVITATION,
    SEND_MAIL,
    SEND_PASSWORD_RESET,
    SEND_WEBHOOKS,
    WORK_ON_UPLOAD,
)

log = structlog.stdlib.get_logger(__name__)


class MessageLostError(Exception):
    """The broker accepts no messages now, and no row holds the work."""


def send(task: str, *arguments: Any, expires: float | None = None, **named: Any) -> bool:
    """Put a message for a task into its queue; return False if the broker is unavailable.

    Args:
        expires: seconds after which the unread message is discarded.
    """
    try:
        app.send_task(task, arguments, named, expires=expires)
    except (OperationalError, DatabaseError, psycopg.Error, OSError) as error:
        log.warning("message not sent", task=task, reason=kind_of(error))
        return False
    return True


def wake_for_runs(project: str, *, slots: int = 1) -> None:
    """Wake up to `slots` free slots of workers. Each decides what to do, and wakes more if there is
    work for them. No slot is woken twice within some seconds, so there are never more messages than
    free slots.

    Args:
        project: the short name of the project with work, or empty for any; workers that serve only
            this project are included.
    """
    expires = WorkerSlot.CALL_EXPIRES.total_seconds()
    for _ in range(WorkerSlot.objects.of_live_workers(project).call(slots)):
        if not send(JUDGE_RUNS, expires=expires):
            break


def wake_for_upload(upload_id: int) -> None:
    """Have an upload checked or loaded."""
    send(WORK_ON_UPLOAD, upload_id)


def wake_for_errand(kind: str, errand_id: int) -> None:
    """Have a worker do an errand of a page or the API."""
    send(RUN_ERRAND, kind, errand_id)


def wake_for_report(kept_id: int) -> None:
    """Have the report of a large project computed."""
    send(COMPUTE_REPORT, kept_id)


def wake_for_webhooks() -> None:
    """Have due webhook messages sent."""
    send(SEND_WEBHOOKS)


def wake_for_mail(mail_id: int) -> None:
    """Have a mail to a person with an account sent."""
    send(SEND_MAIL, mail_id)


def wake_for_invitation(invitation_id: int, link: str, language: str) -> None:
    """Have an invitation mailed; its link is not stored in any row.

    Raises:
        MessageLostError: the mail will not be sent.
    """
    if not send(SEND_INVITATION, invitation_id, link, language):
        raise MessageLostError


def wake_for_password_reset(email: str, *, domain: str, use_https: bool) -> None:
    """Have a password reset link sent if there is an account with that address.

    Raises:
        MessageLostError: the mail will not be sent.
    """
    if not send(SEND_PASSWORD_RESET, email, domain=domain, use_https=use_https):
        raise MessageLostError
