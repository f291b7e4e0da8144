"""A model rewrites the judge's prompt; what is better is found, proven on locked documents, and
used."""

import time
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db.models import F

from annotations.models import Rating
from assurance.improving.adopting import adopt
from assurance.improving.looking import look
from assurance.improving.trials import spent_on
from assurance.improving.work import (
    SearchLimits,
    cancel_search,
    pause_search,
    request_search,
    resume_search,
    work_on_search,
)
from evaluations.corpus.locks.locking import lock_documents
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    Change,
    Criterion,
    Endpoint,
    ErrandState,
    Judge,
    LockedDocuments,
    Project,
    Search,
)
from evaluations.reports.data import load_data
from geval.evaluators.wording import wordings_in
from geval.improving.ground import ImproveError
from geval.standin.planted import BEST, VAGUE
from geval.statistics.locked_rule import is_locked
from tests.assurance.improving.rewording.doing import LIMITS, forget, reworded, work_on_look
from tests.processes import free_port

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_a_better_wording_is_found_proven_and_used(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    search = reworded(judge, criterion)
    assert search.state == ErrandState.DONE, search.message
    candidate = search.candidates.get()
    assert candidate.training["gain"] > 0.1
    assert look(candidate) is None  # it has no scores on locked documents yet
    work_on_look(candidate)
    assert candidate.look.outcome == "proven"
    new, run = adopt(candidate)
    assert new.version == 2
    assert wordings_in(new.settings["wording"])[criterion.name].definition != VAGUE
    before = run.calls
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    assert run.calls - before < 200  # what was tried is not asked again


@pytest.mark.slow
def test_a_search_that_is_left_again_and_again_asks_what_one_in_one_go_asks(
    planted: Project,
    make_judge: Callable[..., Judge],
    criterion: Criterion,
    locked: LockedDocuments,
) -> None:
    judge = make_judge(planted, use_steps=True)  # so that there are several parts to rewrite
    work_on_run(start_run(judge, [criterion]).pk, "tester")
    limits = SearchLimits(most_calls=150)
    whole = reworded(judge, criterion, limits)
    texts = [row.texts for row in whole.proposals.all()]
    calls = spent_on(whole).calls
    forget(whole)
    search = request_search(judge, criterion, [Change.WORDING], limits=limits)
    slices = 0
    while work_on_search(search.pk, Shift(ends=time.monotonic() + 0.3)):
        slices += 1
    search.refresh_from_db()
    assert slices > 2
    assert search.state == ErrandState.DONE
    assert [row.texts for row in search.proposals.all()] == texts
    assert spent_on(search).calls == calls


@pytest.mark.slow
def test_a_paused_search_goes_on_where_it_was_and_a_cancelled_one_keeps_what_it_tried(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    search = request_search(judge, criterion, [Change.WORDING], limits=LIMITS)
    while search.proposals.count() < 3:
        assert work_on_search(search.pk, Shift(ends=time.monotonic() + 0.1))
    before = search.proposals.count()
    assert pause_search(search, "ada")
    assert not work_on_search(search.pk)
    search.refresh_from_db()
    assert (search.state, search.message) == (ErrandState.PAUSED, "Paused by ada.")
    assert not search.runs.active().exists()
    assert request_search(judge, criterion, [Change.WORDING], limits=LIMITS) == search
    assert resume_search(search)
    while search.proposals.count() == before:
        assert work_on_search(search.pk, Shift(ends=time.monotonic() + 0.1))
    went_on = search.proposals.count()
    assert cancel_search(search, "ada")
    assert search.proposals.count() == went_on
    assert not resume_search(search)
    assert request_search(judge, criterion, [Change.WORDING], limits=LIMITS) != search


@pytest.mark.slow
def test_a_search_keeps_to_its_calls_and_to_its_budget(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    search = reworded(judge, criterion, SearchLimits(most_calls=30))
    assert search.state == ErrandState.DONE
    assert spent_on(search).calls <= 30
    Judge.objects.update(price_in=Decimal(1000), price_out=Decimal(1000))
    judge.refresh_from_db()
    poor = reworded(judge, criterion, SearchLimits(budget=Decimal(20)))
    assert poor.state == ErrandState.DONE
    money = spent_on(poor).money
    assert money is not None
    assert 0 < money <= 20
    with pytest.raises(ImproveError, match="above 0"):
        request_search(judge, criterion, [Change.WORDING], limits=SearchLimits(budget=Decimal(-1)))
    Judge.objects.update(price_in=None, price_out=None)
    judge.refresh_from_db()
    with pytest.raises(ImproveError, match="needs prices"):
        request_search(judge, criterion, [Change.WORDING], limits=SearchLimits(budget=Decimal(1)))


@pytest.mark.slow
def test_what_was_tried_is_on_no_report_and_in_no_list(
    judge: Judge, criterion: Criterion, locked: LockedDocuments, planted: Project
) -> None:
    def shown() -> tuple[object, ...]:
        data = load_data(planted, list(planted.judges.all()), [criterion])
        return (
            data.judges[criterion.pk, judge.pk].tolist(),
            list(planted.runs.counting().values_list("pk", flat=True)),
            list(planted.judges.values_list("pk", flat=True)),
        )

    before = shown()
    search = reworded(judge, criterion, SearchLimits(most_calls=100))
    assert search.runs.exists()
    assert shown() == before


@pytest.mark.slow
def test_locked_ratings_change_no_proposal(
    judge: Judge, criterion: Criterion, locked: LockedDocuments, planted: Project
) -> None:
    limits = SearchLimits(most_calls=100)
    first = [row.texts for row in reworded(judge, criterion, limits).proposals.all()]
    hidden = [
        document.pk
        for document in planted.documents.all()
        if is_locked(document.doc_id, seed=locked.seed, share=locked.share)
    ]
    assert Rating.objects.filter(output__document__in=hidden).update(score=6 - F("score"))
    forget(Search.objects.get())
    assert [row.texts for row in reworded(judge, criterion, limits).proposals.all()] == first


@pytest.mark.slow
def test_where_the_judge_is_told_what_people_weigh_nothing_is_proven(
    planted: Project, make_judge: Callable[..., Judge], criterion: Criterion
) -> None:
    planted.criteria.update(definition=BEST)
    judge = make_judge(planted, use_steps=False)
    work_on_run(start_run(judge, [criterion]).pk, "tester")
    lock_documents(planted, seed="fixed")
    search = reworded(judge, criterion)
    for candidate in search.candidates.all():
        work_on_look(candidate)
        assert candidate.look.outcome != "proven"


def test_a_judge_without_a_prompt_of_ours_is_refused(
    planted: Project, criterion: Criterion, locked: LockedDocuments
) -> None:
    rouge = Judge.objects.create(project=planted, name="ROUGE", kind="rouge")
    with pytest.raises(ImproveError, match="only judges of the kind G-Eval"):
        request_search(rouge, criterion, [Change.WORDING])


@pytest.mark.slow
def test_an_endpoint_that_is_gone_pauses_the_search_with_the_reason(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    assert judge.endpoint is not None
    Endpoint.objects.update(base_url=f"http://127.0.0.1:{free_port()}/v1")
    judge.refresh_from_db()
    search = reworded(judge, criterion)
    assert search.state == ErrandState.PAUSED
    assert "127.0.0.1" in search.message
