"""A site improves labels without an order by kappa: another judge, or another wording."""

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import pytest

from assurance.improving.adopting import adopt
from assurance.improving.certificate import not_tried, sentence_of
from assurance.improving.looking import look
from assurance.improving.rewording import _divided
from assurance.improving.search_data import cases_of, ground_of
from assurance.improving.work import request_search, work_on_search
from evaluations.corpus.locks.locking import lock_documents
from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    Criterion,
    ErrandState,
    LockedDocuments,
    Project,
    Score,
)
from evaluations.models.improving import FREE_CHANGES
from evaluations.reports.report import build_report
from geval.evaluators.ensemble import Ensemble
from geval.evaluators.formula import Formula
from geval.improving.changes import NO_ORDER, Measure
from geval.improving.ground import ImproveError
from geval.llm.prompts import PromptError, PromptParts
from geval.llm.reflection import reflection_prompt
from geval.standin.planted import as_csv
from geval.statistics.scales import scale_of_words

pytestmark = pytest.mark.django_db
KINDS = ["wrong", "rude", "slow"]
RIGHT = {"today": 0.5, "better": 0.9}


@pytest.fixture
def labelled(project: Project, load: Callable[..., LoadResult]) -> Criterion:
    """200 outputs with a label of one person and of two judges, and scores of a third that are no
    labels."""
    criterion = project.criteria.create(
        name="kind", scale_min=0, scale_max=2, is_ordered=False,
        scale_labels={str(at): name for at, name in enumerate(KINDS)},
    )  # fmt: skip
    rng = np.random.default_rng(1)
    people = [str(rng.choice(KINDS)) for _ in range(200)]
    outputs = [(f"d{at}", "s", f"Text {at}.", f"Output {at}.") for at in range(200)]
    ratings = [(f"d{at}", "s", "kind", "ann", label) for at, label in enumerate(people)]
    scores = [
        (f"d{at}", "s", "kind", judge, label if rng.random() < share else rng.choice(KINDS))
        for judge, share in RIGHT.items()
        for at, label in enumerate(people)
    ]
    lengths = [(f"d{at}", "s", "", "length", f"{rng.random():.3f}") for at in range(200)]
    load(project, {
        "outputs.csv": as_csv("doc_id,system_id,source,output", outputs),
        "ratings.csv": as_csv("doc_id,system_id,criterion,annotator,score", ratings),
        "scores.csv": as_csv("doc_id,system_id,criterion,judge,score", [*scores, *lengths]),
    })  # fmt: skip
    return criterion


@pytest.fixture
def locked(labelled: Criterion) -> LockedDocuments:
    return lock_documents(labelled.project, seed="fixed", looks=2)


@pytest.mark.django_db(transaction=True)
def test_another_judge_is_found_proven_and_used(
    labelled: Criterion, locked: LockedDocuments
) -> None:
    judge = labelled.project.judges.get(name="today")
    search = request_search(judge, labelled, list(FREE_CHANGES))
    work_on_search(search.pk)
    search.refresh_from_db()

    assert search.state == ErrandState.DONE, search.message
    (candidate,) = search.candidates.all()
    assert (candidate.change, candidate.measure) == ("choice", Measure.KAPPA)
    reasons = dict(not_tried(search))
    assert reasons["length"] == "its scores are not labels of kind"
    assert set(NO_ORDER.values()) <= set(reasons.values())
    taken = look(candidate)
    assert taken is not None
    assert taken.outcome == "proven"
    assert "kappa" in sentence_of(candidate)
    _used, run = adopt(candidate)
    work_on_run(run.pk, "tester")
    values = dict(run.scores.values_list("output", "value"))
    better = labelled.project.judges.get(name="better").runs.get()
    assert values == dict(better.scores.values_list("output", "value"))


def test_scores_that_are_no_labels_are_refused(
    labelled: Criterion, locked: LockedDocuments
) -> None:
    judge = labelled.project.judges.get(name="length")

    with pytest.raises(ImproveError, match="are not labels of kind"):
        ground_of(labelled.project, judge, labelled, locked)


def test_a_model_that_rewords_reads_the_names_of_labels(
    labelled: Criterion, locked: LockedDocuments
) -> None:
    judge = labelled.project.judges.get(name="today")
    ground = ground_of(labelled.project, judge, labelled, locked)
    learning, selecting = _divided(ground)
    cases = cases_of(ground, learning.tolist(), ground.today)

    assert len(selecting) == 20
    assert {case.people for case in cases} <= set(KINDS)
    wrong = sum(case.people != case.judge for case in cases)
    is_wrong = (ground.human != ground.today) & np.isin(ground.outputs.document, learning)
    assert wrong == min(len(cases), is_wrong.sum())
    prompt = reflection_prompt(
        "kind", "wrong / rude", {"definition": "x"}, "definition", cases, is_ordered=False
    )
    assert f'people="{cases[0].people}"' in prompt
    assert "rank them" not in prompt


def test_a_report_leaves_out_scores_that_are_no_labels(labelled: Criterion) -> None:
    Score.objects.filter(run__judge__name="length").update(value=37.5)

    (result,) = build_report(labelled.project).labels

    assert {each.judge for each in result.judges} == {"today", "better"}
    assert result.without_labels == ("length",)
    assert "length" in str(result)


@pytest.mark.parametrize(
    ("evaluator", "is_refused"),
    [
        (Ensemble({"judges": "today, better"}), True),
        (Formula({"formula": '{"kind": {"members": [{"judge": "today", "criterion": "kind",'
                             ' "weight": 0.5}]}}'}), True),
        (Formula({"formula": '{"kind": {"members": [{"judge": "today", "criterion": "kind",'
                             ' "weight": 1}]}}'}), False),
    ],
    ids=["ensemble", "weighed", "one as it is"],
)  # fmt: skip
def test_labels_are_never_added(evaluator: Ensemble | Formula, is_refused: bool) -> None:
    parts = PromptParts("kind", scale_of_words(KINDS, is_ordered=False))

    with pytest.raises(PromptError, match="without an order") if is_refused else nullcontext():
        evaluator.template(parts)
