"""`criterion=` names a rubric for its total alone, or one of its items."""

from typing import Any

import numpy as np
import pytest

import geval

RUBRIC = {"Quality": {"cites": 2, "polite": 1}}
ITEMS = ["cites", "polite", "other"]


def by_row() -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    return [
        {"doc_id": f"d{at}", "system_id": "s", "criterion": item, who: name,
         "score": int(rng.random() < 0.6)}
        for at in range(50)
        for item in ITEMS
        for who, name in (("annotator", "ann"), ("judge", "gpt"))
    ]  # fmt: skip


def by_column() -> list[dict[str, Any]]:
    rng = np.random.default_rng(2)
    return [
        {"doc": f"d{at}"}
        | {f"{who}_{item}": int(rng.random() < 0.6) for who in ("human", "judge") for item in ITEMS}
        for at in range(50)
    ]


@pytest.mark.parametrize("rows", [by_row(), by_column()], ids=["by row", "by column"])
@pytest.mark.parametrize("name", ["Quality", "quality", "cites", "Polite", "other"])
def test_one_name_gives_that_criterion_with_the_same_numbers(
    rows: list[dict[str, Any]], name: str
) -> None:
    whole = geval.measure(rows, rubric=RUBRIC)
    (wanted,) = [each for each in whole.criteria if each.criterion.lower() == name.lower()]

    (named,) = geval.measure(rows, rubric=RUBRIC, criterion=name).criteria

    assert named == wanted


@pytest.mark.parametrize(
    ("rubric", "criterion", "message"),
    [
        (RUBRIC, "qualty", "cites, polite, other, Quality"),
        ({"Quality": {"cite": 1}}, "polite", "cite"),
        ({"Quality": {"cite": 1}}, "quality", "cite"),
    ],
)
def test_a_name_that_nothing_has_is_an_error_whichever_criterion_is_named(
    rubric: dict[str, dict[str, float]], criterion: str, message: str
) -> None:
    with pytest.raises(geval.InputError, match=message):
        geval.measure(by_row(), rubric=rubric, criterion=criterion)


def with_a_column_of_criteria(key: str = "id") -> list[dict[str, Any]]:
    """A row for each output and item, with people's labels beside the judge's."""
    rng = np.random.default_rng(3)
    return [
        {key: f"d{at}", "criterion": item}
        | {who: "yes" if rng.random() < 0.6 else "no" for who in ("human", "judge")}
        for at in range(50)
        for item in ITEMS
    ]


def test_a_column_of_criteria_beside_plain_names_of_people_and_judges_is_read() -> None:
    rows = with_a_column_of_criteria()

    measured = geval.measure(rows, rubric=RUBRIC)

    assert [each.criterion for each in measured.criteria] == [*ITEMS, "Quality"]
    same = [row["human"] == row["judge"] for row in rows if row["criterion"] == "polite"]
    assert measured.criteria[1].accuracy == pytest.approx(np.mean(same))
