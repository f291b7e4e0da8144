"""`manage.py load`: counts, errors with exit code 1, a project of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from evaluations.models import CandidateOutput, Membership, Project
from geval.files.fields import not_a_number
from tests.conftest import OUTPUTS, RATINGS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
Manage = Callable[..., CompletedProcess[str]]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "out puts.jsonl", tmp_path / "ratings.csv"]
    for path, content in zip(paths, (OUTPUTS, RATINGS), strict=True):
        path.write_text(content)
    return [str(path) for path in paths]


def test_a_project_is_made_and_its_files_are_counted(
    manage: Manage, files: list[str], admin_user: object
) -> None:
    done = manage("load", "ferry-times", *files)

    assert done.returncode == 0, done.stderr
    assert "6 new, 0 unchanged" in done.stdout
    project = Project.objects.get(slug="ferry-times")
    assert project.name == "Ferry times"
    assert Membership.objects.get(project=project).role == "owner"


@pytest.mark.parametrize("as_json", [True, False])
def test_errors_end_with_code_1_and_leave_no_project(
    manage: Manage, files: list[str], tmp_path: Path, *, as_json: bool
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text(
        "doc_id,system_id,criterion,annotator,score\nd1,good,coherence,ann,four\nd1,none,coherence,ann,4\n"
    )

    done = manage("load", "p", *files, str(bad), *(["--json"] if as_json else []))

    assert done.returncode == 1
    if as_json:
        said = json.loads(done.stdout)
        assert (said["ok"], said["total_errors"]) == (False, 2)
        assert said["errors"][0] == {
            "file": str(bad),
            "line": 2,
            "column": "score",
            "message": not_a_number("four"),
        }
    else:
        assert f"{bad}:2: score: expected a number, found 'four'" in done.stderr
        assert "2 errors; nothing was loaded." in done.stderr
    assert not Project.objects.exists()
    assert not CandidateOutput.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["p", "/nowhere/file.csv"], "no such file"),
        (["bad slug", __file__], "cannot be a project's short name"),
        (["p", __file__, "--owner", "nobody"], "There is no user 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    manage: Manage, arguments: list[str], said: str
) -> None:
    done = manage("load", *arguments)

    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


FOREIGN = "Nr;Vorlage;Ergebnis;Modell;{}\n" + "".join(
    f"{n // 2};Die Fähre {n // 2} fährt seit dem Morgen wieder nach Sandvik.;Satz {n} über die"
    f" Fähre von Modell {n % 2}, ein ganzer.;m{n % 2};{1 + n % 5};{1 + (n + 2) % 5}\n"
    for n in range(10)
)


def test_a_dry_run_says_what_would_exist(manage: Manage, tmp_path: Path) -> None:
    path = tmp_path / "foreign.csv"
    path.write_text(FOREIGN.format("Kohaerenz_Anna;Kohaerenz_gpt-4o"))

    done = manage("load", "p", str(path), "--dry-run")

    assert done.returncode == 0, done.stderr
    for line in (
        "new criterion Kohaerenz: scale 1-5, 10 ratings, 10 scores",
        "set it: --scale Kohaerenz=1-5",
        "raters: Anna (10)",
        "judges: gpt-4o (10)",
        "systems: m0 (5), m1 (5)",
        "Kohaerenz 1 by Anna, Kohaerenz 3 by gpt-4o",
        "Dry run: nothing was written.",
    ):
        assert line in done.stdout
    assert not Project.objects.exists()


def test_an_unclear_file_is_asked_about_and_the_answer_remembered(
    manage: Manage, tmp_path: Path
) -> None:
    path = tmp_path / "foreign.csv"
    path.write_text(FOREIGN.format("Anna;Bert"))
    asked = manage("load", "p", str(path))
    assert asked.returncode == 1
    assert "Which criterion did “Anna” and “Bert” rate?" in asked.stderr
    assert """--columns 'Anna=ratings["overall","Anna"]'""" in asked.stderr
    assert not Project.objects.exists()

    answer = [f'{name}=ratings["quality","{name}"]' for name in ("Anna", "Bert")]
    done = manage("load", "p", str(path), "--columns", answer[0], "--columns", answer[1])

    assert done.returncode == 0, done.stderr
    assert "20 new" in done.stdout
    assert "20 unchanged" in manage("load", "p", str(path)).stdout


def test_stray_values_are_errors_and_can_be_kept_aside(manage: Manage, tmp_path: Path) -> None:
    path, aside = tmp_path / "foreign.csv", tmp_path / "aside.csv"
    text = FOREIGN.format("Kohaerenz_Anna;Kohaerenz_Bert")
    path.write_text(text[: text.rindex(";")] + ";9\n")

    refused = manage("load", "p", str(path))
    assert refused.returncode == 1
    assert f"{path}:11: Kohaerenz_Bert: 9 is off 1-5" in refused.stderr
    assert "--scale Kohaerenz=1-10" in refused.stderr

    done = manage("load", "p", str(path), "--keep-errors", str(aside))
    assert done.returncode == 0, done.stderr
    assert CandidateOutput.objects.count() == 10
    assert "Kohaerenz_Bert: 9 is off 1-5" in aside.read_text()
