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


@pytest.mark.parametrize("label", ["good", "very good", "Änderung nötig"])
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


@pytest.mark.parametrize("view", [{"level": "documents"}, {"coefficient": "rho"}])
def test_a_view_that_does_not_exist_names_those_that_do(view: dict[str, str]) -> None:
    (kind, value) = next(iter(view.items()))

    message = error_of(table(), **view)

    assert message.startswith(f"There is no {kind} '{value}' (there are: ")


def test_ratings_that_are_all_different_have_a_scale() -> None:
    rows = [
        {"doc": document, "ann": document + 0.25, "bob": document + 0.75, "gpt": document % 7}
        for document in range(600)
    ]

    assert geval.measure(rows, human=["ann", "bob"], judge="gpt", document="doc").criteria


def test_thousands_of_compared_systems_are_counted_and_not_ranked() -> None:
    rows = [
        {"doc_id": f"d{n % 200}", "system_a": f"a{n}", "system_b": f"b{n}", "winner": "a",
         "annotator": "ann"}
        for n in range(1500)
    ]  # fmt: skip

    board = geval.measure(rows).to_dict()["comparisons"]["overall"]

    assert "at most 200" in board["reason"]
    assert {(row["won"], row["lost"]) for row in board["leaderboard"]} == {(1, 0), (0, 1)}


def test_a_file_with_nothing_but_a_header_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("doc,system,ann,bob,gpt\n")

    assert "a header and no rows" in error_of(path)


def test_a_file_of_texts_alone_has_nothing_to_measure(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("doc_id,system_id,source,output\n" + "d1,a,What?,This.\n" * 2)

    with pytest.raises(InputError, match=r"nothing to measure .* human and judge"):
        geval.measure(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_file_in_utf_16_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "ratings.csv"
    lines = "".join(f"{n},1,{n},{n},{n}\n" for n in range(1, 6))
    path.write_bytes(f"\ufeffdoc,system,ann,bob,gpt\n{lines}".encode(encoding))

    measured = geval.measure(path, **NAMES)

    assert len(measured.report.criteria) == 1


def test_a_figure_of_a_criterion_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(InputError, match=r"there are: quality"):
        geval.measure(table(), **NAMES).plot("fluency")


@pytest.mark.parametrize(
    ("human", "documents", "line"),
    [
        ("ann", 1, "4 outputs rated by 1 person"),
        (["ann", "bob"], 1, "4 outputs rated by 2 people"),
    ],
)
def test_counts_are_said_in_the_singular_too(
    human: str | list[str], documents: int, line: str
) -> None:
    assert line in str(geval.measure(table(documents), **(NAMES | {"human": human})))


@pytest.mark.parametrize(("documents", "has_interval"), [(14, False), (15, True)])
def test_the_screen_says_why_there_is_no_interval(documents: int, has_interval: bool) -> None:
    result = geval.measure(table(documents), **NAMES)

    criterion = result.criteria[0]
    assert (criterion.interval is not None) is has_interval
    assert bool(criterion.no_interval) is not has_interval
    assert (f"(no interval: {criterion.no_interval})" in str(result)) is not has_interval
