"""`geval.improve` finds and proves what a site does, to the last digit, from the same files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import geval
from assurance.improving.certificate import candidate_json, search_json, sentence_of
from assurance.improving.looking import look
from assurance.improving.work import request_search, work_on_search
from evaluations.corpus.store import LoadResult
from evaluations.models import Criterion, Judge, LockedDocuments, Project
from evaluations.models.improving import FREE_CHANGES

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["documents", "turns of sessions", "pass or fail"])
def rated_project(
    request: pytest.FixtureRequest, rated_project: Project, load: Callable[..., LoadResult],
    tmp_path: Path,
) -> Project:  # fmt: skip
    """Also with documents that are turns of sessions, which are locked together, and with verdicts
    in place of ratings and scores."""
    if request.param == "documents":
        return rated_project
    if request.param == "pass or fail":
        for name in ("ratings.csv", "scores.csv"):
            header, *lines = (tmp_path / name).read_text().splitlines()
            cut = [line.rpartition(",") for line in lines]
            verdicts = [f"{about},{float(value) >= 3:d}" for about, _comma, value in cut]
            (tmp_path / name).write_text("\n".join([header, *verdicts]))
        files = {
            f"{name}.csv": (tmp_path / f"{name}.csv").read_text()
            for name in ("outputs", "ratings", "scores")
        }
        verdicts_of = Project.objects.create(slug="verdicts", name="Verdicts")
        load(verdicts_of, files)
        return verdicts_of
    header, *lines = (tmp_path / "outputs.csv").read_text().splitlines()
    files = {name: (tmp_path / name).read_text() for name in ("ratings.csv", "scores.csv")}
    turns = [f"{line},t{int(line[1 : line.index(',')]) % 45}" for line in lines]
    sessions = Project.objects.create(slug="sessions", name="Sessions")
    load(sessions, {"outputs.csv": "\n".join([f"{header},session_id", *turns]), **files})
    return sessions


def rounded(content: object) -> object:
    """Without the last digits, which the order of a sum may change in a panel's weights."""
    return json.loads(json.dumps(content), parse_float=lambda written: round(float(written), 9))


@pytest.mark.parametrize("name", ["today", "noise"])
@pytest.mark.parametrize("change", FREE_CHANGES)
def test_both_propose_the_same_changes_and_prove_the_same_gains(
    tmp_path: Path, judge: Judge, criterion: Criterion, locked: LockedDocuments, name: str,
    change: str,
) -> None:  # fmt: skip
    search = request_search(judge.project.judges.get(name=name), criterion, list(FREE_CHANGES))
    work_on_search(search.pk)
    search.refresh_from_db()
    candidate = search.candidates.filter(change=change).first()
    if candidate is not None:
        look(candidate)
    candidates = list(search.candidates.order_by("pk"))
    draw = {"share": locked.share, "seed": locked.seed, "looks_allowed": 2, "locked_at": ""}
    (tmp_path / "locked.jsonl").write_text(json.dumps(draw) + "\n")

    files = [tmp_path / f"{file}.csv" for file in ("outputs", "ratings", "scores")]
    result = geval.improve(files, judge=name, locked=tmp_path)
    if candidate is not None:
        result = result.prove(change)

    library, site = result.to_dict(), search_json(search)
    for figure in ("judge", "criterion", "training", "locked", "today", "left_out",
                   "smallest_gain", "wanted_gain", "locked_for_wanted"):  # fmt: skip
        assert library[figure] == site[figure]
    assert library["not_tried"].items() <= site["not_tried"].items()
    assert len(library["candidates"]) == len(candidates)
    for own, row in zip(library["candidates"], candidates, strict=True):
        theirs = candidate_json(row)
        assert {key: rounded(own[key]) for key in own if key != "look"} == {
            key: rounded(theirs[key]) for key in own if key != "look"
        }
        if theirs["look"] is None:
            assert own["look"] is None
        else:
            taken = own["look"]
            assert [taken["low"], taken["high"]] == theirs["look"]["interval"]
            for figure in ("outcome", "documents", "today", "gain", "confidence",
                           "constant"):  # fmt: skip
                assert taken[figure] == theirs["look"][figure]
        assert sentence_of(row) in str(result)
