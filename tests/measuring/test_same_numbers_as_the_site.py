"""`geval.measure` gives the numbers of the site, to the last digit, from the same files."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import geval
from evaluations.corpus.store import load_files
from evaluations.models import Project
from evaluations.reports.ratings.exports import as_csv
from evaluations.reports.report import build_report
from geval.files.readers import InputFile
from geval.reports.downloads.report_json import as_json
from geval.reports.options import ReportOptions
from tests.measuring.conftest import made_up, written

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("seed", "documents", "systems", "level"),
    [(1, 30, 4, "summary"), (2, 12, 3, "system"), (3, 25, 1, "dataset"), (4, 3, 2, "summary")],
)
def test_a_report_of_the_same_files_is_the_same(
    project: Project, tmp_path: Path, seed: int, documents: int, systems: int, level: str
) -> None:
    files = written(tmp_path, made_up(seed, documents=documents, systems=systems))
    load_files(project, [InputFile(path, path.name) for path in files])
    site = json.loads(as_json(build_report(project, options=ReportOptions(level=level))))  # type: ignore[arg-type]

    measured = geval.measure(files, level=level).to_dict()  # type: ignore[arg-type]

    assert measured | {"project": project.slug} == site


def sampled(content: dict[str, str], *, with_top: bool) -> dict[str, str]:
    """Files whose ratings state with which probability their output was chosen: half of the
    documents with a probability of a quarter, and perhaps some outputs that were only picked."""
    header, *lines = content["ratings.csv"].splitlines()
    stated = [f"{header},probability"]
    for line in lines:
        document, system = line.split(",")[:2]
        share = 1 if int(document[1:]) % 2 else 0.25
        stated.append(f"{line},{0 if with_top and system == 's2' else share}")
    return content | {"ratings.csv": "\n".join(stated)}


@pytest.mark.parametrize("with_top", [False, True])
def test_weights_of_samples_are_the_same(
    project: Project, tmp_path: Path, *, with_top: bool
) -> None:
    content = sampled(made_up(6), with_top=with_top)
    files = written(tmp_path, content)
    load_files(project, [InputFile(path, path.name) for path in files])
    site = json.loads(as_json(build_report(project)))

    measured = geval.measure(files).to_dict()

    assert measured | {"project": project.slug} == site
    plain = geval.measure(written(tmp_path, made_up(6))).to_dict()
    assert measured["criteria"] != plain["criteria"]


def test_ratings_that_a_site_exports_with_their_probabilities_give_its_numbers(
    project: Project, tmp_path: Path
) -> None:
    outputs, ratings, scores = written(tmp_path, sampled(made_up(7), with_top=True))
    files = [InputFile(path, path.name) for path in (outputs, ratings, scores)]
    load_files(project, files)
    site = json.loads(as_json(build_report(project)))
    ratings.write_text("".join(as_csv(project, "ratings")))

    measured = geval.measure([outputs, ratings, scores]).to_dict()

    assert measured | {"project": project.slug} == site


def test_probabilities_that_contradict_each_other_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(
        "doc_id,system_id,criterion,annotator,score,probability\n"
        "d,s,fluency,ann,3,0.5\nd,s,fluency,bob,4,0.25\n"
    )

    with pytest.raises(geval.InputError, match=r":3: probability: the probability 0\.25 contr"):
        geval.measure(path)


def in_sessions(content: dict[str, str], session_of: Callable[[int], str]) -> dict[str, str]:
    """Files whose documents are turns of sessions, which are split over the file."""
    header, *lines = content["outputs.csv"].splitlines()
    turns = [f"{line},{session_of(int(line[1 : line.index(',')]))}" for line in lines]
    return content | {"outputs.csv": "\n".join([f"{header},session_id", *turns])}


SESSIONS: dict[str, Callable[[int], str]] = {
    "split over the file": lambda document: f"t{document % 9}",
    "named as another document": lambda document: f"d{document % 9}",
    "one document in none": lambda document: f"t{document % 9}" if document else "",
    "all in one": lambda document: "t",
}


@pytest.mark.parametrize(
    ("sessions", "systems", "level"),
    [
        *((sessions, 3, "summary") for sessions in SESSIONS),
        ("split over the file", 1, "session"),
        ("all in one", 1, "session"),
        ("one document in none", 2, "dataset"),
    ],
)
def test_turns_of_sessions_are_taken_together_as_on_a_site(
    project: Project, tmp_path: Path, sessions: str, systems: int, level: str
) -> None:
    content = made_up(9, documents=36, systems=systems)
    if systems == 3:
        content |= {"preferences.csv": preferences(9, documents=36, systems=3)}
    files = written(tmp_path, in_sessions(content, SESSIONS[sessions]))
    load_files(project, [InputFile(path, path.name) for path in files])
    site = json.loads(as_json(build_report(project, options=ReportOptions(level=level))))  # type: ignore[arg-type]

    measured = geval.measure(files, level=level).to_dict()  # type: ignore[arg-type]

    assert measured | {"project": project.slug} == site
    assert measured["sessions"]["turns"] > 0


@pytest.mark.parametrize("stated", ["group", "names", "group and session_id"])
def test_groups_of_documents_are_left_out_as_on_a_site(
    project: Project, tmp_path: Path, stated: str
) -> None:
    content = made_up(9, documents=45, systems=3)
    if stated == "names":
        content = {
            name: re.sub(r"^d(\d+)", lambda d: f"t{int(d[1]) % 9}-{d[1]}", text, flags=re.M)
            for name, text in content.items()
        }
    else:
        header, *lines = content["outputs.csv"].splitlines()
        numbers = [int(line[1 : line.index(",")]) for line in lines]
        turns = [f",s{number // 2}" if "session" in stated else "" for number in numbers]
        rows = [f"{line},g{number // 2 % 9}{turn}"
                for line, number, turn in zip(lines, numbers, turns, strict=True)]  # fmt: skip
        header += ",group" + ",session_id" * ("session" in stated)
        content["outputs.csv"] = "\n".join([header, *rows])
    files = written(tmp_path, content)
    load_files(project, [InputFile(path, path.name) for path in files])
    site = json.loads(as_json(build_report(project)))

    measured = geval.measure(files).to_dict()

    assert measured | {"project": project.slug} == site
    assert measured["groups"] == 9


def preferences(seed: int, *, documents: int = 30, systems: int = 4) -> str:
    """Comparisons by three people, overall and on a criterion, some twice or the other way
    round."""
    rng = np.random.default_rng(seed)
    lines = ["doc_id,system_a,system_b,criterion,annotator,winner,shown_first"]
    for document in range(documents):
        for person in ("ann", "dan", "eve"):
            first, second = rng.permutation(systems)[:2]
            for criterion in ("", "coherence"):
                winner, shown = rng.choice(["a", "b", "tie"]), rng.choice(["a", "b", ""])
                lines.append(
                    f"d{document},s{first},s{second},{criterion},{person},{winner},{shown}"
                )
    return "\n".join(lines)


def test_comparisons_of_people_are_the_same(project: Project, tmp_path: Path) -> None:
    files = written(tmp_path, made_up(8) | {"preferences.csv": preferences(8)})
    load_files(project, [InputFile(path, path.name) for path in files])
    site = json.loads(as_json(build_report(project)))

    measured = geval.measure(files).to_dict()

    assert measured | {"project": project.slug} == site
    assert {*measured["comparisons"]} == {"overall", "coherence"}
    assert measured["comparisons"]["overall"]["leaderboard"]


def choices_of_judges(seed: int) -> str:
    """Choices of two judges, one of them asked in both orders, which do not always agree, and one
    of them once more with the same answer."""
    rng = np.random.default_rng(seed)
    lines = ["doc_id,system_a,system_b,criterion,judge,winner,shown_first"]
    for document in range(30):
        first, second = rng.permutation(4)[:2]
        for criterion in ("", "coherence"):
            for shown in "ab":
                winner = rng.choice(["a", "b", "tie"])
                lines.append(f"d{document},s{first},s{second},{criterion},both,{winner},{shown}")
            lines += [f"d{document},s{second},s{first},{criterion},once,{winner},"] * 2
            if document % 3 == 0:
                lines.append(f"d{document},s{first},s{second},{criterion},once,{winner},a")
    return "\n".join(lines)


def test_choices_of_judges_are_the_same(project: Project, tmp_path: Path) -> None:
    content = made_up(8) | {"preferences.csv": preferences(8), "judges.csv": choices_of_judges(9)}
    files = written(tmp_path, content)
    load_files(project, [InputFile(path, path.name) for path in files])
    site = json.loads(as_json(build_report(project)))

    measured = geval.measure(files).to_dict()

    assert measured | {"project": project.slug} == site
    pairwise = measured["comparisons"]["overall"]["pairwise_judges"]
    assert {*pairwise} == {"both", "once"}
    named = geval.measure(files, judge=["near", "once"], human=["ann", "dan"]).to_dict()
    assert {*named["comparisons"]["overall"]["pairwise_judges"]} == {"once"}
    assert named["comparisons"]["overall"]["comparisons"] < 90


def test_choices_of_a_judge_that_contradict_each_other_are_an_error(tmp_path: Path) -> None:
    files = written(tmp_path, made_up(8) | {
        "judges.csv": "doc_id,system_a,system_b,judge,winner,shown_first\n"
        "d0,s0,s1,once,a,a\nd0,s1,s0,once,a,b\n"
    })  # fmt: skip

    with pytest.raises(geval.InputError, match=":3: winner: contradicts another row"):
        geval.measure(files)


def test_raw_replies_of_a_judge_are_read_as_on_a_site(project: Project, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    replies = [
        {"doc_id": f"d{document}", "system_id": f"s{system}", "judge": "raw",
         "criterion": "fluency",
         "all_responses": [str(rng.integers(1, 6)), f"Rating: {rng.integers(1, 6)}", "Hm."]}
        for document in range(30)
        for system in range(4)
    ]  # fmt: skip
    replies[3]["all_responses"] = ["Hm."]
    content = made_up(8) | {"replies.jsonl": "\n".join(map(json.dumps, replies))}
    files = written(tmp_path, content)
    load_files(project, [InputFile(path, path.name) for path in files])
    site = json.loads(as_json(build_report(project)))

    measured = geval.measure(files).to_dict()

    assert measured | {"project": project.slug} == site
    assert "raw" in measured["criteria"]["fluency"]["judges"]


def test_on_summeval_both_are_the_same(project: Project, benchmarks: Path) -> None:
    files = [benchmarks / "summeval" / f"{name}.gz"
             for name in ("outputs.jsonl", "human_ratings.csv", "llm_scores.csv")]  # fmt: skip
    load_files(project, [InputFile(path, path.name) for path in files])

    site = json.loads(as_json(build_report(project)))

    assert geval.measure(files).to_dict() | {"project": project.slug} == site
