"""A judge is tried on up to three items, in other words if somebody likes; the trial counts
nowhere, and the words can become the judge's next version."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from evaluations.corpus.locks.locking import lock_documents, unlock_documents
from evaluations.judging.judges.wordings import keep_wording, wording_texts
from evaluations.judging.runs.lifecycle import RunError
from evaluations.judging.runs.scheduling import waiting_run
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.trial import (
    can_try,
    latest_playground_run,
    offered_outputs,
    try_items,
)
from evaluations.judging.runs.worker import work_on_run
from evaluations.management.heartbeat import Offer, beat
from evaluations.models import (
    CandidateOutput,
    Criterion,
    EvaluationRun,
    Judge,
    MonthlySpending,
    Project,
    ProjectLimits,
    RunState,
)
from evaluations.models.improving import withheld_documents
from evaluations.models.limits import this_month
from evaluations.models.newest_scores import runs_of_newest
from evaluations.pages.jobs import jobs_of
from evaluations.pages.runs.item import trial_items
from geval.llm.prompts import PromptError
from geval_site.queues import RUNS

pytestmark = pytest.mark.django_db(transaction=True)
MakeJudge = Callable[..., Judge]


@pytest.fixture
def judge(small_project: Project, make_judge: MakeJudge) -> Judge:
    return make_judge(small_project, use_steps=False)


@pytest.fixture
def criterion(judge: Judge) -> Criterion:
    return judge.project.criteria.get(name="coherence")


def tried(judge: Judge, criterion: Criterion, count: int = 1, **texts: str) -> EvaluationRun:
    """A trial on the first items that was worked on."""
    outputs = [pk for pk, *_names in offered_outputs(judge.project)[:count]]
    run = try_items(judge, criterion, outputs, texts)
    work_on_run(run.pk, "w")
    run.refresh_from_db()
    return run


def test_prompt_reply_and_score_are_there(judge: Judge, criterion: Criterion) -> None:
    run = tried(judge, criterion, 3)

    shown = trial_items(run)
    assert (run.state, len(shown)) == (RunState.DONE, 3)
    for row in shown:
        assert row.item.output.text in row.prompts[0]
        assert row.replies[0].text
        assert row.value is not None
    assert latest_playground_run(judge) == run


def test_words_are_other_in_the_trial_alone(judge: Judge, criterion: Criterion) -> None:
    run = tried(judge, criterion, definition="Is it a haiku?")
    judge.refresh_from_db()
    criterion.refresh_from_db()

    assert "Is it a haiku?" in trial_items(run)[0].prompts[0]
    assert "haiku" not in f"{judge.settings} {criterion.definition}"
    assert wording_texts(run.frozen.settings, criterion)["definition"] == "Is it a haiku?"


def test_a_trial_counts_nowhere_and_pays_as_any_run(
    small_project: Project, make_judge: MakeJudge
) -> None:
    prices = {"price_in": Decimal(10), "price_out": Decimal(10)}
    judge = make_judge(small_project, use_steps=False, **prices)
    criterion = small_project.criteria.get(name="coherence")

    run = try_items(judge, criterion, [offered_outputs(small_project)[0][0]], {})
    jobs = jobs_of(small_project)
    work_on_run(run.pk, "w")

    assert jobs.runs == ()
    assert run.scores.count() == 1
    assert not EvaluationRun.objects.counting().exists()
    assert runs_of_newest(judge.pk, criterion.pk) == []
    assert not small_project.judges.with_scores().exists()
    assert MonthlySpending.objects.get().money > 0
    after = start_run(judge, [criterion])
    work_on_run(after.pk, "w")
    after.refresh_from_db()
    assert (after.calls, after.cache_hits) == (6, 0)  # nothing of the trial is used again


def test_somebody_looks_at_it_so_it_comes_first(judge: Judge, criterion: Criterion) -> None:
    """Not behind hours of another run of its project."""
    beat("w", Offer((RUNS,), 2))
    other = start_run(judge, list(judge.project.criteria.all()))
    trial = try_items(judge, criterion, [offered_outputs(judge.project)[0][0]], {})

    assert waiting_run() == trial.pk
    trial.delete()
    assert waiting_run() == other.pk


def test_the_limits_of_a_project_hold(judge: Judge, criterion: Criterion) -> None:
    ProjectLimits.objects.create(project=judge.project, money_per_month=Decimal(1))
    MonthlySpending.objects.create(project=judge.project, month=this_month(), money=2)

    with pytest.raises(RunError, match="The limit of money this month"):
        tried(judge, criterion)


def test_locked_documents_are_not_offered_until_they_are_opened(
    judge: Judge, criterion: Criterion
) -> None:
    everything = {pk for pk, *_names in offered_outputs(judge.project)}
    locked = lock_documents(judge.project, seed="1", share=0.5)
    hidden = set(
        CandidateOutput.objects.filter(
            document__in=withheld_documents(judge.project_id)
        ).values_list("pk", flat=True)
    )
    offered = {pk for pk, *_names in offered_outputs(judge.project)}

    assert hidden
    assert offered == everything - hidden
    with pytest.raises(RunError, match="items that are offered"):
        try_items(judge, criterion, [min(hidden)], {})
    unlock_documents(locked)
    assert {pk for pk, *_names in offered_outputs(judge.project)} == everything


@pytest.mark.parametrize("count", [0, 4])
def test_one_to_three_items_are_tried(judge: Judge, criterion: Criterion, count: int) -> None:
    with pytest.raises(RunError, match="one to 3"):
        tried(judge, criterion, count)


def test_a_prompt_that_cannot_be_sent_is_refused(judge: Judge, criterion: Criterion) -> None:
    Criterion.objects.filter(pk=criterion.pk).update(prompt_file="Rate {{Summary}}.")
    criterion.refresh_from_db()
    with pytest.raises(PromptError, match="unknown placeholder"):
        tried(judge, criterion, prompt="Compare with {{Nonsense}}.")
    assert latest_playground_run(judge) is None


def test_kept_words_are_the_next_version_s(judge: Judge, criterion: Criterion) -> None:
    tried(judge, criterion)
    changed = keep_wording(judge, criterion, {"definition": "Is it a haiku?"})
    judge.refresh_from_db()

    assert (changed.version, changed.name) == (2, judge.name)
    assert judge.retired_at
    assert not can_try(judge)
    assert wording_texts(changed.settings, criterion)["definition"] == "Is it a haiku?"
    back = keep_wording(changed, criterion, {"definition": criterion.definition})
    assert wording_texts(back.settings, criterion)["definition"] == criterion.definition


# The page


@pytest.fixture
def owner(as_role: Callable[[str], Client], judge: Judge) -> Client:
    return as_role("owner")


def sent(judge: Judge, criterion: Criterion, **values: Any) -> dict[str, Any]:
    first = offered_outputs(judge.project)[0][0]
    return {"criterion": criterion.pk, "item_1": first, "definition": "Is it a haiku?", **values}


def test_the_page_tries_shows_and_keeps(owner: Client, judge: Judge, criterion: Criterion) -> None:
    address = f"/p/small/judges/{judge.pk}/try/"
    answer = owner.post(address, sent(judge, criterion))
    waiting = owner.get(address, headers={"HX-Request": "true"})
    run = latest_playground_run(judge)
    assert run
    work_on_run(run.pk, "w")
    done = owner.get(address, headers={"HX-Request": "true"})
    page = owner.get(address).content.decode()
    kept = owner.post(address, sent(judge, criterion, keep="1"))

    assert answer.headers["Location"] == address
    assert (waiting.status_code, done.status_code) == (200, 286)
    assert "is being asked…" in waiting.content.decode()
    assert "Is it a haiku?" in done.content.decode()
    assert '<details class="folded" open>' in page  # what differs from the judge's is in sight
    newest = Judge.objects.order_by("-pk")[0]
    assert newest.version == 2
    assert kept.headers["Location"] == f"{newest.get_absolute_url()}try/"


def test_readers_see_no_playground(as_role: Callable[[str], Client], judge: Judge) -> None:
    viewer = as_role("viewer")

    assert "/try/" not in viewer.get(judge.get_absolute_url()).content.decode()
    assert viewer.get(f"/p/small/judges/{judge.pk}/try/").status_code == 403
