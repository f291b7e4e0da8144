"""Wake workers with messages by task name, so that senders need not import the tasks.

A lost or repeated message does no harm: rows say what there is to do, and every worker looks for
neglected ones (`upkeep.py`). So a broker that is away is no reason to refuse what a row has
already, and messages are sent without an error; only a password reset has no row.
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
    """The broker takes no messages now, and no row says what there is to do."""


def send(task: str, *arguments: Any, expires: float | None = None, **named: Any) -> bool:
    """Put a message for a task into its queue; False if the broker is away.

    Args:
        expires: after how many seconds it is thrown away unread.
    """
    try:
        app.send_task(task, arguments, named, expires=expires)
    except (OperationalError, DatabaseError, psycopg.Error, OSError) as error:
        log.warning("message not sent", task=task, reason=kind_of(error))
        return False
    return True


def wake_for_runs(project: str, *, slots: int = 1) -> None:
    """Send for free slots of workers, so many at most; each sees for itself what there is to do,
    and sends for more if they can be used. None is sent for twice within some seconds, so there
    are never more messages than free slots.

    Args:
        project: the short name of the project with work, or nothing for any: workers that serve
            it alone come as well.
    """
    expires = WorkerSlot.CALL_EXPIRES.total_seconds()
    for _ in range(WorkerSlot.objects.of_live_workers(project).call(slots)):
        if not send(JUDGE_RUNS, expires=expires):
            break


def wake_for_upload(upload_id: int) -> None:
    """Have an upload checked or loaded."""
    send(WORK_ON_UPLOAD, upload_id)


def wake_for_errand(kind: str, errand_id: int) -> None:
    """Have an errand of a page or the API processed."""
    send(RUN_ERRAND, kind, errand_id)


def wake_for_report(kept_id: int) -> None:
    """Have the report of a large project computed."""
    send(COMPUTE_REPORT, kept_id)


def wake_for_webhooks() -> None:
    """Have due webhook messages sent."""
    send(SEND_WEBHOOKS)


def wake_for_mail(mail_id: int) -> None:
    """Have a mail to somebody with an account sent."""
    send(SEND_MAIL, mail_id)


def wake_for_invitation(invitation_id: int, link: str, language: str) -> None:
    """Have an invitation mailed; its link is in no row.

    Raises:
        MessageLostError: nobody will do it.
    """
    if not send(SEND_INVITATION, invitation_id, link, language):
        raise MessageLostError


def wake_for_password_reset(email: str, *, domain: str, use_https: bool) -> None:
    """Have a password reset link sent if there is an account with that address.

    Raises:
        MessageLostError: nobody will do it.
    """
    if not send(SEND_PASSWORD_RESET, email, domain=domain, use_https=use_https):
        raise MessageLostError
