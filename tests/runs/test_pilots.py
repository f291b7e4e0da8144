"""Runs take documents in random order; a pilot judges a few of them first, and the rest on
request."""

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone

from evaluations.corpus.locks.locking import lock_documents
from evaluations.corpus.store import LoadResult
from evaluations.judging.runs import leases, results
from evaluations.judging.runs.estimate import estimate_run
from evaluations.judging.runs.layout import pilot_outputs
from evaluations.judging.runs.lifecycle import (
    close_if_finished,
    lay_out_rest,
    lay_out_run,
)
from evaluations.judging.runs.starting import RunRequest, start_remainder, start_run
from evaluations.models import EvaluationRun, Judge, Project, RunState
from geval.llm.scoring import Scored

pytestmark = pytest.mark.django_db
DOCUMENTS = 30


@pytest.fixture
def large(project: Project, load: Callable[..., LoadResult]) -> Project:
    """Thirty documents by two systems; the last four are rated."""
    rows = [
        {"doc_id": f"d{number:02}", "system_id": system, "source": "s", "output": f"{number}"}
        for number in range(DOCUMENTS)
        for system in ("a", "b")
    ]
    ratings = [
        f"d{number},{system},fluency,ann,3" for number in range(26, 30) for system in ("a", "b")
    ]
    content = "doc_id,system_id,criterion,annotator,score\n" + "\n".join(ratings)
    lines = "\n".join(map(json.dumps, rows))
    load(project, {"outputs.jsonl": lines, "ratings.csv": content})
    project.criteria.create(name="coherence", position=5)
    return project


@pytest.fixture
def judge(large: Project) -> Judge:
    return Judge.objects.create(
        project=large, name="chrf", kind="geval", mode="direct", model="m", use_steps=False
    )


def start(judge: Judge, **options: object) -> EvaluationRun:
    """A run that is laid out."""
    run = start_run(judge, list(judge.project.criteria.all()), RunRequest(**options))  # type: ignore[arg-type]
    lay_out_run(run.pk)
    lay_out_rest(run.pk)
    run.refresh_from_db()
    return run


def documents_of(run: EvaluationRun) -> dict[str, list[str]]:
    """The documents of each criterion in the order of the items, one entry per item."""
    found: dict[str, list[str]] = {}
    for name, doc_id in run.items.order_by("pk").values_list(
        "criterion__name", "output__document__doc_id"
    ):
        found.setdefault(name, []).append(doc_id)
    return found


def judge_everything(judge: Judge, **options: object) -> EvaluationRun:
    """A run that is done, each item with a score."""
    run = start(judge, **options)
    items = leases.claim(run.pk, "t", most=1000)
    outcome = Scored(4.0, {4.0: 1.0}, 0.9)
    results.store(run, [results.FinishedItem(item, "", outcome) for item in items], "t")
    close_if_finished(run.pk)
    return run


def end(run: EvaluationRun, *, seconds: int = 10) -> None:
    now = timezone.now()
    EvaluationRun.objects.filter(pk=run.pk).update(
        cache_hits=0,
        state=RunState.DONE,
        started_at=now - timedelta(seconds=seconds),
        finished_at=now,
    )


def test_documents_come_in_random_order_the_same_for_every_criterion(judge: Judge) -> None:
    order = documents_of(start(judge))

    assert order["fluency"] == order["coherence"]
    assert order["fluency"] != sorted(order["fluency"])


def test_a_documents_outputs_stay_together(judge: Judge) -> None:
    order = documents_of(start(judge))["fluency"]

    assert order[::2] == order[1::2]
    assert len(set(order)) == DOCUMENTS


def test_a_run_keeps_its_order_and_another_has_its_own(judge: Judge) -> None:
    first = start(judge)
    order = documents_of(first)
    first.items.all().delete()
    EvaluationRun.objects.filter(pk=first.pk).update(state=RunState.PREPARING)
    lay_out_run(first.pk)
    lay_out_rest(first.pk)
    again = documents_of(first)
    end(first)

    assert again == order
    assert documents_of(start(judge)) != order


def test_a_pilot_takes_rated_documents_first_and_others_at_random(judge: Judge) -> None:
    drawn = set(documents_of(start(judge, pilot=20))["fluency"])

    assert {"d26", "d27", "d28", "d29"} < drawn
    assert len(drawn) == 20
    assert drawn - {"d26", "d27", "d28", "d29"} != {f"d{number:02}" for number in range(16)}


def test_two_pilots_of_a_project_are_on_the_same_documents(judge: Judge) -> None:
    first = start(judge, pilot=8)
    end(first)

    assert set(documents_of(start(judge, pilot=8, fresh=True))["fluency"]) == set(
        documents_of(first)["fluency"]
    )


def test_a_pilot_leaves_locked_documents_alone(large: Project) -> None:
    locked = lock_documents(large, seed="s")
    drawn = pilot_outputs(large.pk, [], documents=DOCUMENTS)
    left = {document for document in large.documents.all() if not locked.holds(document.doc_id)}

    assert 0 < len(left) < DOCUMENTS
    assert len(drawn) == 2 * len(left)


@pytest.mark.parametrize("fresh", [False, True])
def test_the_rest_is_all_that_the_pilot_left_out(judge: Judge, fresh: bool) -> None:
    pilot = judge_everything(judge, pilot=20, fresh=fresh)
    rest = start_remainder(pilot)
    lay_out_run(rest.pk)

    outputs = [set(run.items.values_list("output_id", "criterion_id")) for run in (pilot, rest)]
    assert outputs[0].isdisjoint(outputs[1])
    assert len(outputs[0] | outputs[1]) == 2 * DOCUMENTS * 2


def test_the_run_form_starts_a_pilot_whose_page_offers_the_rest(judge: Judge, owner: User) -> None:
    client = Client()
    client.force_login(owner)
    criteria = [criterion.pk for criterion in judge.project.criteria.all()]
    client.post(
        "/p/small/runs/start/", {"judge": judge.pk, "criteria": criteria, "outputs": "pilot"}
    )
    pilot = EvaluationRun.objects.get()
    lay_out_run(pilot.pk)
    end(pilot)
    address = f"/p/small/runs/{pilot.pk}/"

    page = client.get(address).content.decode()
    answer = client.post(address + "rest/", {"budget": ""})
    after = client.get(address).content.decode()

    rest = EvaluationRun.objects.first()
    assert rest
    assert (pilot.frozen.pilot, rest.frozen.rest_of) == (20, pilot.pk)
    assert "Judge the rest" in page
    assert answer["Location"] == f"/p/small/runs/{rest.pk}/"
    assert "Open the run on the rest" in after
    assert "Judge the rest" not in after


def test_the_command_refuses_a_pilot_on_no_documents(judge: Judge) -> None:
    with pytest.raises(CommandError, match="at least 1"):
        call_command("judge", "small", "--judge", judge.name, "--pilot", "0")


def seconds_of(judge: Judge) -> float:
    judge = Judge.objects.get(pk=judge.pk)
    criteria = list(judge.project.criteria.all())
    found = estimate_run(judge, criteria, fresh=True, transport="live").seconds
    assert found is not None
    return found


def test_time_is_estimated_by_the_calls_in_flight_where_nothing_is_known(judge: Judge) -> None:
    judge.concurrency = 12
    judge.save()

    assert seconds_of(judge) == pytest.approx(120 * 1.5 / 12)


def test_time_is_estimated_by_the_judges_fastest_run_lately(judge: Judge) -> None:
    for seconds in (60, 600):  # the second was paused for a while
        end(judge_everything(judge, fresh=True), seconds=seconds)

    assert seconds_of(judge) == pytest.approx(60, rel=0.01)


def test_time_is_never_less_than_the_endpoints_limit_allows(judge: Judge) -> None:
    judge.endpoint = judge.project.endpoints.create(
        name="e", base_url="http://127.0.0.1:1/v1", requests_per_minute=60
    )
    judge.price_in = judge.price_out = Decimal(1)
    judge.save()

    assert seconds_of(judge) == pytest.approx(120)


def test_a_batch_is_given_no_time(judge: Judge) -> None:
    criteria = list(judge.project.criteria.all())

    assert estimate_run(judge, criteria, fresh=True, transport="batch").seconds is None
