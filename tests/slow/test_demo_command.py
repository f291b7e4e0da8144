"""The demo from nothing: judged by a real worker, a table, all data kept at a second start, nothing
left behind."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from evaluations.models import EvaluationRun, Project, Score
from evaluations.reports.report import build_report
from geval.reports.verdicts.verdict import Verdict
from tests.conftest import CHECKOUT
from tests.processes import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
# What the project of three answers shows before anybody searches for better wordings.
UNSEARCHED = {
    "usefulness": Verdict.STANDS_IN,
    "trust": Verdict.SPOT_CHECKS,
    "appeal": Verdict.KEEP_PEOPLE,
    "quality": Verdict.KEEP_PEOPLE,
}


def run_demo(manage: Callable[..., CompletedProcess[str]], **env: str) -> CompletedProcess[str]:
    """The demo without its site, and with a stand-in that no other demo's can be mistaken for."""
    port = str(free_port())
    return manage("demo", "--no-serve", "--standin-port", port, timeout=400, **env)


def verdicts_in_report_and_table(project: Project, printed: str) -> dict[str, Verdict]:
    """The verdict on each criterion, which the table on the terminal has, too."""
    verdicts = {each.criterion: each.verdict for each in build_report(project).criteria}
    for name, verdict in verdicts.items():
        assert re.search(rf"^{name} +{verdict.label}  ", printed, re.M), printed
    return verdicts


def test_the_demo_is_loaded_judged_and_reported_and_kept(
    manage: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    first = run_demo(manage, GEVAL_DATA_DIR=str(tmp_path))
    scores = list(Score.objects.order_by("pk").values_list("pk", "value"))
    second = run_demo(manage)

    assert first.returncode == 0, first.stderr
    assert "Loaded 72 outputs" in first.stdout
    assert "not an LLM" in first.stdout
    table = first.stdout[first.stdout.index("\nDemo\n") :]
    assert all(name in table for name in ("coherence", "consistency", "fluency", "relevance"))
    assert second.returncode == 0
    assert table in second.stdout
    assert list(Score.objects.order_by("pk").values_list("pk", "value")) == scores
    assert EvaluationRun.objects.filter(judge__project__slug="demo").count() == 2
    # The terminal has what the command does, the log the rest.
    assert first.stdout.startswith("Starting the database (about ")
    assert first.stdout.count("site.log") == 1
    assert "[info" not in first.stdout
    logged = (tmp_path / "site.log").read_text()
    assert "worker started" in logged
    assert "run finished" in logged


def test_ctrl_c_ends_the_site_and_everything_it_started(tmp_path: Path) -> None:
    """On an embedded server of its own, so that this one has to be stopped, too."""
    folder = tmp_path / "data folder"
    folder.mkdir()
    for place in (folder, *folder.parents[:3]):
        place.chmod(0o755)
    port = free_port()
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "CELERY_BROKER_URL")
    }
    process = subprocess.Popen(
        [
            sys.executable,
            "manage.py",
            "demo",
            "--port",
            str(port),
            "--standin-port",
            str(free_port()),
        ],
        cwd=CHECKOUT,
        env={**environment, "GEVAL_DATA_DIR": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout
        said = ""
        for line in process.stdout:
            said += line
            if "sign in as vera" in line:
                break
        address = re.search(r"http://127\.0\.0\.1:\d+/(?= )", said)
        assert address, said
        with urllib.request.urlopen(address.group() + "sign-in/", timeout=30) as answer:
            assert b"Sign in" in answer.read()

        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        assert process.stdout
        process.stdout.close()
    assert _processes_naming(str(folder)) == []


def _processes_naming(text: str) -> list[str]:
    """Command lines and environments of living processes that name a path."""
    deadline = time.monotonic() + 30  # PostgreSQL takes its time on a machine that is busy
    while True:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    known = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                except OSError:
                    continue
                if text.encode() in known:
                    found.append((entry / "cmdline").read_bytes().decode(errors="replace"))
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.2)
