"""What files say twice counts once, as on a site; where they contradict themselves, or a scale, the
error says so."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import geval
from evaluations.corpus.store import load_files
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.command_line import main
from geval.files.readers import InputFile
from geval.files.rows import LoadError
from geval.reports.downloads.report_json import as_json

Rows = list[dict[str, Any]]
OUTPUTS: Rows = [
    {"doc_id": f"d{d}", "system_id": f"s{s}", "source": f"Source {d}.", "output": f"Text {d} {s}."}
    for d in range(12)
    for s in range(3)
]
RATINGS: Rows = [
    {
        "doc_id": f"d{d}", "system_id": f"s{s}", "annotator": rater, "criterion": "clarity",
        "score": 1 + (d * s + len(rater)) % 5,
    }
    for d in range(12) for s in range(3) for rater in ("ann", "boris")
]  # fmt: skip
SCORES: Rows = [
    {"doc_id": f"d{d}", "system_id": f"s{s}", "judge": "gpt", "criterion": "clarity",
     "score": 1 + s}
    for d in range(12) for s in range(3)
]  # fmt: skip
CHOICE = {"doc_id": "d0", "system_a": "s0", "system_b": "s1", "annotator": "ann", "winner": "a"}
VERDICT = {"doc_id": "d0", "system_a": "s0", "system_b": "s1", "judge": "gpt", "winner": "a"}
REPLIES = {
    "doc_id": "d0", "system_id": "s0", "scores": {"clarity": 4}, "all_responses": ["5"],
}  # fmt: skip


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., list[Path]]:
    def write(**files: Rows) -> list[Path]:
        paths = []
        for name, rows in files.items():
            paths.append(tmp_path / f"{name}.jsonl")
            paths[-1].write_text("\n".join(json.dumps(row) for row in rows))
        return paths

    return write


def whole(**more: Rows) -> dict[str, Rows]:
    return {"outputs": OUTPUTS, "ratings": RATINGS, "scores": SCORES} | more


@pytest.mark.parametrize(
    "again",
    [
        {"again": [RATINGS[0], RATINGS[5]]},
        {"again": [SCORES[0]]},
        {"again": [SCORES[0] | {"score": 1 + 1e-12}]},
        {"again": OUTPUTS[:2]},
        {"again": [CHOICE, CHOICE]},
    ],
)
@pytest.mark.django_db
def test_what_is_said_again_counts_once_as_on_a_site(
    project: Project, write: Callable[..., list[Path]], again: dict[str, Rows]
) -> None:
    files = write(**whole(**again))
    load_files(project, [InputFile(path, path.name) for path in files])

    measured = geval.measure(files).to_dict()

    assert measured | {"project": project.slug} == json.loads(as_json(build_report(project)))


@pytest.mark.parametrize(
    ("again", "message"),
    [
        ([RATINGS[0] | {"score": 5}], "score: score 5 contradicts 4"),
        ([SCORES[0] | {"score": 1 + 1e-8}], "score: score 1.00000001 contradicts 1"),
        ([OUTPUTS[0] | {"output": "Other."}], "output: system s0 has a different output for"),
        ([CHOICE, CHOICE | {"winner": "b"}], "winner: contradicts this annotator's existing pref"),
        ([VERDICT, VERDICT | {"winner": "b"}], "winner: contradicts another row about these two"),
        ([REPLIES, REPLIES | {"all_responses": ["2"]}], "this output already has different repl"),
    ],
)
@pytest.mark.django_db
def test_contradictions_are_the_same_errors_as_on_a_site(
    project: Project, write: Callable[..., list[Path]], again: Rows, message: str
) -> None:
    rows = whole(again=again)
    if "all_responses" in again[0]:
        del rows["scores"]
    files = write(**rows)

    with pytest.raises(geval.InputError) as refused:
        geval.measure(files)
    with pytest.raises(LoadError) as on_a_site:
        load_files(project, [InputFile(path, path.name) for path in files])

    errors = [str(error) for error in (refused.value, *on_a_site.value.errors)]
    assert all(error.startswith(f"again.jsonl:{len(again)}: ") for error in errors)
    assert all(message in error for error in errors)


def test_replies_that_are_said_again_count_once(write: Callable[..., list[Path]]) -> None:
    replies = [REPLIES | {"all_responses": ["5", "none"]}]
    result = geval.measure(write(outputs=OUTPUTS, ratings=RATINGS, a=replies, b=replies))

    (note,) = (note for note in result.notes if "replies of" in note)
    assert note.startswith("1 of 2 replies of judge")
    assert note.endswith(" contains no rating: “none”")


def test_a_missing_name_of_the_system_is_named_where_outputs_contradict_each_other(
    write: Callable[..., list[Path]],
) -> None:
    rows = [
        {"doc": f"d{d}", "writer": f"s{s}", "output": f"Text {d} {s}.", "ann": 1 + s, "gpt": 3 - s}
        for d in range(9)
        for s in range(3)
    ]
    named = {"human": "ann", "judge": "gpt", "document": "doc"}

    with pytest.raises(geval.InputError, match="tell them apart: document=… and system=…"):
        geval.measure(rows, **named)
    assert geval.measure(rows, **named, system="writer").criteria


def test_replies_that_contradict_a_score_are_an_error(write: Callable[..., list[Path]]) -> None:
    def measure(reply: str) -> geval.Measurement:
        replies = [REPLIES | {"all_responses": [reply]}]
        return geval.measure(write(**whole(gpt=replies)), judge="gpt")

    assert measure("1").criteria[0].criterion == "clarity"
    with pytest.raises(geval.InputError, match="Replies of gpt to the output of s0 for d0"):
        measure("5")


def test_a_rating_outside_the_scale_that_was_said_is_an_error(
    write: Callable[..., list[Path]],
) -> None:
    files = write(**whole())

    assert geval.measure(files, scale=(1, 5)).criteria
    assert geval.measure(files, scale={"Clarity": (1, 5, 0.5)}).criteria
    with pytest.raises(geval.InputError, match="score 5 is outside clarity's scale 1-4"):
        geval.measure(files, scale=(1, 4))
    with pytest.raises(geval.InputError, match="There is no criterion 'charity' to have a scale"):
        geval.measure(files, scale={"charity": (1, 5)})
    with pytest.raises(geval.InputError, match="a scale needs lowest < highest"):
        geval.measure(files, scale=(5, 1))
    for odd in ((1,), (1, 5, 1, 1), ("a", 5)):
        with pytest.raises(geval.InputError, match="and perhaps the step, not"):
            geval.measure(files, scale=odd)  # type: ignore[arg-type]


def test_a_rating_off_the_scale_of_the_others_is_noted(write: Callable[..., list[Path]]) -> None:
    many = [row | {"doc_id": f"{row['doc_id']}-{n}"} for n in range(5) for row in RATINGS]
    stray = {**RATINGS[0], "annotator": "carla", "score": 44}
    files = write(ratings=[*many, stray], scores=SCORES)

    result = geval.measure(files)

    (note,) = (note for note in result.notes if "44 is off 1-5" in note)
    assert "other 360 ratings of clarity" in note
    assert note.endswith("scale 0-100")
    assert not any("is off" in note for note in geval.measure(files, scale=(1, 44)).notes)


def test_what_is_not_used_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    rows = [f"d{n},{n % 5 + 1},{(n + 1) % 5 + 1},{n % 3 + 1},fine\n" for n in range(12)]
    table.write_text("doc,ann,gpt,claude,remark\n" + "".join(rows))
    names = ["--human", "ann", "--judge", "gpt", "--document", "doc"]

    result = geval.measure(table, human="ann", judge="gpt", document="doc")
    main(["check", str(table), *names, "--json"])

    assert "Not used in table.csv (rows): claude (12), remark (12)." in result.notes
    assert "unused" not in result.to_dict()
    unused = json.loads(capsys.readouterr().out)["unused"]
    assert {each["column"] for each in unused} == {"claude", "remark"}
