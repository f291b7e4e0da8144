"""Searches take minutes; a worker keeps a thread for runs."""

from collections.abc import Callable

import pytest

from assurance import tasks
from evaluations.management.heartbeat import Offer, beat
from evaluations.models import Judge, Project, Search, WorkerHeartbeat
from geval_site.queues import RUNS

pytestmark = pytest.mark.django_db(transaction=True)
WORKER = "here:1"


def test_searches_leave_a_thread_for_runs(
    monkeypatch: pytest.MonkeyPatch, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    beat(WORKER, Offer((RUNS,), 3))
    monkeypatch.setattr(tasks, "worker_name", lambda: WORKER)
    judge = make_judge(small_project)
    search = Search.objects.create(
        project=small_project, judge=judge, criterion=small_project.criteria.first(), changes=[]
    )
    worked: list[int] = []
    monkeypatch.setattr(tasks, "work_on_search", lambda pk, _shift: worked.append(pk))

    for others in ({-1}, {-1, -2}):
        monkeypatch.setattr(tasks, "_searching", set(others))
        tasks.search_changes(search.pk)

    assert worked == [search.pk]
    assert WorkerHeartbeat.objects.count() == 1
