"""`geval.measure` reads files and tables as they come, and says what to pass where it cannot."""

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import geval
from geval.reports.verdicts.verdict import Verdict
from tests.measuring.conftest import made_up

Records = list[dict[str, Any]]


@pytest.fixture
def wide() -> Records:
    """A row for each output, with a column for each person and judge."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    content = made_up(1)
    for name, rater in (("ratings.csv", "annotator"), ("scores.csv", "judge")):
        for row in csv.DictReader(io.StringIO(content[name])):
            if row["criterion"] == "coherence":
                key = (row["doc_id"], row["system_id"])
                record = rows.setdefault(key, {"article": key[0], "writer": key[1]})
                record[row[rater]] = float(row["score"])
    return list(rows.values())


NAMED = {"human": ["ann", "bob", "cyd"], "judge": ["near", "far"], "document": "article",
         "system": "writer", "criterion": "coherence"}  # fmt: skip


class Frame:
    """A data frame as polars has it: its rows by `to_dicts`."""

    def __init__(self, records: Records) -> None:
        self.records = records

    def to_dicts(self) -> Records:
        return self.records


class PandasLike(Frame):
    """A data frame as pandas has it: `columns`, and its rows by `to_dict("records")`. With pandas
    itself: test_habits_of_pandas.py."""

    columns = ("article",)
    index = SimpleNamespace(names=[None])

    def to_dict(self, orient: str) -> Records:
        assert orient == "records"
        return self.records

    def reset_index(self, _names: list[str]) -> "PandasLike":
        return self

    def set_axis(self, _names: list[str], axis: str) -> "PandasLike":
        return self

    def __getattribute__(self, name: str) -> Any:
        if name == "to_dicts":
            raise AttributeError(name)
        return super().__getattribute__(name)


def test_a_table_a_frame_and_files_give_the_same_numbers(wide: Records, files: list[Path]) -> None:
    expected = next(
        measure for measure in geval.measure(files).criteria if measure.criterion == "coherence"
    )
    names = ("article", "writer", *NAMED["human"], *NAMED["judge"])
    arrow = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in wide])

    for source in (wide, arrow, Frame(wide), PandasLike(wide)):
        (measured,) = geval.measure(source, **NAMED).criteria
        assert measured.judge == "near"
        assert measured.rho == pytest.approx(expected.rho, abs=1e-12)
        assert measured.interval == pytest.approx(expected.interval, abs=1e-12)
        assert measured.raters == 3


def test_the_largest_disagreements_come_with_their_texts(files: list[Path]) -> None:
    gaps = geval.measure(files).disagreements(2, criterion="Coherence", judge="near")

    assert [gap.judge for gap in gaps] == ["near", "near"]
    assert abs(gaps[0].gap) >= abs(gaps[1].gap) > 0.5
    assert gaps[0].gap == pytest.approx(gaps[0].score - gaps[0].people)
    assert gaps[0].text.startswith("word ")


def test_people_and_judges_can_be_chosen_by_name_in_long_files(files: list[Path]) -> None:
    (measured, _fluency) = geval.measure(files, human=["ann", "bob"], judge="far").criteria

    assert (measured.raters, measured.verdict) == (2, Verdict.KEEP_EXPERT)
    assert {record["judge"] for record in geval.measure(files, judge="far").to_records()} == {"far"}


@pytest.mark.parametrize(
    ("human", "judge", "raters", "judges"),
    [
        ("Maria", ["gpt-4o", "Robo"], 1, {"gpt-4o", "Robo"}),
        ("Maria", "gpt-4o", 1, {"gpt-4o"}),
        (None, "Robo", 1, {"Robo"}),
        ("Maria", None, 1, {"gpt-4o"}),
    ],
)
def test_judges_among_the_raters_of_a_column_are_named(
    human: str | None, judge: str | list[str] | None, raters: int, judges: set[str]
) -> None:
    table = [
        {
            "Ticket": f"T-{n:03}",
            "Customer question": f"How do I do the thing of kind {n % 3}?",
            "Agent reply": f"Dear customer {n}, open the settings and choose option {n}, please.",
            "Rater": rater,
            "Rating": "Fail " if (n + shift) % 4 == 0 else "PASS",
        }
        for n in range(40)
        for rater, shift in (("Maria", 0), ("gpt-4o", n % 9 == 0), ("Robo", 1))
    ]

    (criterion,) = geval.measure(table, human=human, judge=judge).report.criteria

    assert len(criterion.annotators) == raters
    assert {each.judge for each in criterion.judges} == judges
    assert criterion.rated_outputs == 40


def test_rows_without_a_document_are_documents_and_the_level_follows(wide: Records) -> None:
    plain = [{name: row[name] for name in ("ann", "near") if name in row} for row in wide]

    result = geval.measure(plain, human="ann", judge="near")

    assert result.report.options.level == "dataset"
    assert result.criteria[0].outputs == sum("ann" in row for row in wide)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nowhere.csv", "There is no file nowhere.csv."),
        ([], "The table has no rows."),
        (3, "int is no table. Pass a file, a data frame"),
        ([1, 2], "list is no table."),
    ],
)
def test_what_cannot_be_read_says_what_to_pass(source: Any, message: str) -> None:
    with pytest.raises(geval.InputError) as caught:
        geval.measure(source)

    assert message in str(caught.value)


def test_errors_of_files_are_listed_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("doc_id,system_id,criterion,annotator,score\n" + "d,s,c,ann,high\n" * 7)

    with pytest.raises(geval.InputError) as caught:
        geval.measure(path)

    lines = str(caught.value).splitlines()
    assert lines[0].startswith("ratings.csv:2: score:")
    assert lines[-2] == "… and 2 more"
    assert "order=[" in lines[-1]


def test_names_cannot_break_out_of_the_html(wide: Records) -> None:
    for row in wide:
        row["<script>"] = row.pop("near", 3.0)

    result = geval.measure(wide, **NAMED | {"judge": "<script>"})

    assert "<script>" not in result._repr_html_() + result.plot().svg


def test_without_texts_length_is_no_judge_and_the_result_says_so(
    wide: Records, files: list[Path]
) -> None:
    without, with_texts = geval.measure(wide, **NAMED), geval.measure(files)

    assert "length" not in [null.name for null in without.report.criteria[0].nulls]
    assert "length" in [null.name for null in with_texts.report.criteria[0].nulls]
    assert "whether length alone would do" in str(without)
    assert "as well was not tried" in str(without)
    assert "not tried" not in str(with_texts)
    verdicts = {each.criterion: each.verdict for each in with_texts.criteria}
    assert without.criteria[0].verdict == verdicts["coherence"]


def test_errors_name_the_lines_of_the_file_also_where_rows_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text('doc,ann,gpt\na,1,2\n"b\nc",x,2\nd,y,3\n')

    with pytest.raises(geval.InputError) as refused:
        geval.measure(path, human="ann", judge="gpt", document="doc")

    lines = str(refused.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == ["ratings.csv:3", "ratings.csv:5"]


def raw_replies(criterion: str, *, documents: int = 30) -> list[dict[str, Any]]:
    """A judge's replies about the outputs of `made_up`, of which every second has no rating."""
    return [
        {"doc_id": f"d{document}", "system_id": f"s{system}", "judge": "raw",
         "criterion": criterion, "all_responses": ["Hm." if document % 2 else f"{1 + system}"]}
        for document in range(documents)
        for system in range(4)
    ]  # fmt: skip


def test_replies_without_a_rating_are_counted_and_said(files: list[Path]) -> None:
    path = files[0].with_name("replies.jsonl")
    replies = raw_replies("fluency")
    replies[0]["all_responses"] = ["2", "Hm."]
    path.write_text("\n".join(map(json.dumps, replies)))

    result = geval.measure([*files, path])

    (note,) = (note for note in result.notes if "replies" in note)
    assert note.startswith("61 of 121 replies of raw")
    assert " on fluency have no rating: " in note
    assert not note.endswith(": ")
    assert f"\n{note}\n" in str(result)
    without_ratings = geval.measure(path, scale=(1, 5))
    assert "61 of 121 replies of raw" in str(without_ratings)
    assert not any("replies" in note for note in geval.measure(files).notes)
