"""A judge's column may hold its replies instead of scores: forms, tags, JSON, sentences."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import geval
from evaluations.corpus.store import load_files
from evaluations.models import Project, RunItem, Score
from geval.files.fields import is_reply
from geval.files.readers import InputFile
from geval.files.recognition import recognise
from geval.measuring.inputs import InputError
from geval.measuring.reading import QuestionError

FORMS: dict[str, Callable[[str, int], str]] = {
    "tag": lambda answer, number: (
        f"<reasoning>{number} of 9.</reasoning><verdict>{answer}</verdict>"
    ),
    "line": lambda answer, number: f"It names {number} sources.\nVerdict: {answer.upper()}",
    "JSON": lambda answer, number: json.dumps({"reason": f"{number} of 9", "verdict": answer}),
    "fence": lambda answer, _number: f'```json\n{{"label": "{answer}"}}\n```',
    "emphasis": lambda answer, _number: f"**{answer}**",
}


def rows(
    answers: list[str], form: Callable[[str, int], str], judge: str = "judge"
) -> list[dict[str, Any]]:
    """A table of 60 outputs, of which the judge gets every tenth wrong."""
    return [
        {
            "id": number,
            "answer": f"Answer {number}. " * (1 + number % 7),
            "human": answers[number % len(answers)],
            judge: form(answers[(number + (number % 10 == 0)) % len(answers)], number),
        }
        for number in range(60)
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_verdict_is_read_from_each_form(form: str) -> None:
    (criterion,) = geval.measure(rows(["pass", "fail"], FORMS[form])).criteria

    assert (criterion.outputs, criterion.accuracy) == (60, 0.9)


@pytest.mark.parametrize("form", FORMS)
def test_labels_without_an_order_are_read_from_each_form(form: str) -> None:
    (result,) = geval.measure(rows(["billing", "refund", "bug"], FORMS[form])).labels

    assert result.judges[0].figures.accuracy.estimate.value == 0.9


def test_a_score_is_read_from_a_sentence_of_a_named_judge() -> None:
    table = rows(["1", "3", "5"], lambda point, _number: f"I would rate this a {point}.", "mine")

    (criterion,) = geval.measure(table, judge="mine").criteria

    assert (criterion.judge, criterion.outputs) == ("mine", 60)
    assert criterion.rho == pytest.approx(0.85)


def test_a_reply_without_a_rating_is_counted_and_gives_no_score() -> None:
    table = rows(["pass", "fail"], FORMS["line"])
    table[3]["judge"] = "I cannot assist with that request."

    measured = geval.measure(table)

    (result,) = measured.report.criteria
    assert result.judges[0].correlations.pairs == 59
    assert any("1 of 60 replies of judge on overall" in note for note in measured.notes)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("Score: 4", True), ("<score>4</score>", True), ("**4**", True), ("it is a pass", True),
     ("4", False), ("4/5", False), ("4 out of 5", False), ("4 - good and clear", False),
     ("fail", False), ("too long answer", False), (4, False)],
)  # fmt: skip
def test_scores_and_words_are_no_replies(cell: object, expected: bool) -> None:
    assert is_reply(cell) is expected


@pytest.mark.parametrize(("named", "left"), [("judge", "cy and dan"), ("human", "mine")])
def test_columns_of_the_other_side_that_stay_unread_are_named(named: str, left: str) -> None:
    table = [
        {"id": number, "cy": 1 + number % 5, "dan": 1 + number % 4, "mine": 1 + number % 3}
        for number in range(40)
    ]
    names = {"judge": "mine", "human": ["cy", "dan"]}

    with pytest.raises(QuestionError, match=f"not used: {left}"):
        geval.measure(table, **{named: names[named]})


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["tag", "line"])
def test_a_site_reads_the_replies_of_a_table_and_keeps_them(
    project: Project, tmp_path: Path, form: str
) -> None:
    table = rows(["pass", "fail"], FORMS[form])
    path = tmp_path / "table.jsonl"
    path.write_text(
        "".join(json.dumps(row | {"question": f"q{row['id']}?"}) + "\n" for row in table)
    )
    columns = recognise([*table[0], "question"], [*map(dict, table)]).columns

    load_files(project, [InputFile(path, path.name, columns=columns)])

    scores = Score.objects.order_by("output__document__doc_id", "output_id")
    assert sorted(scores.values_list("value", flat=True)) == [0.0] * 36 + [1.0] * 24
    assert RunItem.objects.filter(reply__isnull=False).count() == 60


def test_columns_of_texts_may_have_any_name() -> None:
    table = rows(["pass", "fail"], FORMS["tag"])
    for row in table:
        row |= {"antwort": row.pop("answer"), "frage": f"q{row['id']}?"}

    without, measured = geval.measure(table), geval.measure(table, output="antwort", text="frage")

    assert any("output=" in note for note in without.notes)
    assert [*measured.gathered.texts] == [row["antwort"] for row in table]
    with pytest.raises(InputError, match="Did you mean antwort"):
        geval.measure(table, output="antwrt")


@pytest.mark.parametrize(("off", "is_refused"), [(6, False), (7, True)])
def test_replies_on_another_scale_are_refused(off: int, is_refused: bool) -> None:
    table = rows(["1", "3", "5"], lambda point, _number: f"Score: {point}", "mine")
    for row in table[:off]:
        row["mine"] = "Score: 8"

    with pytest.raises(InputError, match="off its scale 1-5") if is_refused else nullcontext():
        assert geval.measure(table, judge="mine").criteria[0].outputs == 60


@pytest.mark.parametrize(
    ("human", "judge", "note"),
    [(0.25, 1, "1 rating on overall between 0"), (1, -1, "1 score of judge on overall below 0")],
)
def test_values_between_or_below_fail_and_pass_are_noted(
    human: float, judge: float, note: str
) -> None:
    table = [{"id": number, "human": number % 2, "judge": number % 2} for number in range(60)]
    table[1] |= {"human": human, "judge": judge}

    notes = geval.measure(table).notes

    assert any(each.startswith(note) for each in notes)
