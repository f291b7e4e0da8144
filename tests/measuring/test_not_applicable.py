"""Answers such as "not applicable" and "cannot assess", of people and judges: no rating, no missing
one, and in no figure."""

import json
from pathlib import Path

import pytest

import geval
from annotations.models import Rating
from evaluations.corpus.store import load_files
from evaluations.models import Project
from geval.files.fields import is_missing, is_not_applicable
from geval.files.readers import InputFile


@pytest.mark.parametrize(
    ("cell", "answer"),
    [
        ("n/a", True),
        (" N/A ", True),
        ("Not applicable", True),
        ("cannot assess", True),
        ("NA", False),
        ("", False),
        ("-", False),
        (None, False),
    ],
)
def test_words_that_answer_and_cells_that_are_empty(cell: str | None, *, answer: bool) -> None:
    assert (is_not_applicable(cell), is_missing(cell)) == (answer, True)


def answers() -> list[dict[str, str]]:
    """Ten outputs are not applicable to the expert, twelve to the judge, eight of them to both."""
    rows = []
    for number in range(120):
        human = "fail" if number % 3 == 0 else "pass"
        judge = human
        if number < 10:
            human = "n/a"
        if 2 <= number < 14:
            judge = "not applicable" if number % 2 else "N/A"
        text = f"Answer {number}. " * (1 + number % 7)
        rows.append({"id": f"q{number}", "answer": text, "human": human, "judge": judge})
    return rows


def test_answers_stand_beside_the_figures() -> None:
    measured = geval.measure(answers())

    (criterion,) = measured.criteria
    assert (criterion.outputs, criterion.accuracy) == (110, 1.0)
    assert "people on 10 outputs, judge on 12, both on 8 of 14" in str(measured)
    (found,) = json.loads(measured.to_whole_json())["not_applicable"]
    assert found == {
        "criterion": "overall",
        "judge": "judge",
        "people": 10,
        "by_judge": 12,
        "both": 8,
    }


def test_a_judge_that_says_so_where_people_label_gains_nothing() -> None:
    rows = answers()[14:]
    for row in rows[:40]:
        if row["human"] == "fail":
            row["judge"] = "n/a"
    measured = geval.measure(rows)

    assert measured.criteria[0].verdict != "agrees"
    assert "that it left out: counted as wrong" in str(measured)


@pytest.mark.django_db
def test_a_site_stores_no_rating_and_says_so(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {"doc_id": row["id"], "system_id": "bot", "source": row["id"],
                 "output": row["answer"], "ratings.polite": row["human"], "annotator": "eve"}
            ) + "\n"
            for row in answers()
        )
    )  # fmt: skip

    result = load_files(project, [InputFile(path, path.name)])

    assert Rating.objects.count() == 110
    assert any("10 answers are “not applicable”" in note for note in result.notes)
