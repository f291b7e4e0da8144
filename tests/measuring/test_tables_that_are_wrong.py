"""What `geval.measure` says of a table that it cannot read: what, where and what to do."""

from pathlib import Path
from typing import Any

import pytest

import geval
from geval.measuring.inputs import InputError

NAMES = {"human": ["ann", "bob"], "judge": "gpt", "document": "doc", "system": "system"}


def table(documents: int = 15, **odd_cells: Any) -> list[dict[str, Any]]:
    """Outputs of four systems with two people's ratings and a judge's scores; the first row has
    these cells instead."""
    rows = [
        {"doc": f"d{d}", "system": s, "ann": 1 + (d + s) % 5, "bob": 1 + s, "gpt": 1 + s}
        for d in range(documents)
        for s in range(4)
    ]
    return [rows[0] | odd_cells, *rows[1:]]


def error_of(source: Any, **names: Any) -> str:
    with pytest.raises(InputError) as caught:
        geval.measure(source, **(NAMES | names))
    return str(caught.value)


@pytest.mark.parametrize("label", ["good", "Änderung nötig"])
def test_a_label_in_place_of_a_number_is_told_to_be_written_as_one(label: str) -> None:
    message = error_of(table(ann=label))

    assert message.startswith("table:1: ann: expected a number, found")
    assert "yes/no, true/false, pass/fail, correct/incorrect" in message


@pytest.mark.parametrize("cell", ["3 bis 5", "1_0", float("inf"), "-inf"])
def test_a_number_that_cannot_be_read_is_no_label(cell: object) -> None:
    message = error_of(table(gpt=cell))

    assert message.startswith("table:1: gpt: expected a number, found")
    assert "label" not in message


def test_a_column_cannot_be_a_persons_and_a_judges() -> None:
    assert error_of(table(), human=["ann", "gpt"]).startswith("Column 'gpt' is named")


def test_thousands_of_compared_systems_are_counted_and_not_ranked() -> None:
    rows = [
        {"doc_id": f"d{n % 200}", "system_a": f"a{n}", "system_b": f"b{n}", "winner": "a",
         "annotator": "ann"}
        for n in range(1500)
    ]  # fmt: skip

    board = geval.measure(rows).to_dict()["comparisons"]["overall"]

    assert "at most 200" in board["reason"]
    assert {(row["won"], row["lost"]) for row in board["leaderboard"]} == {(1, 0), (0, 1)}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_file_in_utf_16_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "ratings.csv"
    lines = "".join(f"{n},1,{n},{n},{n}\n" for n in range(1, 6))
    path.write_bytes(f"\ufeffdoc,system,ann,bob,gpt\n{lines}".encode(encoding))

    measured = geval.measure(path, **NAMES)

    assert len(measured.report.criteria) == 1


@pytest.mark.parametrize(("documents", "has_interval"), [(14, False), (15, True)])
def test_the_screen_says_why_there_is_no_interval(documents: int, has_interval: bool) -> None:
    result = geval.measure(table(documents), **NAMES)

    criterion = result.criteria[0]
    assert (criterion.interval is not None) is has_interval
    assert bool(criterion.no_interval) is not has_interval
    assert (f"(no interval: {criterion.no_interval})" in str(result)) is not has_interval
