"""Ratings and scores that are words of two values are read as 1 and 0, and the result says so."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geval
from geval.files.rows import RatingRow
from geval.files.word_ratings import MOST_WORDS, WordNotes
from geval.measuring.inputs import InputError
from geval.statistics.scales import PAIRS, Scale, pair_of, value_in_pair
from tests.workbooks import Cell, Xml, xlsx

NAMES: dict[str, Any] = {
    "human": ["ann", "bob"],
    "judge": "gpt",
    "document": "doc",
    "system": "system",
    "criterion": "correct",
}
RATED = ("ann", "bob", "gpt")


def table(seed: int, written: Callable[[bool], object]) -> list[dict[str, object]]:
    """Twenty documents by two systems, with two people's and a judge's verdicts as `written`."""
    rng = np.random.default_rng(seed)
    rows = []
    for document in range(20):
        for system in range(2):
            good = rng.random() < 0.3 + 0.4 * system
            verdicts = {name: written(bool(good ^ (rng.random() < 0.2))) for name in RATED}
            rows.append({"doc": f"d{document}", "system": f"s{system}", **verdicts})
    return rows


def cell(value: object) -> Cell:
    """A cell of a sheet, where Excel has a kind of its own for booleans."""
    return Xml(f'<c PLACE t="b"><v>{value:d}</v></c>') if isinstance(value, bool) else str(value)


def numbers(rows: Sequence[dict[str, object]], **names: Any) -> dict[str, Any]:
    return geval.measure(rows, **(NAMES | names)).to_dict()


def error_of(rows: Sequence[dict[str, object]], **names: Any) -> str:
    with pytest.raises(InputError) as caught:
        geval.measure(rows, **(NAMES | names))
    return str(caught.value)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    pair=st.sampled_from(PAIRS),
    case=st.sampled_from([str.lower, str.upper, str.title]),
    around=st.sampled_from(["", " "]),
)
def test_words_give_the_numbers_of_1_and_0(
    seed: int, pair: tuple[Sequence[str], Sequence[str]], case: Callable[[str], str], around: str
) -> None:
    in_words = table(seed, lambda good: around + case(pair[not good][-1]) + around)

    assert numbers(in_words) == numbers(table(seed, int))


@pytest.mark.parametrize("kind", [bool, np.bool_])
def test_booleans_are_words(kind: type) -> None:
    assert numbers(table(1, kind)) == numbers(table(1, int))


def test_a_missing_boolean_of_pandas_is_no_rating() -> None:
    class NAType:
        """As pandas has it."""

    rows = table(1, bool)

    assert numbers([rows[0] | {"ann": NAType()}, *rows[1:]]) == numbers(
        [rows[0] | {"ann": None}, *rows[1:]]
    )


def test_words_are_read_in_files_of_every_format(tmp_path: Path) -> None:
    rows = table(2, bool)
    lines = tmp_path / "table.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    commas = tmp_path / "table.csv"
    with commas.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    sheet = tmp_path / "table.xlsx"
    sheet.write_bytes(
        xlsx({"Ratings": [[*rows[0]], *([*map(cell, row.values())] for row in rows)]})
    )
    expected = numbers(table(2, int))

    for path in (lines, commas, sheet):
        assert geval.measure(path, **NAMES).to_dict() == expected, path.name


def test_parquet_has_booleans_that_are_words(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "table.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(table(2, bool)), path)

    assert geval.measure(path, **NAMES).to_dict() == numbers(table(2, int))


def test_the_result_says_which_words_were_read_as_which_numbers() -> None:
    result = geval.measure(table(1, lambda good: "PASS" if good else "Fail "), **NAMES)

    (note,) = [note for note in result.notes if "Words" in note]
    assert "as numbers from 0 to 1" in note
    assert "“pass” is 1, “fail” is 0 (80 ratings, 40 scores)" in note
    assert note in str(result)


def test_a_judges_numbers_stand_beside_peoples_words() -> None:
    verdicts = table(1, lambda good: "yes" if good else "no")
    rng = np.random.default_rng(4)
    rows = [row | {"gpt": rng.random()} for row in verdicts]

    result = geval.measure(rows, **NAMES)

    assert result.criteria[0].outputs == 40
    assert "(80 ratings)" in " ".join(result.notes)


def test_a_word_among_ratings_from_1_to_5_is_an_error_with_its_line() -> None:
    rows = [row | {"ann": 1 + at % 5, "bob": 3} for at, row in enumerate(table(1, int))]
    rows[6]["ann"] = "yes"

    message = error_of(rows)

    assert message.startswith("table:7: ann: 'yes' among")
    assert "numbers (such as 3 at table:1" in message


def test_a_number_among_words_is_an_error_unless_it_is_what_they_are_read_as() -> None:
    rows = table(1, lambda good: "yes" if good else "no")
    rows[3] |= {"ann": 1, "bob": 0}

    assert geval.measure(rows, **NAMES).criteria[0].raters == 2
    rows[3] |= {"ann": 0.5}
    message = error_of(rows)
    assert message.startswith("table:4: ann: 0.5 among")
    assert "that are yes or no" in message


def test_words_of_two_pairs_are_an_error_that_names_both() -> None:
    rows = table(1, lambda good: "yes" if good else "no")
    rows[3]["bob"] = "fail"

    message = error_of(rows)

    assert message.startswith("table:4: bob: 'fail' among")
    assert "that are yes or no" in message


def test_words_on_a_scale_that_was_said_to_be_another_are_an_error() -> None:
    rows = table(1, lambda good: "yes" if good else "no")

    assert "no point of correct's scale 1-5" in error_of(rows, scale=(1, 5))
    assert numbers(rows, scale=(0, 1)) == numbers(table(1, int), scale=(0, 1))


def test_a_judge_may_write_words_where_people_use_another_scale() -> None:
    words = table(1, lambda good: "yes" if good else "no")
    rows = [row | {"ann": 1 + at % 5, "bob": 3} for at, row in enumerate(words)]

    assert numbers(rows, scale=(1, 5)) == numbers(
        [row | {"gpt": int(row["gpt"] == "yes")} for row in rows], scale=(1, 5)
    )


def test_columns_of_words_are_asked_about_when_their_names_speak_of_ratings() -> None:
    rows = [
        {"doc_id": row["doc"], "system_id": row["system"], "label_anna": row["ann"]}
        for row in table(1, lambda good: "pass" if good else "fail")
    ]

    with pytest.raises(InputError) as caught:
        geval.measure(rows)

    assert "Which criterion did “anna” rate?" in str(caught.value)


def test_labels_of_a_scale_are_its_points_and_then_no_others() -> None:
    scale = Scale(1, 5, labels={"Poor": 1.0, "Excellent": 5.0})

    assert (scale.point_named(" excellent"), scale.point_named("poor")) == (5, 1)
    assert scale.point_named("yes") is None
    assert Scale(0, 1, step=0.25).point_named("Yes") == 1
    assert Scale(0, 2).point_named("yes") is None


def test_words_of_no_pair_have_no_value() -> None:
    assert (value_in_pair("Correct"), value_in_pair("incorrect ")) == (1, 0)
    assert value_in_pair("ja") is None
    assert (pair_of("Passed"), pair_of("yes please")) == ("pass or fail", "")


@pytest.mark.parametrize(("words", "is_cut"), [(MOST_WORDS, False), (MOST_WORDS + 1, True)])
def test_a_note_names_at_most_twenty_words(words: int, *, is_cut: bool) -> None:
    notes = WordNotes()
    for point in range(words):
        notes.add(RatingRow(1, "d", "s", "tone", "ann", float(point), word=f"w{point}"))

    (note,) = notes

    assert ("…" in note) is is_cut
