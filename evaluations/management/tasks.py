"""What a Celery worker does: tasks, each of which takes an id, makes one call, and can run twice
(their queues: geval_site/queues.py); and its start, which needs a usable database.
"""

from typing import Any

import structlog
from celery import shared_task
from celery.signals import worker_init
from django.conf import settings
from django.core.management import CommandError
from django.db import Error as DatabaseError
from django.db import connections

from annotations.results.mails import send_work_mail
from evaluations.corpus.uploads.loading import work_on_upload
from evaluations.judging.runs.errands import work_on_errand
from evaluations.judging.runs.serving import work_on_runs
from evaluations.management.base import bring_up_to_date
from evaluations.management.heartbeat import leaving
from evaluations.people.mails import send_invitation_mail, send_reset_mails
from evaluations.people.waking import wake_for_webhooks
from evaluations.people.webhooks.sending import can_send_more, send_due
from evaluations.reports.serving.worker import work_on_report
from geval_site.databases import EMBEDDED
from geval_site.embedded.paths import EmbeddedServerError
from geval_site.queues import (
    COMPUTE_REPORT,
    JUDGE_RUNS,
    RUN_ERRAND,
    SEND_INVITATION,
    SEND_MAIL,
    SEND_PASSWORD_RESET,
    SEND_WEBHOOKS,
    WORK_ON_UPLOAD,
    worker_name,
)

log = structlog.stdlib.get_logger(__name__)


@shared_task(name=JUDGE_RUNS)
def judge_runs(*_of_earlier_versions: int) -> None:
    """Work on runs with a slot of this worker. Messages name no run; only those of earlier versions
    did."""
    work_on_runs(worker_name(), leaving.is_set)


@shared_task(name=WORK_ON_UPLOAD)
def upload_files(upload_id: int) -> None:
    """Check or load an upload."""
    try:
        work_on_upload(upload_id)
    except Exception:
        # Its page reports the failure; Celery's message about the task would add nothing.
        log.exception("upload failed", upload=upload_id)


@shared_task(name=SEND_WEBHOOKS)
def send_webhooks() -> None:
    """Send some of the due messages; the rest gets another task at the end of the queue."""
    send_due()
    if can_send_more():
        wake_for_webhooks()


@shared_task(name=RUN_ERRAND)
def run_errand(kind: str, errand_id: int) -> None:
    """Do an errand of a page or the API: a probe, steps, an explanation."""
    work_on_errand(kind, errand_id)


@shared_task(name=COMPUTE_REPORT)
def compute_report(kept_id: int) -> None:
    """Compute the report of a large project, which web processes show."""
    work_on_report(kept_id)


@shared_task(name=SEND_PASSWORD_RESET)
def send_password_reset(email: str, domain: str, use_https: bool) -> None:
    """Send a password reset link if there is an account with that address."""
    send_reset_mails(email, domain=domain, use_https=use_https)


@shared_task(name=SEND_INVITATION)
def send_invitation(invitation_id: int, link: str, language: str) -> None:
    """Mail an invitation."""
    send_invitation_mail(invitation_id, link, language)


@shared_task(name=SEND_MAIL)
def send_mail(mail_id: int) -> None:
    """Send a mail to a person with an account; failures are retried later."""
    send_work_mail(mail_id)


@worker_init.connect
def _prepare_database(**_kwargs: Any) -> None:
    """Start the embedded PostgreSQL, which has the queue, and create its tables. An unavailable
    external database is waited for later, as during the worker's life.

    Raises:
        SystemExit: the database does not start, or its tables are not those of this version; the
            message says what to do.
    """
    database = settings.DATABASES["default"]
    if database["ENGINE"] != EMBEDDED:
        return
    try:
        bring_up_to_date()
    except CommandError as error:
        raise SystemExit(str(error)) from None
    except (EmbeddedServerError, DatabaseError, OSError) as error:
        raise SystemExit(
            f"The embedded PostgreSQL in {settings.DATA_DIR} does not start: {error}\nStart the"
            " worker as the user who runs the site, with the same GEVAL_DATA_DIR, or set"
            " DATABASE_URL."
        ) from None
    finally:
        connections.close_all()  # the worker's processes open their own connections
