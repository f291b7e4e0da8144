"""A search of 50 proposals costs no more than the calls that its minibatches need: repeated
questions come from the store."""

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from assurance.improving import rewording
from assurance.improving.work import SearchLimits
from benchmarks.rewording import cost_of
from evaluations.models import Criterion, ErrandState, Judge, LockedDocuments
from tests.assurance.improving.rewording.doing import reworded

pytestmark = pytest.mark.django_db(transaction=True)


def calls_at(judge: Judge) -> int:
    """The calls that the stand-in has counted."""
    assert judge.endpoint is not None
    stats = httpx2.get(judge.endpoint.base_url.removesuffix("/v1") + "/stats").json()
    return int(stats["calls"])


@pytest.mark.slow
def test_each_question_of_fifty_proposals_is_asked_once(
    judge: Judge, criterion: Criterion, locked: LockedDocuments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewording, "PATIENCE", rewording.MOST_PROPOSALS)
    tried: list[tuple[frozenset[tuple[str, str]], int]] = []
    really = rewording._Rewording._score_wording

    def recorded(self: Any, candidate: Mapping[str, str], documents: Any) -> Any:
        words = frozenset(candidate.items())
        tried.extend((words, int(document)) for document in documents)
        return really(self, candidate, documents)

    monkeypatch.setattr(rewording._Rewording, "_score_wording", recorded)
    before = calls_at(judge)
    search = reworded(judge, criterion, SearchLimits(most_calls=5000))
    assert search.state == ErrandState.DONE, search.message

    cost = cost_of(search, judge.runs.counting().get().pk)
    assert cost.proposals == 50
    assert cost.calls == calls_at(judge) - before == cost.need
    # Each document has four outputs; today's wording was asked before.
    todays = frozenset(search.proposals.get(number=0).texts.items())
    distinct = {(words, document) for words, document in tried if words != todays}
    assert cost.calls <= 4 * len(distinct) + 50
    assert len(distinct) < len(tried)  # some were tried again, which cost nothing
