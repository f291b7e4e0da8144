"""The site's periodic jobs, and the threads of a worker that do them.

Messages may be lost and workers killed, so rows hold the work, and the jobs below look for
abandoned work, due times and reached goals. `JOBS` is the whole list. A job's row says when it is
due, and one worker takes each turn. Each job is run, timed and logged separately; `doctor`,
`/readyz` and `/metrics` report which fail or are overdue.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeVar

import structlog
from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from annotations.goals.goals import close_reached_campaigns
from annotations.open_links.places import end_all_overdue, remove_who_only_agreed
from annotations.planning.campaigns import announce_answered_campaigns
from annotations.results.mails import note_due_mails
from evaluations.corpus.uploads.keeping import clear_leftovers
from evaluations.corpus.uploads.loading import neglected_uploads
from evaluations.judging.runs.errands import neglected_errands
from evaluations.judging.runs.resuming import resume_due_runs
from evaluations.judging.runs.scheduling import waiting_run
from evaluations.judging.runs.shift import ours
from evaluations.models import AccountBucket, AccountQuota, RequestCount, UpkeepJob
from evaluations.models.row_by_row import RowsFailedError, for_each
from evaluations.operations.retention import policy_of_site, tidy
from evaluations.pages.runs.run_goals import end_runs_at_goals
from evaluations.people.mails import unsent
from evaluations.people.waking import (
    wake_for_errand,
    wake_for_mail,
    wake_for_report,
    wake_for_runs,
    wake_for_upload,
    wake_for_webhooks,
)
from evaluations.people.webhooks.sending import can_send_more
from evaluations.projects.deletion import remove_deleted
from evaluations.reports.serving.worker import neglected_reports
from geval_site.extensions import BEAT, HOUR, MINUTE, Job, Lane, added
from geval_site.logs import kind_of
from geval_site.queues import worker_name

# Workers check slightly early: one that came a moment too soon would lose a whole interval.
EARLY = timedelta(seconds=0.5)
LOOK_SECONDS = 1.0
# If messages were lost, wake several slots: each has to start before it wakes others.
SENT_FOR_AT_ONCE = 4
log = structlog.stdlib.get_logger(__name__)


Row = TypeVar("Row")


def _waking(
    name: str,
    every: timedelta,
    rows: Callable[[], Iterable[Row]],
    wake: Callable[[Row], object],
) -> Job:
    """Return a job that wakes a worker for each row with unattended work."""
    return Job(name, every, Lane.WAKE, lambda: for_each(rows(), wake, job=name), of_project=True)


def _wake_for_runs() -> None:
    """Wake slots if runs have unattended work; the slots wake others themselves."""
    if waiting_run():
        wake_for_runs(settings.ONLY_PROJECT, slots=SENT_FOR_AT_ONCE)


def _resume_runs() -> None:
    resume_due_runs(ours("project"))


def _wake_for_webhooks() -> None:
    if can_send_more():
        wake_for_webhooks()


def _wake_for_mails() -> None:
    """Queue the mails that are due, and wake a worker for unsent ones."""
    note_due_mails()
    for_each(unsent(), wake_for_mail, job="mails")


def _remove_projects() -> None:
    for gone in remove_deleted():
        log.info("project removed", project=gone.slug, rows=gone.rows)


def _remove_counts() -> None:
    RequestCount.objects.ended().delete()
    tried_before = timezone.now() - settings.AXES_COOLOFF_TIME
    AccessAttempt.objects.filter(attempt_time__lt=tried_before).delete()


def _remove_paces() -> None:
    AccountQuota.objects.unused().delete()
    AccountBucket.objects.unused().delete()


def _remove_sessions() -> None:
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    AccessLog.objects.all().delete()  # sign-ins that earlier versions recorded


def _tidy() -> None:
    for due in tidy(policy_of_site()):
        log.info("tidied", project=due.slug, replies=due.replies, entries=due.entries)


# Uploads, errands and reports that wait in the queue look like neglected ones, so workers are woken
# for these only once a minute. A webhook's message is due at its scheduled time.
JOBS = (
    Job("resume runs", BEAT, Lane.WAKE, _resume_runs, of_project=True),
    Job("runs", BEAT, Lane.WAKE, _wake_for_runs, of_project=True),
    Job("webhooks", BEAT, Lane.WAKE, _wake_for_webhooks, of_project=True),
    _waking("uploads", MINUTE, neglected_uploads, wake_for_upload),
    _waking("errands", MINUTE, neglected_errands, lambda errand: wake_for_errand(*errand)),
    _waking("reports", MINUTE, neglected_reports, wake_for_report),
    Job("mails", MINUTE, Lane.WAKE, _wake_for_mails),
    Job("answered campaigns", BEAT, Lane.COMPUTE, announce_answered_campaigns, of_project=True),
    Job("participants out of time", MINUTE, Lane.COMPUTE, end_all_overdue, of_project=True),
    Job("people who only agreed", HOUR, Lane.REMOVE, remove_who_only_agreed, of_project=True),
    Job("goals of campaigns", BEAT, Lane.COMPUTE, close_reached_campaigns, of_project=True),
    Job("goals of runs", BEAT, Lane.COMPUTE, end_runs_at_goals, of_project=True),
    Job("counts of requests", HOUR, Lane.REMOVE, _remove_counts),
    Job("paces of accounts", HOUR, Lane.REMOVE, _remove_paces),
    Job("ended sessions", HOUR, Lane.REMOVE, _remove_sessions),
    Job("leftovers", HOUR, Lane.REMOVE, clear_leftovers, of_project=True),
    Job("deleted projects", MINUTE, Lane.REMOVE, _remove_projects, of_project=True),
    Job("retention", HOUR, Lane.REMOVE, _tidy, of_project=True),
    *(job for of_app in added("jobs") for job in of_app),
)


def start_lanes(leaving: threading.Event) -> list[threading.Thread]:
    """Start a thread for each lane, until this worker is asked to stop."""
    threads = [
        threading.Thread(target=_keep_looking, args=[lane, leaving], name=lane.value, daemon=True)
        for lane in Lane
    ]
    for thread in threads:
        thread.start()
    return threads


def _keep_looking(lane: Lane, leaving: threading.Event) -> None:
    jobs = [job for job in JOBS if job.lane is lane]
    if settings.ONLY_PROJECT:
        jobs = [job for job in jobs if job.of_project]
    elif lane is Lane.REMOVE:
        _forget_jobs()
    next_look = dict.fromkeys(jobs, 0.0)
    while not leaving.is_set():
        for job in jobs:
            if time.monotonic() >= next_look[job] and not leaving.is_set():
                next_look[job] = time.monotonic() + job.every.total_seconds()
                do_if_due(job)
        leaving.wait(LOOK_SECONDS)
    connection.close()


def _forget_jobs() -> None:
    """Remove rows of jobs that no longer exist on this site, such as those of a removed app: nobody
    takes their turns, so they would be overdue for ever."""
    with contextlib.suppress(DatabaseError):
        UpkeepJob.objects.exclude(name__in=[job.name for job in JOBS]).delete()


def do_if_due(job: Job) -> bool:
    """Do a job if it is this worker's turn; return whether it was. A failure is logged and
    stored."""
    try:
        is_turn = bool(settings.ONLY_PROJECT) or UpkeepJob.objects.claim(
            job.name, job.every - EARLY
        )
        if is_turn:
            _do(job)
        return is_turn
    except DatabaseError as error:
        # The thread must survive an unavailable database.
        log.warning("upkeep waits", job=job.name, worker=worker_name(), reason=kind_of(error))
        with contextlib.suppress(DatabaseError):
            connection.close()
        return False


def _do(job: Job) -> None:
    begun, failure = time.monotonic(), ""
    try:
        job.act()
    except Exception as error:
        failure = str(error) if isinstance(error, RowsFailedError) else kind_of(error)
        log.exception("upkeep failed", job=job.name, worker=worker_name())
        if isinstance(error, DatabaseError):
            connection.close()  # it may be broken; the next query opens another
    if not settings.ONLY_PROJECT:
        UpkeepJob.objects.end(job.name, seconds=time.monotonic() - begun, failure=failure)
