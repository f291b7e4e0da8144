"""Ensembles: the mean of z-scores, and a blend that never sees the document it scores."""

from collections.abc import Callable

import numpy as np
import pytest

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Project, RunState
from geval.evaluators.base import Corpus, Item
from geval.evaluators.ensemble import Ensemble, cross_validated_blend, z_scores
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure
from geval.llm.scoring import Scored


def outcomes(
    corpus: Corpus, ids: range | list[int], criterion: str = "c", **settings: object
) -> list[object]:
    ensemble = Ensemble({"judges": "a, b"} | settings)
    ensemble.look(corpus)
    return ensemble.score([Item(Texts("s", "o"), criterion, "", pk) for pk in ids])


def test_the_mean_of_z_scores_weighs_judges_alike_whatever_their_scales() -> None:
    corpus = Corpus(scores={("a", "c"): {1: 1.0, 2: 3.0}, ("b", ""): {1: 40.0, 2: 20.0, 3: 1.0}})

    first, second, third = outcomes(corpus, [1, 2, 3])

    # z of a: -1, 1; z of b (over the outputs that both scored): 1, -1.
    assert (first, second) == (Scored.plain(0.0), Scored.plain(0.0))
    assert isinstance(third, Failure)
    assert third.reason == "no_score"


def test_a_blend_finds_the_weights_of_a_linear_truth() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(60, 2))
    ratings = 3 + scores @ np.array([0.5, -0.25])
    documents = np.repeat(np.arange(20), 3)

    predicted = cross_validated_blend(z_scores(scores), ratings, documents, folds=5)

    assert predicted == pytest.approx(ratings)


def test_a_blend_does_not_see_the_ratings_of_the_document_it_scores() -> None:
    random = np.random.default_rng(1)
    scores, ratings = random.normal(size=(30, 2)), random.normal(size=30)
    documents = np.repeat(np.arange(10), 3)
    changed = ratings.copy()
    changed[documents == 4] += 100

    before = cross_validated_blend(scores, ratings, documents, folds=10)
    after = cross_validated_blend(scores, changed, documents, folds=10)

    assert after[documents == 4] == pytest.approx(before[documents == 4])
    assert np.abs(after - before)[documents != 4].min() > 0


def test_outputs_that_nobody_rated_are_scored_too() -> None:
    ids = range(24)
    scores = {
        ("a", "c"): {pk: float(pk) for pk in ids},
        ("b", "c"): {pk: float(pk % 5) for pk in ids},
    }
    ratings = {"c": {pk: 2.0 + 0.1 * pk for pk in list(ids)[:20]}}
    corpus = Corpus(scores=scores, ratings=ratings, document_of={pk: pk // 2 for pk in ids})

    found = outcomes(corpus, ids, method="blend")

    assert all(isinstance(outcome, Scored) for outcome in found)
    assert found[23].value == pytest.approx(2.0 + 0.1 * 23)  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_a_run_blends_what_other_judges_said(
    small_project: Project, load: Callable[..., object]
) -> None:
    scores = "doc_id,system_id,criterion,judge,score\n" + "\n".join(
        f"d{d},{system},{criterion},{judge},{base + 0.1 * d + 0.3 * shift}"
        for d in (1, 2, 3)
        for system, base in (("good", 4), ("odd", 1))
        for criterion, shift in (("coherence", 0), ("fluency", 1))
        for judge, base in (("x", base), ("y", 10 - base))
    )
    load(small_project, {"scores.csv": scores})
    draft = JudgeDraft(name="Panel", kind="ensemble", settings={"judges": "x, y"})

    run = start_run(create_judge(small_project, draft)[0], list(small_project.criteria.all()))
    work_on_run(run.pk, "tester")

    run = EvaluationRun.objects.get(pk=run.pk)
    assert run.state == RunState.DONE
    assert run.scores.count() == 12
    assert {score.criterion.name for score in run.scores.select_related("criterion")} == {
        "coherence",
        "fluency",
    }  # type: ignore[union-attr]
