"""A run with a goal ends by itself when its judge's rho is known well enough, and not before."""

import random
import re
from collections.abc import Callable
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotations.models import Annotator, Rating, StatedProbability
from evaluations.judging.runs.lifecycle import RunError
from evaluations.judging.runs.scheduling import waiting_run
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.models import (
    CandidateOutput,
    Criterion,
    Document,
    EvaluationRun,
    ItemState,
    Judge,
    Project,
    RunCriterion,
    RunItem,
    RunState,
    Score,
    System,
)
from evaluations.models.changes import note_change
from evaluations.models.runs import MORE_TO_LAY_OUT
from evaluations.pages.runs import run_goals
from evaluations.pages.runs.run_goals import end_runs_at_goals
from evaluations.reports.run_results import precisions, so_far

pytestmark = pytest.mark.django_db
DOCUMENTS, SYSTEMS = 120, 4
Judged = Callable[[int], None]


@pytest.fixture
def run(project: Project) -> EvaluationRun:
    """A run in progress on rated documents, with an open item for every output."""
    run_goals._seen.clear()
    criterion = Criterion.objects.create(project=project, name="quality")
    systems = [System.objects.create(project=project, name=f"s{n}") for n in range(SYSTEMS)]
    documents = Document.objects.bulk_create(
        Document(project=project, doc_id=f"d{n:03}", source="s") for n in range(DOCUMENTS)
    )
    outputs = CandidateOutput.objects.bulk_create(
        CandidateOutput(document=document, system=system, text=f"{document.doc_id} {system.name}")
        for document in documents
        for system in systems
    )
    ann = Annotator.objects.create(project=project, name="ann")
    Rating.objects.bulk_create(
        Rating(output=output, criterion=criterion, annotator=ann, score=1 + at % SYSTEMS)
        for at, output in enumerate(outputs)
    )
    judge = Judge.objects.create(project=project, name="j", kind="chrf")
    run = EvaluationRun.objects.create(
        project=project, judge=judge, state=RunState.RUNNING, goal_width=0.15
    )
    RunCriterion.objects.create(run=run, criterion=criterion, template="")
    RunItem.objects.bulk_create(
        RunItem(run=run, output=output, criterion=criterion) for output in outputs
    )
    return run


@pytest.fixture
def judged(run: EvaluationRun) -> Judged:
    def judge(documents: int) -> None:
        """Score so many more documents, nearly as people did."""
        draw = random.Random(documents)
        items = list(run.items.open().select_related("output").order_by("pk"))
        items = items[: documents * SYSTEMS]
        Score.objects.bulk_create(
            Score(run=run, output=item.output, criterion_id=item.criterion_id,
                  value=at % SYSTEMS + draw.gauss(0, 0.7))
            for at, item in enumerate(items)
        )  # fmt: skip
        RunItem.objects.filter(pk__in=[item.pk for item in items]).update(state=ItemState.DONE)
        note_change(run.project_id, [run.run_criteria.get().criterion_id], judge=run.judge_id)

    return judge


def test_a_run_of_which_more_is_to_be_laid_out_does_not_end_yet(
    run: EvaluationRun, judged: Judged
) -> None:
    """Of the last document some outputs may have no items yet."""
    run.parameters = {MORE_TO_LAY_OUT: True}
    run.save(update_fields=["parameters"])
    judged(90)
    end_runs_at_goals()
    run.refresh_from_db()
    assert run.state == RunState.RUNNING

    EvaluationRun.objects.filter(pk=run.pk).update(parameters={})
    end_runs_at_goals()
    run.refresh_from_db()
    assert run.state == RunState.DONE


def test_a_run_ends_when_its_goal_is_reached_and_leaves_the_rest(
    run: EvaluationRun, judged: Judged, owner: User, client: Client
) -> None:
    judged(15)
    end_runs_at_goals()
    run.refresh_from_db()
    assert run.state == RunState.RUNNING

    judged(75)
    end_runs_at_goals()
    run.refresh_from_db()
    assert run.state == RunState.DONE
    assert run.message.startswith("Goal reached: ")
    assert "known within ±0.15: quality 0." in run.message
    assert "with 90 documents" in run.message
    assert run.finished_at is not None
    assert run.items.open().count() == 30 * SYSTEMS
    assert waiting_run() is None

    client.force_login(owner)
    page = client.get(run.get_absolute_url()).content.decode()
    assert "Goal reached" in page
    rest = re.search(r'href="([^"]+)#start"\s*>Start a run on the rest', page)
    assert rest
    form = client.get(unescape(rest[1])).context["form"]
    assert form.initial["judge"] == str(run.judge_id)
    assert form.initial["criteria"] == [Criterion.objects.get().pk]


def test_documents_that_are_not_finished_do_not_count(run: EvaluationRun, judged: Judged) -> None:
    judged(90)
    last = run.items.exclude(state=ItemState.PENDING).order_by("-pk").first()
    assert last is not None
    RunItem.objects.filter(pk=last.pk).update(state=ItemState.LEASED)

    assert "with 89 documents" in run_goals.reached(run, so_far(run))


def test_documents_that_stand_for_many_are_awaited_though_none_of_them_is_judged(
    run: EvaluationRun, judged: Judged
) -> None:
    criterion = run.run_criteria.get().criterion
    judged(90)
    assert run_goals.reached(run, so_far(run))

    unjudged = run.items.open().values_list("output_id", flat=True)
    StatedProbability.objects.bulk_create(
        StatedProbability(output_id=output, criterion=criterion, probability=0.01)
        for output in unjudged
    )
    note_change(run.project_id, [criterion.pk])
    (found,) = so_far(run)

    assert found.largest == 100
    assert not run_goals.reached(run, [found])


@pytest.mark.parametrize("name", ["d{:03}", "topic{1}-{0}"])
def test_documents_of_groups_do_not_end_a_run(
    run: EvaluationRun, judged: Judged, name: str
) -> None:
    """Given by a file, or stated by names."""
    is_given = "topic" not in name
    for number, document in enumerate(Document.objects.order_by("pk")):
        document.doc_id = name.format(number, number % 9)
        document.metadata = {"group": f"t{number % 9}"} if is_given else {}
        document.save()
    judged(90)
    end_runs_at_goals()

    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert precisions(run, so_far(run), rate=1.0) == []

    EvaluationRun.objects.update(state=RunState.DONE)
    with pytest.raises(RunError, match="come in groups"):
        start_run(run.judge, list(run.project.criteria.all()), RunRequest(goal_width=0.05))


@pytest.fixture
def rival(run: EvaluationRun) -> Judge:
    """A judge that scored everything with more noise; the run is to say which is better."""
    Document.objects.update(references=["A reference."])  # without any, chrF cannot start
    rival = Judge.objects.create(project=run.project, name="rival", kind="imported")
    other = EvaluationRun.objects.create(
        project=run.project, judge=rival, state=RunState.DONE, finished_at=timezone.now()
    )
    criterion = Criterion.objects.get()
    draw = random.Random(7)
    Score.objects.bulk_create(
        Score(run=other, output=output, criterion=criterion, value=at % SYSTEMS + draw.gauss(0, 3))
        for at, output in enumerate(CandidateOutput.objects.order_by("pk"))
    )
    EvaluationRun.objects.filter(pk=run.pk).update(goal_width=None, goal_rival=rival)
    run.refresh_from_db()
    return rival


def test_a_run_ends_when_it_is_known_which_of_two_judges_is_better(
    run: EvaluationRun, rival: Judge, judged: Judged
) -> None:
    judged(12)
    end_runs_at_goals()
    run.refresh_from_db()
    assert run.state == RunState.RUNNING

    judged(78)
    end_runs_at_goals()
    run.refresh_from_db()
    assert run.state == RunState.DONE
    words = "Goal reached: it is known which agrees better with people, j or rival: quality +0."
    assert run.message.startswith(words)
    assert "with 90 documents" in run.message
    assert run.items.open().count() == 30 * SYSTEMS


def test_where_the_other_judge_is_as_good_the_run_judges_everything(
    run: EvaluationRun, rival: Judge, judged: Judged
) -> None:
    judged(DOCUMENTS)
    criterion = Criterion.objects.get()
    alike = {score.output_id: score.value for score in run.scores.all()}
    theirs = Score.objects.filter(run__judge=rival).select_related("output")
    for score in theirs:
        score.value = alike[score.output_id] + random.Random(score.output_id).gauss(0, 0.05)
    Score.objects.bulk_update(theirs, ["value"])
    note_change(run.project_id, [criterion.pk], judge=rival.pk)

    assert run_goals.reached(run, so_far(run)) == ""


def test_a_run_has_one_goal_and_compares_with_another_judge(
    run: EvaluationRun, rival: Judge
) -> None:
    EvaluationRun.objects.update(state=RunState.DONE)
    criteria = list(run.project.criteria.all())

    with pytest.raises(RunError, match="ends at one goal"):
        start_run(run.judge, criteria, RunRequest(goal_width=0.05, goal_rival=rival))
    with pytest.raises(RunError, match="is not another judge of this project"):
        start_run(run.judge, criteria, RunRequest(goal_rival=run.judge))
    assert (
        start_run(run.judge, criteria, RunRequest(fresh=True, goal_rival=rival)).goal_rival == rival
    )


def test_the_form_and_the_api_take_a_judge_to_compare_with(
    run: EvaluationRun, rival: Judge, owner: User, client: Client
) -> None:
    EvaluationRun.objects.update(state=RunState.DONE)
    client.force_login(owner)
    fields = {"judge": run.judge_id, "criteria": [Criterion.objects.get().pk], "fresh": "on"}

    started = client.post("/p/small/runs/start/", fields | {"goal_rival": rival.pk})
    assert started.status_code == 302
    assert EvaluationRun.objects.latest("pk").goal_rival == rival

    EvaluationRun.objects.update(state=RunState.DONE)
    kind = {"goal_kind": "judges", "goal_width": "0.1"}
    refused = client.post("/p/small/runs/start/", fields | kind)
    assert "This goal needs a value here." in refused.content.decode()
    assert client.post("/p/small/runs/start/", fields | kind | {"goal_rival": rival.pk}).url
    assert EvaluationRun.objects.latest("pk").goal_width is None

    EvaluationRun.objects.update(state=RunState.DONE)
    made = client.post(
        "/api/v1/projects/small/runs",
        {"judge": run.judge_id, "fresh": True, "goal_rival": rival.pk},
        content_type="application/json",
    )
    assert (made.status_code, made.json()["goal_rival"]) == (201, rival.pk)
    assert (
        client.post(
            "/api/v1/projects/small/runs",
            {"judge": run.judge_id, "goal_rival": 2**62},
            content_type="application/json",
        ).status_code
        == 404
    )


@pytest.fixture
def verdicts(run: EvaluationRun, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Pass or fail on one output a document; the judge gives people's verdict on eight of ten."""
    monkeypatch.setattr(Judge, "rates_on_scale", True)
    CandidateOutput.objects.exclude(system__name="s0").delete()
    Criterion.objects.update(scale_min=0, scale_max=1)
    for at, rating in enumerate(Rating.objects.order_by("output")):
        Rating.objects.filter(pk=rating.pk).update(score=int(at % 4 > 0))
    criterion = Criterion.objects.get()

    def judge(documents: int) -> None:
        items = list(run.items.open().order_by("output")[:documents])
        labels = dict(Rating.objects.values_list("output", "score"))
        same = {pk: label if pk % 5 else 1 - label for pk, label in labels.items()}
        Score.objects.bulk_create(
            Score(run=run, output_id=item.output_id, criterion=criterion,
                  value=same[item.output_id])
            for item in items
        )  # fmt: skip
        RunItem.objects.filter(pk__in=[item.pk for item in items]).update(state=ItemState.DONE)
        note_change(run.project_id, [criterion.pk], judge=run.judge_id)

    return judge


def test_pass_or_fail_ends_by_the_share_of_same_verdicts(
    run: EvaluationRun, verdicts: Judged
) -> None:
    verdicts(15)
    end_runs_at_goals()
    run.refresh_from_db()
    assert run.state == RunState.RUNNING

    verdicts(100)
    end_runs_at_goals()
    run.refresh_from_db()
    assert "known within ±0.15: quality same verdict on 0.80 [0." in run.message


def test_two_judges_of_pass_or_fail_are_compared_by_same_verdicts(
    run: EvaluationRun, rival: Judge, verdicts: Judged
) -> None:
    Score.objects.filter(run__judge=rival).update(value=0)
    verdicts(DOCUMENTS)

    assert "quality same verdict on +0." in run_goals.reached(run, so_far(run))
