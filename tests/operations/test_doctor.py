"""`geval-site doctor` looks at everything, says what to do, and fails if something is wrong."""

import datetime
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, NamedTuple

import pytest
from django.core.management import call_command
from django.utils import timezone

from evaluations.judging.runs import leases
from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.starting import start_run
from evaluations.management.heartbeat import beat
from evaluations.models import Project
from evaluations.operations import doctor
from evaluations.operations.doctor import DoctorFinding, Severity
from tests.processes import free_port


def found(subject: str) -> DoctorFinding:
    return next(finding for finding in doctor.examine() if finding.subject == subject)


@pytest.mark.django_db(transaction=True)
@pytest.mark.processes
def test_a_site_that_works_has_nothing_wrong(
    manage: Callable[..., CompletedProcess[str]],
) -> None:
    beat("here:1")

    done = manage("doctor")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing is wrong." in done.stdout
    for subject in ("settings", "versions", "disk", "database", "clock", "migrations", "broker"):
        assert f"ok       {subject}" in done.stdout


@pytest.mark.django_db
def test_something_wrong_is_an_exit_code_and_advice(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.endpoints.create(name="gone", base_url=f"http://127.0.0.1:{free_port()}/v1")

    with pytest.raises(SystemExit) as ended:
        call_command("doctor")

    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "error    endpoint small/gone nothing answers at 127.0.0.1" in said
    assert "→ Start the server" in said


class Disk(NamedTuple):
    total: int
    used: int
    free: int


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("mode", "kept", "warns"),
    [
        (0o755, "secret_key", True), (0o711, "secret_key", True), (0o740, "postgres", True),
        (0o710, "secret_key", False), (0o700, "postgres", False), (0o755, "temporary", False),
    ],
)  # fmt: skip
def test_a_data_folder_that_others_may_enter(
    tmp_path: Path, settings: Any, mode: int, kept: str, warns: bool
) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / kept).mkdir()
    tmp_path.chmod(mode)

    seen = list(doctor.open_folder_findings())

    assert [finding.severity for finding in seen] == [Severity.WARNING] * warns


def test_a_disk_that_is_nearly_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: Disk(2**40, 2**40, 2**20))

    assert found("disk").severity == Severity.ERROR


@pytest.mark.django_db
def test_a_clock_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime.datetime:
            return timezone.now() - datetime.timedelta(seconds=90)

    monkeypatch.setattr(doctor.datetime, "datetime", Late)

    clock = found("clock")

    assert clock.severity == Severity.ERROR
    assert clock.seen.startswith("-90")


@pytest.mark.django_db
@pytest.mark.parametrize(("production", "severity"), [(True, "error"), (False, "warning")])
def test_without_a_worker_only_a_production_site_is_wrong(
    settings: Any, production: bool, severity: str
) -> None:
    settings.PRODUCTION = production

    assert found("worker").severity == severity


@pytest.mark.django_db
def test_leases_that_nobody_keeps(small_project: Project, make_judge: Callable[..., Any]) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    run = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(run.pk)
    leases.claim(run.pk, "lost", most=2)
    run.items.filter(leased_by="lost").update(lease_until="2020-01-01T00:00Z")

    stale = found("leases")

    assert stale.severity == Severity.ERROR
    assert stale.seen.startswith("2 items")


@pytest.mark.django_db
def test_a_key_variable_that_is_not_set(
    project: Project, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ENDPOINT_KEYS = frozenset({"MISTRAL_API_KEY"})
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    project.endpoints.create(
        name="keyless", base_url="http://127.0.0.1:1/v1", key_env="MISTRAL_API_KEY"
    )

    endpoint = found("endpoint small/keyless")

    assert endpoint.severity == Severity.ERROR
    assert "MISTRAL_API_KEY" in endpoint.seen
