"""A trial judges ten items before all are paid for: which, what came back, what the rest would
take, and what to change where replies cannot be read."""

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client

from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.lifecycle import RunError, lay_out_rest, lay_out_run
from evaluations.judging.runs.starting import RunRequest, start_remainder, start_run
from evaluations.judging.runs.trial import TRIAL_ITEMS, change_and_try, estimate_rest, unreadable
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Judge, Project, RunState
from geval.llm.calls import RetryPolicy

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = RetryPolicy(attempts=2, first_wait=0.001, longest_wait=0.01)
DOCUMENTS = 30
MakeJudge = Callable[..., Judge]


@pytest.fixture
def project_of_60(project: Project, load: Callable[..., LoadResult]) -> Project:
    """Thirty documents by two systems, judged on two criteria."""
    rows = [
        {
            "doc_id": f"d{number:02}",
            "system_id": system,
            "source": f"s {number}",
            "output": f"o {n}",
        }
        for number in range(DOCUMENTS)
        for n, system in enumerate(("a", "b"))
    ]
    load(project, {"outputs.jsonl": "\n".join(map(json.dumps, rows))})
    for name in ("coherence", "fluency"):
        project.criteria.create(name=name, definition=f"Is it {name}?")
    return project


def tried(judge: Judge, **options: object) -> EvaluationRun:
    """A trial that was worked on."""
    criteria = list(judge.project.criteria.all())
    run = start_run(judge, criteria, RunRequest(trial=TRIAL_ITEMS, **options))  # type: ignore[arg-type]
    return worked_on(run)


def worked_on(run: EvaluationRun) -> EvaluationRun:
    work_on_run(run.pk, "w", policy=QUICK)
    run.refresh_from_db()
    return run


def test_a_trial_takes_ten_items_of_all_criteria_and_many_documents(
    project_of_60: Project, make_judge: MakeJudge
) -> None:
    run = tried(make_judge(project_of_60, use_steps=False))

    assert run.state == RunState.DONE
    criteria = Counter(run.items.values_list("criterion__name", flat=True))
    assert criteria == {"coherence": 5, "fluency": 5}
    assert run.items.values("output__document").distinct().count() >= 6


def test_the_rest_of_a_trial_is_everything_else_and_nothing_is_paid_twice(
    project_of_60: Project, make_judge: MakeJudge
) -> None:
    trial = tried(make_judge(project_of_60, use_steps=False))

    rest = worked_on(start_remainder(trial))

    both = [set(run.items.values_list("output", "criterion")) for run in (trial, rest)]
    assert not both[0] & both[1]
    assert len(both[0] | both[1]) == 4 * DOCUMENTS


def test_the_rest_of_a_fresh_trial_leaves_out_its_items_not_its_outputs(
    project_of_60: Project, make_judge: MakeJudge
) -> None:
    trial = tried(make_judge(project_of_60, use_steps=False), fresh=True)

    rest = start_remainder(trial)
    lay_out_run(rest.pk)
    lay_out_rest(rest.pk)

    assert rest.items.count() == 4 * DOCUMENTS - TRIAL_ITEMS


def test_the_estimate_of_the_rest_is_what_the_trial_took_per_item(
    project_of_60: Project, make_judge: MakeJudge
) -> None:
    prices = {"price_in": Decimal(1), "price_out": Decimal(2)}
    run = tried(make_judge(project_of_60, use_steps=False, **prices))

    rest = estimate_rest(run)

    left = 4 * DOCUMENTS - TRIAL_ITEMS
    assert (rest.items, rest.calls) == (left, left)
    assert rest.prompt_tokens == pytest.approx(run.prompt_tokens / TRIAL_ITEMS * left, abs=1)
    assert rest.completion_tokens == pytest.approx(
        run.completion_tokens / TRIAL_ITEMS * left, abs=1
    )
    assert run.cost
    assert rest.cost
    assert float(rest.cost) == pytest.approx(float(run.cost) / TRIAL_ITEMS * left, rel=0.01)
    assert rest.seconds
    assert rest.seconds > 0


def test_replies_that_cannot_be_read_are_counted_with_their_cause_and_what_to_try(
    project_of_60: Project, make_judge: MakeJudge
) -> None:
    run = tried(make_judge(project_of_60, "--unparseable-rate", "1", use_steps=False))

    failing = unreadable(run)

    assert failing is not None
    assert (failing.items, failing.failed, failing.alike) == (10, 10, 10)
    assert failing.in_words.startswith("10 of 10 items failed: The model")
    assert "Change to samples or change to" in failing.in_words


def test_a_change_makes_a_new_version_and_tries_it(
    project_of_60: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(project_of_60, "--unparseable-rate", "1", use_steps=False)
    run = tried(judge)

    trial = change_and_try(run, "samples")

    judge.refresh_from_db()
    assert (trial.judge.mode, trial.judge.temperature) == ("samples", 1.0)
    assert (trial.judge.version, trial.frozen.trial) == (2, TRIAL_ITEMS)
    assert judge.retired_at is not None
    assert (trial.judge.use_steps, trial.judge.concurrency) == (False, judge.concurrency)


def test_a_change_that_is_not_advised_is_refused_and_changes_nothing(
    project_of_60: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(project_of_60, "--unparseable-rate", "1", use_steps=False)
    run = tried(judge)

    with pytest.raises(RunError, match="is not advised for run"):
        change_and_try(run, "tokens-256")

    assert project_of_60.judges.count() == 1


def test_a_trial_is_not_sent_in_a_batch(project_of_60: Project, make_judge: MakeJudge) -> None:
    with pytest.raises(RunError, match="A trial is sent call by call"):
        tried(make_judge(project_of_60, use_steps=False), transport="batch")


def test_the_form_starts_a_trial_whose_page_shows_it_and_judges_the_rest(
    project_of_60: Project, make_judge: MakeJudge, as_role: Callable[..., Client]
) -> None:
    judge = make_judge(project_of_60, use_steps=False)
    owner, slug = as_role("owner"), project_of_60.slug
    criteria = list(project_of_60.criteria.values_list("pk", flat=True))
    owner.post(f"/p/{slug}/runs/start/", {"judge": judge.pk, "criteria": criteria, "trial": "1"})
    run = worked_on(EvaluationRun.objects.get())

    page = owner.get(f"/p/{slug}/runs/{run.pk}/").content.decode()

    assert page.count('data-label="Reply"') == TRIAL_ITEMS
    assert "The other <strong>110</strong>" in page
    owner.post(f"/p/{slug}/runs/{run.pk}/rest/")
    rest = EvaluationRun.objects.exclude(pk=run.pk).get()
    assert rest.frozen.rest_of == run.pk


def test_a_viewer_sees_the_trial_without_buttons_and_cannot_change_the_judge(
    project_of_60: Project, make_judge: MakeJudge, as_role: Callable[..., Client]
) -> None:
    run = tried(make_judge(project_of_60, "--unparseable-rate", "1", use_steps=False))
    viewer, address = as_role("viewer"), f"/p/{project_of_60.slug}/runs/{run.pk}/"

    assert "and try" not in viewer.get(address).content.decode()
    assert viewer.post(f"{address}change/", {"change": "direct"}).status_code == 403
    assert EvaluationRun.objects.count() == 1
