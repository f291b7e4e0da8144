"""`kill -9` of the worker in the middle of a search for a wording repeats only calls in flight."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from assurance.improving.trials import spent_on
from assurance.improving.work import SearchLimits, request_search
from evaluations.models import (
    Change,
    Criterion,
    ErrandState,
    EvaluationRun,
    ItemState,
    Judge,
    LockedDocuments,
    RunItem,
    Search,
)
from tests.assurance.improving.rewording.doing import forget, reworded
from tests.conftest import wait_until
from tests.processes import WorkerProcess

pytestmark = pytest.mark.django_db(transaction=True)
LIMITS = SearchLimits(most_calls=250)


@pytest.mark.slow
def test_the_next_worker_goes_on_and_proposes_the_same(
    judge: Judge,
    criterion: Criterion,
    locked: LockedDocuments,
    start_worker: Callable[..., WorkerProcess],
) -> None:
    whole = reworded(judge, criterion, LIMITS)
    texts = [row.texts for row in whole.proposals.all()]
    calls = spent_on(whole).calls
    forget(whole)

    first = start_worker("--concurrency", "1")
    search = request_search(judge, criterion, [Change.WORDING], limits=LIMITS)
    wait_until(lambda: search.proposals.count() > 3)
    first.kill()
    search.refresh_from_db()
    assert search.state == ErrandState.ASKING
    # Instead of waiting for the leases of the dead.
    past = timezone.now() - timedelta(seconds=1)
    Search.objects.update(taken_until=past)
    RunItem.objects.filter(state=ItemState.LEASED).update(lease_until=past)
    EvaluationRun.objects.filter(search=search).update(preparer_until=past)
    start_worker("--concurrency", "1")
    wait_until(lambda: Search.objects.filter(pk=search.pk, state=ErrandState.DONE).exists())

    assert [row.texts for row in search.proposals.all()] == texts
    assert calls <= spent_on(search).calls <= calls + judge.concurrency
