"""Celery tasks of this app; their queues: geval_site/queues.py."""

import time

from celery import shared_task

from assurance.improving.work import wake_for_search, work_on_search
from evaluations.judging.runs.serving import MESSAGE_SECONDS
from evaluations.judging.runs.shift import Shift, ours
from evaluations.management.heartbeat import leaving
from evaluations.models import Search, WorkerSlot
from geval_site.queues import SEARCH_CHANGES, worker_name

# Searches of this process. Each occupies a thread for minutes; one thread is left for runs.
_searching: set[int] = set()


@shared_task(name=SEARCH_CHANGES)
def search_changes(search_id: int) -> None:
    """Search for changes that improve a judge, for some minutes at most."""
    if not Search.objects.filter(ours("project"), pk=search_id).exists():
        return
    most = max(1, WorkerSlot.objects.filter(worker=worker_name()).count() - 1)
    if len(_searching) >= most:
        return  # it is picked up again within a minute
    _searching.add(search_id)
    try:
        shift = Shift(leaving.is_set, ends=time.monotonic() + MESSAGE_SECONDS)
        is_to_go_on = work_on_search(search_id, shift)
    finally:
        _searching.discard(search_id)
    if is_to_go_on:
        wake_for_search(search_id)
