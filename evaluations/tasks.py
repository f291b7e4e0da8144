"""Celery tasks: ids in, one call each. Each may run twice without harm."""

import os
import socket
import time

from celery import shared_task

from evaluations.heartbeat import is_leaving
from evaluations.judging.shift import Shift
from evaluations.judging.worker import work_on_run
from evaluations.models import WorkerHeartbeat
from evaluations.uploads.work import work_on_upload
from evaluations.webhooks.sending import send_due

# Brokers hand a message to another worker if it is not acknowledged for long: pgmq after 10 minutes, RabbitMQ after 30.
SLICE_SECONDS = 300.0


@shared_task(name="evaluations.judge_run")
def judge_run(run_id: int) -> None:
    """Help with a run until nothing of it is free, for some minutes at most, or until the worker is told to stop."""
    host, celery_worker = socket.gethostname(), os.getppid()
    shift = Shift(told_to_stop=lambda: is_leaving(f"{host}:{celery_worker}"), ends=time.monotonic() + SLICE_SECONDS)
    work_on_run(run_id, f"{host}:{os.getpid()}", shift=shift)
    if shift.ends is not None and time.monotonic() > shift.ends:
        judge_run.delay(run_id)


@shared_task(name="evaluations.work_on_upload")
def upload_files(upload_id: int) -> None:
    """Check or load an upload."""
    work_on_upload(upload_id)


@shared_task(name="evaluations.send_webhooks")
def send_webhooks() -> None:
    """Send the messages that are due."""
    send_due()


def wake_workers(run_id: int) -> None:
    """Tell the workers that there is work: one message for each that is alive, at least one."""
    for _ in range(max(1, WorkerHeartbeat.objects.alive().count())):
        judge_run.delay(run_id)


def wake_one_worker(run_id: int) -> None:
    """Have a run prepared, which one worker does; it wakes the others when there are items to share."""
    judge_run.delay(run_id)


def wake_other_workers(run_id: int) -> None:
    """Call for help with a run that this worker has just laid out."""
    for _ in range(WorkerHeartbeat.objects.alive().count() - 1):
        judge_run.delay(run_id)
