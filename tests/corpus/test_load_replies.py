"""Raw replies of a G-Eval release: parsed by our parser, counted, shown like our own; unreadable
ones reported."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluations.models import EvaluationRun, ItemState, Judge, Project, Score
from geval.files.rows import LoadError

pytestmark = pytest.mark.django_db
Load = Callable[..., Any]


def release(*replies: str, doc: str = "d1", **more: Any) -> dict[str, Any]:
    return {
        "doc_id": doc,
        "system_id": "good",
        "scores": {"coherence": 4.0},
        "all_responses": list(replies),
        **more,
    }


def as_file(*items: dict[str, Any]) -> dict[str, str]:
    return {"gpt.json": json.dumps(list(items))}


def test_replies_become_a_distribution_with_a_score(small_project: Project, load: Load) -> None:
    result = load(
        small_project, as_file(release("4", "4", "- Coherence: 2", "5")), judge="G-Eval gpt-4"
    )

    score = Score.objects.get()
    assert (result.replies.created, result.unreadable) == (1, 0)
    assert score.distribution == {"2": 0.25, "4": 0.5, "5": 0.25}
    assert score.value == pytest.approx(3.75)
    assert (score.mode, score.coverage, score.note) == ("samples", 1.0, "")
    assert score.run.judge.name == "G-Eval gpt-4"
    item = score.run.items.get()
    assert item.reply is not None
    assert [choice["text"] for choice in item.reply.choices] == ["4", "4", "- Coherence: 2", "5"]


def test_unreadable_replies_are_left_out_of_the_score_and_reported(
    small_project: Project, load: Load
) -> None:
    result = load(
        small_project,
        as_file(release("4", "I cannot rate this.", "", "2"), release("Hm.", "No.", doc="d2")),
    )

    score = Score.objects.get()
    assert result.unreadable == 4
    assert score.value == 3.0
    assert score.coverage == 0.5
    assert score.note.startswith("2 of 4 replies contain no rating:")
    assert "The model refused" in score.note
    failed = EvaluationRun.objects.get(judge__kind="imported").items.get(state=ItemState.FAILED)
    assert (failed.output.document.doc_id, failed.reason) == ("d2", "no_rating")


def test_the_published_rule_takes_the_first_digit(small_project: Project, load: Load) -> None:
    file = as_file(release("2.5", "1. Coherence: 3", doc="d1"))

    load(small_project, file, judge="ours")
    load(small_project, file, judge="theirs", first_digit=True)

    values = {score.run.judge.name: score.value for score in Score.objects.all()}
    assert values == {"ours": 2.75, "theirs": 1.5}


def test_the_criterion_comes_from_the_item_the_load_or_the_only_score(
    small_project: Project, load: Load
) -> None:
    two = {"coherence": 4.0, "fluency": 3.0}
    load(small_project, as_file(release("4", scores=two, criterion="fluency")), judge="named")
    load(small_project, as_file(release("4", scores=two)), judge="told", criterion="fluency")
    load(small_project, as_file(release("4")), judge="only")

    found = {
        score.run.judge.name: score.criterion.name
        for score in Score.objects.select_related("criterion")
    }  # type: ignore[union-attr]
    assert found == {"named": "fluency", "told": "fluency", "only": "coherence"}
    with pytest.raises(LoadError) as refused:
        load(small_project, as_file(release("4", scores=two)), judge="nothing")
    assert "do not name the criterion" in refused.value.errors[0].message


def test_loading_again_changes_nothing_and_other_replies_are_an_error(
    small_project: Project, load: Load
) -> None:
    load(small_project, as_file(release("4", "5")), judge="gpt")

    again = load(small_project, as_file(release("4", "5")), judge="gpt")
    assert (again.replies.created, again.replies.unchanged) == (0, 1)
    with pytest.raises(LoadError) as refused:
        load(small_project, as_file(release("4", "1")), judge="gpt")
    assert "already has different replies on coherence" in refused.value.errors[0].message


def test_replies_give_a_score_its_distribution_and_may_not_contradict_it(
    small_project: Project, load: Load
) -> None:
    scores = "doc_id,system_id,judge,criterion,score\nd1,good,gpt,coherence,{}\n"
    load(small_project, {"scores.csv": scores.format(4.5)})

    with pytest.raises(LoadError) as refused:
        load(small_project, as_file(release("4", "4")), judge="gpt")
    load(small_project, as_file(release("4", "5")), judge="gpt")

    assert "score 4 contradicts 4.5" in refused.value.errors[0].message
    assert refused.value.errors[0].column == "all_responses"
    assert Score.objects.get().distribution == {"4": 0.5, "5": 0.5}
    assert (Score.objects.get().value, Score.objects.get().mode) == (4.5, "samples")


@pytest.mark.parametrize("responses", [None, [], "4", [4]])
def test_replies_that_are_no_list_of_texts_are_errors(
    small_project: Project, load: Load, responses: Any
) -> None:
    with pytest.raises(LoadError) as refused:
        load(small_project, as_file(release() | {"all_responses": responses}))

    assert refused.value.errors[0].column == "all_responses"
    assert Score.objects.count() == 0


def test_version_and_source_are_kept_with_the_judge(small_project: Project, load: Load) -> None:
    load(
        small_project,
        as_file(release("4")),
        judge="gpt",
        version="0613",
        source="the release of the paper",
    )

    assert Judge.objects.get(name="gpt").settings == {
        "version": "0613",
        "source": "the release of the paper",
    }
