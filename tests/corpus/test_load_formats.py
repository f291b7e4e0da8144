"""Every format is found by looking at the file, and lands as the same records."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from annotations.models import Rating
from evaluations.corpus.store import LoadResult
from evaluations.models import CandidateOutput, Project, Score
from tests.conftest import OUTPUTS, RATINGS

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]

RELEASE = [
    {
        "source": "A source",
        "system_id": name,
        "system_output": f"Output of {name}",
        "context": "",
        "reference": "A reference",
        "scores": {"coherence": score},
        "predict_scores": {"coherence": score / 5},
    }
    for name, score in (("s1", 4.0), ("s2", 2.5))
]


def test_a_file_with_annotators_holds_ratings_and_one_with_judges_holds_scores(
    project: Project, load: Load
) -> None:
    scores = "doc_id,system_id,criterion,judge,score\nd1,good,coherence,other llm,3.5\n"

    result = load(project, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS, "scores.csv": scores})

    assert (result.ratings.created, result.scores.created) == (24, 1)
    assert Rating.objects.filter(annotator__name="ann", criterion__name="fluency").count() == 6
    assert Score.objects.get().run.judge.name == "other llm"


def test_a_score_with_an_empty_criterion_counts_for_every_criterion(
    project: Project, load: Load
) -> None:
    from evaluations.reports.report import build_report

    rows = "".join(
        f"d{d},{system},,rouge,{0.1 * d}\n" for d in (1, 2, 3) for system in ("good", "odd")
    )
    scores = "doc_id,system_id,criterion,judge,score\n" + rows

    load(project, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS, "scores.csv": scores})

    assert set(Score.objects.values_list("criterion", flat=True)) == {None}
    assert [
        [judge.judge for judge in found.judges] for found in build_report(project).criteria
    ] == [["rouge"]] * 2


def test_a_release_states_human_means_and_a_judge_and_the_same_source_is_the_same_document(
    project: Project, load: Load
) -> None:
    result = load(project, {"release.json": json.dumps(RELEASE)}, judge="unieval")

    assert (result.documents.created, result.outputs.created) == (1, 2)
    assert sorted(Rating.objects.values_list("score", flat=True)) == [2.5, 4.0]
    assert set(Rating.objects.values_list("annotator__kind", flat=True)) == {"mean"}
    assert set(Score.objects.values_list("run__judge__name", flat=True)) == {"unieval"}


def test_a_stated_mean_is_used_only_where_nobody_rated(project: Project, load: Load) -> None:
    from evaluations.reports.ratings.human_scores import human_scores

    release = [{**entry, "doc_id": "d1"} for entry in RELEASE]
    people = "doc_id,system_id,criterion,annotator,score\nd1,s1,coherence,ann,1\n"

    load(project, {"release.json": json.dumps(release), "ratings.csv": people})

    criterion = project.criteria.get()
    outputs = CandidateOutput.objects.of_project(project).order_by("system")
    ids = np.array(outputs.values_list("pk", flat=True))
    found = human_scores(project.pk, [criterion.pk], outputs=ids)[criterion.pk]
    assert found.mean.tolist() == [1.0, 2.5]


def test_a_new_criterion_gets_the_usual_scale_of_its_ratings_and_the_wording_of_its_preset(
    project: Project, load: Load
) -> None:
    load(project, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS})

    criterion = project.criteria.get(name="coherence")
    assert (criterion.scale_min, criterion.scale_max) == (1, 5)
    assert criterion.definition
