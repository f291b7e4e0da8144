"""Celery tasks: ids in, one call each. Each may run twice without harm."""

import os
import socket

from celery import shared_task

from evaluations.heartbeat import is_leaving
from evaluations.judging.worker import work_on_run
from evaluations.models import WorkerHeartbeat


@shared_task(name="evaluations.judge_run")
def judge_run(run_id: int) -> None:
    """Help with a run until nothing of it is free, or until the worker is told to stop."""
    host, celery_worker = socket.gethostname(), os.getppid()
    work_on_run(run_id, f"{host}:{os.getpid()}", leaving=lambda: is_leaving(f"{host}:{celery_worker}"))


def wake_workers(run_id: int) -> None:
    """Tell the workers that there is work: one message for each that is alive, at least one."""
    for _ in range(max(1, WorkerHeartbeat.objects.alive().count())):
        judge_run.delay(run_id)
