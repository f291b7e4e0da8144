"""Plain tables are read by column, with the results, notes and errors of reading them by row."""

import csv
import io
import random
from pathlib import Path
from typing import Any

import pytest

import geval
from geval.files.apart import ReadingError, columns_apart
from geval.files.columns import ColumnBatch, OddError, column_batches
from geval.files.readers import InputFile
from geval.files.rows import FileDefaults
from geval.files.unused import Unused
from geval.measuring import inputs, reading
from geval.measuring.inputs import InputError
from geval.measuring.series import rows_by_column

LONG = ("doc_id", "system_id", "criterion", "annotator", "score")
WIDE = ("doc_id", "system_id", "ann", "bob", "gpt")
CELLS = {"ann": 'ratings["quality","ann"]', "bob": 'ratings["quality","bob"]',
         "gpt": 'scores["quality","gpt"]'}  # fmt: skip
MEANINGS = {"doc_id": "doc_id", "system_id": "system_id"} | CELLS
DEFAULTS = FileDefaults(judge="judge", annotator="human")
NAMED: dict[str, Any] = {
    "human": ["ann", "bob"],
    "judge": "gpt",
    "document": "doc_id",
    "system": "system_id",
}
# Cells that are no plain numbers or names, and what else people write.
ODD_NUMBERS = ["", " ", "n/a", "-", "yes", "4 - good", "4/5", "1.000", "2,5", "1,234", "1_0", "nan",
               "inf", "250", "1e3", " 3 ", "'4", "[3]", "９", "-0", "+2", "3.125"]  # fmt: skip
ODD_NAMES = ["", " ", "d1 ", "D1", "d1\u200b", "é", "e\u0301", "'=d1", "x" * 201, "a\tb", "mean"]


def written(path: Path, header: tuple[str, ...], rows: list[list[str]]) -> Path:
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def made_up(seed: int, *, most_odd: int = 3) -> tuple[tuple[str, ...], list[list[str]]]:
    """A table of some shape, with gaps; some have cells or lines that are odd."""
    rng = random.Random(seed)
    is_long, has_texts, odd = seed % 2 == 0, seed % 3 == 0, rng.choice((0, 0, 1, 3))
    digits = rng.choice((0, 1, 2, 3))
    header: tuple[str, ...] = LONG if is_long else WIDE
    rows: list[list[str]] = []
    for document in range(rng.randint(6, 14)):
        for system in range(rng.randint(1, 4)):
            quality = rng.gauss(3, 1)
            numbers = [f"{min(5, max(1, quality + rng.gauss(0, 1))):.{places}f}"
                       for places in (0, 0, digits)]  # fmt: skip
            numbers = [number if rng.random() < 0.9 else "" for number in numbers]
            name = [f"d{document}", f"s{system}"]
            if is_long:
                given = dict(zip(("ann", "bob", "gpt-4o"), numbers, strict=True))
                rows += [[*name, criterion, rater, number] for criterion in ("clarity", "Tone")
                         for rater, number in given.items()]  # fmt: skip
            else:
                rows.append([*name, *numbers])
    if has_texts and not is_long:
        header = (*header[:2], "source", "output", "topic", *header[2:])
        rows = [[*row[:2], f"Source {row[0]}.", f"Words {' '.join(row)}", "news", *row[2:]]
                for row in rows]  # fmt: skip
    if has_texts and is_long:
        header = (*header[:1], "minutes", "hint", *header[1:])
        rows = [[row[0], *(rng.choice(("", "7")) for _ in range(2)), *row[1:]] for row in rows]
    rng.shuffle(rows)
    for _ in range(min(odd, most_odd)):
        row = rng.choice(rows)
        match rng.randint(0, 4):
            case 0:
                row[-1] = rng.choice(ODD_NUMBERS)
            case 1:
                row[rng.randrange(len(row))] = rng.choice(ODD_NAMES)
            case 2:
                rows.append(list(row))
            case 3:
                rows.append([*row[:-1], "2"])
            case 4:
                row.append("more")
    return header, rows


def outcome(source: Any, **named: Any) -> str:
    try:
        result = geval.measure(source, ask=lambda question: question.choices[0], **named)
    except InputError as error:
        return f"{type(error).__name__}: {error}"
    return f"{result.to_whole_json()}\n{result}"


@pytest.mark.parametrize("seed", range(14))
def test_both_ways_give_the_same(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, rows = made_up(seed)
    named: dict[str, Any] = dict(NAMED) if "ann" in header else {}
    if "ann" not in header and seed % 5 == 0:
        named |= {"criterion": "tone", "human": "bob"}
    if seed % 7 == 0:
        named |= {"scale": (1, 5)}
    if "ann" in header and seed % 4 == 1:
        # Without systems, or documents: rows have names of their own.
        dropped = header.index("system_id" if seed % 8 == 1 else "doc_id")
        del named["system" if seed % 8 == 1 else "document"]
        rows = [row[:dropped] + row[dropped + 1 :] for row in rows]
        header = header[:dropped] + header[dropped + 1 :]
    path = written(tmp_path / "table.csv", header, rows)

    by_column = outcome(path, **named)
    monkeypatch.setattr(reading, "rows_by_column", lambda *_arguments: [])

    assert by_column == outcome(path, **named)


@pytest.mark.parametrize("seed", range(100, 108))
def test_both_ways_give_the_same_for_tables_in_memory(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, rows = made_up(seed)
    rng = random.Random(seed)
    values: dict[str, Any] = {str(float(number)): float(number) for number in range(6)}
    values |= {"": rng.choice(("", None, float("nan"))), "2": 2}
    odd = rng.choice((True, 2**60, [3], {"a": 3}, 1.125, "\ud800", 101)) if seed % 3 == 0 else None
    table = [
        dict(zip(header, (values.get(cell, cell) for cell in row), strict=False)) for row in rows
    ]
    if odd is not None:
        rng.choice(table)[rng.choice(header)] = odd
    named: dict[str, Any] = dict(NAMED) if "ann" in header else {}
    monkeypatch.setattr(inputs, "SAMPLE", 20)

    by_column = outcome(table, **named)
    monkeypatch.setattr(reading, "rows_by_column", lambda *_arguments: [])

    assert by_column == outcome(table, **named)


RECORDS = [
    {"topic": "news", "long": "w" * 300, "doc_id": f"d{number // 3}", "system_id": f"s{number % 3}",
     "ann": 1 + number % 5, "bob": 1 + number * 7 % 5, "gpt": number % 3}
    for number in range(14)
]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({}, {}),
        ({}, {"human": ["bob", "ann"]}),
        ({"doc_id": 1.5}, {}),
        ({"system_id": 1e300}, {}),
        ({"source": 1.5, "output": 1.125}, {}),
        ({"gpt": 1.125, "topic": 2.125}, {}),
    ],
)
def test_both_ways_give_the_same_for_records(
    changed: dict[str, Any], named: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records have columns in the order of their meanings, and numbers that are no ratings."""
    table = [RECORDS[0], *(record | changed for record in RECORDS[1:])]
    if "output" in changed:
        table[0] = table[0] | {"source": "Text.", "output": "Words."}
    if {"doc_id", "system_id"} & {*changed}:
        table[2:] = RECORDS[2:]

    by_column = outcome(table, **(NAMED | named))
    monkeypatch.setattr(reading, "rows_by_column", lambda *_arguments: [])

    assert by_column == outcome(table, **(NAMED | named))


@pytest.mark.parametrize("human", [["ann", "bob"], ["bob", "ann"]])
def test_raters_of_numbered_rows_are_in_the_order_they_are_named_in(
    human: list[str], tmp_path: Path
) -> None:
    rows = [["a", str(number), "2", "0.5"] for number in range(1, 4)]
    path = written(tmp_path / "wide.csv", ("system_id", "ann", "bob", "gpt"), rows)

    result = geval.measure(path, human=human, judge="gpt", system="system_id")

    assert result.to_json().index(f'"{human[0]}"') < result.to_json().index(f'"{human[1]}"')


def batches_of(path: Path, meanings: dict[str, str]) -> list[ColumnBatch]:
    return list(column_batches(InputFile(path, path.name, meanings), DEFAULTS))


def test_a_long_table_gives_names_and_numbers_of_each_series(tmp_path: Path) -> None:
    rows = [["d1", "a", "tone", "ann", "3"], ["d1", "b ", "tone", "ann", ""],
            ["d2", "a", "tone", "bob", "2,5"], ["d2", "b", "tone", "ann", "4"]]  # fmt: skip

    (batch,) = batches_of(written(tmp_path / "long.csv", LONG, rows), {})

    assert (batch.documents, batch.systems) == (["d1", "d1", "d2", "d2"], ["a", "b", "a", "b"])
    assert batch.numbers == {("tone", "ann", False): ([0, 3], [3.0, 4.0]),
                             ("tone", "bob", False): ([2], [2.5])}  # fmt: skip


def test_a_wide_table_has_a_series_in_each_column(tmp_path: Path) -> None:
    header = (*WIDE, "hint")
    rows = [["d1", "a", "3", "", "0.5", ""], ["d2", "a", "4", "5", "4.125", "x"]]

    (batch,) = batches_of(written(tmp_path / "wide.csv", header, rows), MEANINGS)

    assert batch.numbers == {("quality", "ann", False): ([0, 1], [3.0, 4.0]),
                             ("quality", "bob", False): ([1], [5.0]),
                             ("quality", "gpt", True): ([0, 1], [0.5, 4.125])}  # fmt: skip
    assert batch.unused == {("wide.csv", "hint"): 1}


PLAIN = {"doc_id": "d1", "system_id": "a", "source": "Text.", "output": "Words.",
         "metadata.topic": "news", "ann": "3", "bob": "4", "gpt": "0.5"}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "is_plain"),
    [
        ({}, True),
        ({"gpt": "NA"}, True),
        ({"gpt": "n/a"}, False),
        ({"gpt": "1.250"}, True),
        ({"gpt": "1.250", "ann": "250"}, False),
        ({"gpt": "good"}, False),
        ({"gpt": "4/5"}, False),
        ({"gpt": "inf"}, False),
        ({"doc_id": ""}, False),
        ({"doc_id": "d" * 201}, False),
        ({"doc_id": "d\0"}, False),
        ({"output": ""}, False),
        ({"output": " "}, True),
        ({"source": " "}, False),
        ({"output": "a\0b"}, False),
        ({"output": "x" * 32_767}, False),
        ({"metadata.topic": "x" * 1001}, False),
        ({"metadata.group": "a"}, False),
        ({"session_id": "a"}, False),
        ({"context": "a"}, False),
        ({"annotator": "ann"}, False),
        ({'ratings["","cyd"]': "3"}, False),
        ({'ratings["tone","#"]': "3"}, False),
        ({'ratings["tone","mean"]': "3"}, False),
        ({'ratings["tone","\u00e9"]': "3", 'ratings["tone","e\u0301"]': ""}, False),
    ],
)
def test_what_is_odd_is_left_to_reading_by_row(
    changed: dict[str, str], is_plain: bool, tmp_path: Path
) -> None:
    record = {CELLS.get(name, name): cell for name, cell in (PLAIN | changed).items()}
    path = written(tmp_path / "table.csv", tuple(record), [list(record.values())])

    if is_plain:
        assert batches_of(path, {})
    else:
        with pytest.raises(OddError):
            batches_of(path, {})


@pytest.mark.parametrize("name", ["comment", "probability", "session_id", "group", "winner"])
def test_a_long_table_that_has_more_is_odd(name: str, tmp_path: Path) -> None:
    path = written(
        tmp_path / "long.csv", (*LONG, name, "system_a"), [["d", "a", "tone", "ann", "3", "1", "b"]]
    )

    with pytest.raises(OddError):
        batches_of(path, {})


@pytest.mark.parametrize("last", ["d9,a,3", "d9,a,3,4,5,6", 'd9,"a"x,3,4,5'])
def test_a_broken_last_line_is_odd(last: str, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(WIDE), "d1,a,3,4,5", last]))

    with pytest.raises(OddError):
        batches_of(path, MEANINGS)


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_a_plain_table_is_not_read_by_row(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, rows = made_up(seed, most_odd=0)
    path = written(tmp_path / "table.csv", header, rows)
    monkeypatch.setattr(reading, "read_apart", None)

    named = NAMED if "ann" in header else {}
    assert geval.measure(path, ask=lambda question: question.choices[0], **named).criteria


@pytest.mark.parametrize("seed", [2, 5])
def test_a_plain_table_in_memory_is_not_written_to_a_file(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    header, rows = made_up(seed, most_odd=0)
    table = [dict(zip(header, row, strict=True)) for row in rows]
    monkeypatch.setattr(inputs, "SAMPLE", 20)
    monkeypatch.setattr(inputs.TableInput, "write_all", None)

    named = NAMED if "ann" in header else {}
    assert geval.measure(table, ask=lambda question: question.choices[0], **named).criteria


def test_a_table_that_is_odd_at_its_end_is_not_read_by_column(tmp_path: Path) -> None:
    """Its other lines have arrived by then."""
    rows = [[f"d{number}", "s", "1", "2", "3"] for number in range(30_000)]
    rows.append(["d", "s", "good", "2", "3"])
    file = InputFile(written(tmp_path / "table.csv", WIDE, rows), "table.csv", MEANINGS)

    with pytest.raises(ReadingError, match="no plain table"):
        list(columns_apart(file, DEFAULTS))
    assert rows_by_column(columns_apart(file, DEFAULTS), lambda _: None, Unused()) == []
