"""`apply`, `diff` and `export_project` with `--site`, over the network to a served site."""

from collections.abc import Callable
from pathlib import Path

import pytest

from annotations.models import Campaign
from evaluations.models import AuditEntry, Project
from geval.command_line import main
from tests.project_files.conftest import WHOLE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(site_address: str, capsys: pytest.CaptureFixture[str]) -> Command:
    """`command("apply", path)`: the exit code, and what is printed and written as an error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "--site", site_address])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_a_project_on_a_site_becomes_what_its_file_says_and_is_written_again(
    command: Command, in_file: Callable[[str], str], small_project: Project, tmp_path: Path
) -> None:
    path, exported = in_file(WHOLE), str(tmp_path / "exported.yaml")

    before = command("diff", path)
    applied = command("apply", path)
    after = command("diff", path)
    again = command("apply", path)
    written = command("export_project", "small", exported, "--as", "yaml")
    same = command("diff", exported)

    assert before[0] == 1
    assert "+ judge overlap" in before[1]
    assert applied[0] == 0, applied
    assert "created campaign First round, a draft" in applied[1]
    assert (after[0], again[0], written[0], same[0]) == (0, 0, 0, 0)
    assert "nothing was changed" in again[1]
    small_project.refresh_from_db()
    assert small_project.name == "Ferry summaries"
    assert len(Campaign.objects.get().gold) == 2
    entries = AuditEntry.objects.all()
    assert {(entry.user_name, entry.by_api) for entry in entries} == {("olga", True)}
    assert "api:make_judge" in {entry.action for entry in entries}


def test_a_token_that_is_wrong_or_a_site_that_is_away_is_said(
    command: Command,
    in_file: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = in_file("project: small\n")
    monkeypatch.setenv("GEVAL_TOKEN", "geval_wrong")
    refused = command("diff", path)
    monkeypatch.setattr("geval.client.requests.ATTEMPTS", 1)
    away = main(["diff", path, "--site", "http://127.0.0.1:9"])

    assert refused[0] == 2
    assert "401 Not signed in" in refused[2]
    assert away == 2
    assert "refused" in capsys.readouterr().err
