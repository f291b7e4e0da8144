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
from geval.statistics.scales import PAIRS, pair_of, value_in_pair
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


@settings(max_examples=8, deadline=None)
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


def test_words_of_no_pair_have_no_value() -> None:
    assert (value_in_pair("Correct"), value_in_pair("incorrect ")) == (1, 0)
    assert value_in_pair("ja") is None
    assert (pair_of("Passed"), pair_of("yes please")) == ("pass or fail", "")
