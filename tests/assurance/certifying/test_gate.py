"""`certify` answers a pipeline with its exit code, and writes a certificate; `verify` holds it
against the project."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from assurance.certifying.sealed import fingerprint
from evaluations.corpus.store import LoadResult
from evaluations.models import Certificate, Project
from evaluations.models.sealing import public_key

pytestmark = pytest.mark.django_db


def run(command: str, *arguments: str) -> tuple[int, str]:
    """The exit code and what was printed."""
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(command, *arguments, stdout=out)
    assert isinstance(ended.value.code, int)
    return ended.value.code, out.getvalue()


def certify(
    *requirements: str, judge: str = "today", more: tuple[str, ...] = ()
) -> tuple[int, str]:
    each = [f"--require={one}" for one in requirements]
    return run("certify", "small", "--judge", judge, "--criterion", "quality", *each, *more)


@pytest.fixture
def certificate(rated_project: Project, tmp_path: Path) -> Path:
    path = tmp_path / "certificate.json"
    assert certify("spearman.summary.low>=0.3", more=("--out", str(path)))[0] == 0
    return path


@pytest.mark.usefixtures("rated_project")
def test_a_good_judge_meets_a_bound_that_it_keeps() -> None:
    code, said = certify("spearman.summary.low>=0.3", "documents>=60")

    assert code == 0
    assert "spearman.summary.low>=0.3: met; it is 0." in said
    assert "documents>=60: met; it is 60." in said


@pytest.mark.usefixtures("rated_project")
def test_a_judge_of_noise_does_not_meet_it() -> None:
    code, said = certify("spearman.summary.low>=0.3", judge="noise")

    assert code == 1
    assert "not met" in said
    assert "the estimate itself is" in said


@pytest.mark.usefixtures("rated_project")
def test_an_error_has_an_exit_code_of_its_own() -> None:
    with pytest.raises(CommandError, match="has no criterion 'speed'") as ended:
        call_command("certify", "small", judge="today", criterion="speed", require=["documents>=1"])
    assert ended.value.returncode == 3

    with pytest.raises(CommandError, match="needs a bound") as ended:
        certify("documents")
    assert ended.value.returncode == 3


def test_a_certificate_says_what_it_is_bound_to(certificate: Path) -> None:
    content = json.loads(certificate.read_text())

    assert content == Certificate.objects.get().content
    assert content["outcome"] == "met"
    bound = content["bound_to"]
    assert (bound["texts"]["count"], bound["ratings"]["count"]) == (300, 900)
    assert bound["scores"]["digest"].startswith("sha256:")
    assert content["public_key"] == public_key()


def test_a_fresh_certificate_is_genuine_and_fits(certificate: Path) -> None:
    code, said = run("verify", str(certificate))

    assert code == 0
    assert "Genuine, and it still fits." in said


def test_after_new_ratings_it_no_longer_fits(
    certificate: Path, project: Project, load: Callable[..., LoadResult]
) -> None:
    row = "d1,s1,quality,dora,5\n"
    load(project, {"more.csv": "doc_id,system_id,criterion,annotator,score\n" + row})

    code, said = run("verify", str(certificate))

    assert code == 1
    assert "The ratings changed: 900 then, 901 now." in said
    assert "scores" not in said


def edited(path: Path, **changed: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def test_an_edited_certificate_is_refused(rated_project: Project, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    assert certify("documents>=1000", more=("--out", str(path)))[0] == 1
    edited(path, outcome="met")

    code, said = run("verify", str(path))

    assert code == 1
    assert "changed after it was signed" in said


def test_a_certificate_of_another_site_is_refused_unless_its_key_is_trusted(
    certificate: Path, settings: Any
) -> None:
    theirs = public_key()
    settings.SECRET_KEY = "another site's"

    _code, said = run("verify", str(certificate))
    assert f"signed by another site, key {fingerprint(theirs)}" in said
    assert run("verify", str(certificate), "--key", theirs)[0] == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not JSON"),
        ("[]", "is not a certificate"),
        ('{"format": "geval-certificate/1"}', "has no project"),
        ("{" * 10, "is not JSON"),
    ],
)
def test_what_is_no_certificate_is_an_error(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(content)

    with pytest.raises(CommandError, match=said):
        call_command("verify", str(path))
