"""A person's labels beside a judge's: as columns with plain names, or as two arrays."""

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geval
from geval.measuring.inputs import InputError
from geval.measuring.reading import QuestionError

DICE = random.Random(5)
PEOPLE = ["pass" if DICE.random() < 0.8 else "fail" for _ in range(120)]
JUDGE = [label if DICE.random() < 0.9 else "fail" for label in PEOPLE]


def table(path: Path, people: str, judge: str, **more: Sequence[str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*more, people, judge])
        writer.writerows(zip(*more.values(), PEOPLE, JUDGE, strict=True))
    return path


@pytest.mark.parametrize(
    ("people", "judge", "text"),
    [
        ("human", "judge", "answer"),
        ("Expert", "LLM", "completion"),
        ("gold", "verdict", "response"),
        ("label", "prediction", "output"),
        ("ground truth", "evaluator", "answer"),
        ("reference_label", "judge", "output"),
    ],
)
def test_plain_names_are_read_without_a_question(
    tmp_path: Path, people: str, judge: str, text: str
) -> None:
    texts = {
        "question": [f"What is the answer to the {n}th riddle?" for n in range(120)],
        text: [f"It is {n} because of the rule, said plainly." for n in range(120)],
    }

    for more in ({}, texts):
        result = geval.measure(table(tmp_path / "labels.csv", people, judge, **more))

        (criterion,) = result.criteria
        assert (criterion.criterion, criterion.judge) == ("overall", judge)
        assert (criterion.outputs, criterion.raters) == (120, 1)


def test_numbered_names_are_several_people(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        people = ["human_1", "human 2", "expert3", "Annotator 4", "rater5", "reviewer_b"]
        writer.writerow(["document", "system", *people, "judge_1", "LLM"])
        writer.writerows(
            [f"d{n // 3}", n % 3, *(DICE.randint(1, 5) for _column in range(8))] for n in range(90)
        )

    result = geval.measure(path, document="document", system="system")

    assert result.criteria[0].raters == 6
    assert {row["judge"] for row in result.to_records()} == {"judge_1", "LLM"}


def test_a_column_that_could_be_a_text_or_a_rater_is_still_asked_about(tmp_path: Path) -> None:
    with pytest.raises(QuestionError):
        geval.measure(table(tmp_path / "labels.csv", "label", "other"))


def one_label_per_row(path: Path, who: str, what: str, people: Sequence[str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", who, what])
        for person in people:
            labels = JUDGE if person == "cyd" else PEOPLE
            writer.writerows((f"q{n}", person, label) for n, label in enumerate(labels))
    return path


@pytest.mark.parametrize(
    ("who", "what"),
    [
        ("rater", "rating"),
        ("annotator", "score"),
        ("Reviewer", "label"),
        ("labeler", "Verdict"),
        ("worker_id", "grade"),
    ],
)
def test_a_row_for_each_label_needs_no_criterion(tmp_path: Path, who: str, what: str) -> None:
    people = one_label_per_row(tmp_path / "people.csv", who, what, ["ann", "bob", "cyd"])
    judge = one_label_per_row(tmp_path / "judge.csv", "judge", what, ["gpt-4o"])

    (criterion,) = geval.measure([people, judge]).criteria

    assert (criterion.criterion, criterion.judge) == ("overall", "gpt-4o")
    assert (criterion.outputs, criterion.raters) == (120, 3)


def test_a_judge_among_raters_is_named_by_an_argument(tmp_path: Path) -> None:
    rows = one_label_per_row(tmp_path / "rows.csv", "rater", "label", ["ann", "bob", "gpt-4o"])

    with pytest.raises(QuestionError, match=r"pass judge=\['gpt-4o'\] \(--judge gpt-4o\)"):
        geval.measure(rows)

    assert geval.measure(rows, judge=["gpt-4o"]).criteria[0].raters == 2


def test_names_of_judges_beside_labels_are_no_labels(tmp_path: Path) -> None:
    kinds = ("bug", "praise", "refund")
    labels = [kinds[n * n % 3] for n in range(90)]
    people, judges = tmp_path / "people.csv", tmp_path / "judges.csv"
    people.write_text("id,rater,label\n" + "".join(f"{n},ann,{x}\n" for n, x in enumerate(labels)))
    names = ("gpt-4o", "claude-3", "llama-3")
    rows = (f"{n},{judge},{label}\n" for judge in names for n, label in enumerate(labels))
    judges.write_text("id,judge,label\n" + "".join(rows))

    assert {row["judge"] for row in geval.measure([people, judges]).to_records()} == {*names}


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array])
@pytest.mark.parametrize("values", [(PEOPLE, JUDGE), None], ids=["words", "numbers"])
def test_two_arrays_are_a_person_and_a_judge(kind: Any, values: Any) -> None:
    people, judge = values or [[int(each == "pass") for each in side] for side in (PEOPLE, JUDGE)]

    (criterion,) = geval.measure(kind(people), kind(judge)).criteria

    assert (criterion.judge, criterion.outputs, criterion.raters) == ("judge", 120, 1)
    rows = [{"human": a, "judge": b} for a, b in zip(people, judge, strict=True)]
    assert geval.measure(rows).criteria[0].rho == criterion.rho


@pytest.mark.parametrize(
    ("people", "judge", "message"),
    [
        ([1, 0], [1], "There are 2 ratings and 1 scores"),
        ([1, 0], 5, "int is no list of values"),
        ("file.csv", [1, 0], "str is no list of values"),
        ([[1, 0], [0, 1]], [1, 0], "list is no list of values"),
        (np.zeros((2, 2)), [1, 0], "ndarray is no list of values"),
        ([{"human": 1}], [1], "list is no list of values"),
    ],
)
def test_what_is_no_two_arrays_is_refused(people: Any, judge: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        geval.measure(people, judge)


def test_outputs_of_a_repeated_question_are_documents_by_their_column() -> None:
    rows = [
        {"question": f"How do I {('return it', 'pay')[n % 2]}?", "answer": f"Like this, {n} times."}
        | {"human": human, "judge": judge}
        for n, (human, judge) in enumerate(zip(PEOPLE, JUDGE, strict=True))
    ]

    with pytest.raises(QuestionError, match="pass document='answer'"):
        geval.measure(rows)

    (criterion,) = geval.measure(rows, document="answer").criteria
    assert criterion.outputs == 120
