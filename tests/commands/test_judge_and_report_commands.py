"""From `add_judge` over `judge` to `report`: the whole flow from the terminal, with a worker the
command brings."""

import csv
import io
import json
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from evaluations.models import Judge, Project, WorkerHeartbeat
from tests.conftest import wait_until
from tests.processes import StandInProcess, WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
Manage = Callable[..., CompletedProcess[str]]


@pytest.fixture
def add_judge(
    manage: Manage, small_project: Project, start_standin: Callable[..., StandInProcess]
) -> Manage:
    def add(name: str, *more: str, switches: tuple[str, ...] = ()) -> CompletedProcess[str]:
        address = start_standin(*switches).base_url
        model = ["--model", "offline-stand-in"]
        mode = [] if "--mode" in more else ["--mode", "logprobs"]
        return manage("add_judge", "small", name, "--base-url", address, *model, *mode, *more)

    return add


@pytest.fixture
def worker(start_worker: Callable[[], WorkerProcess]) -> None:
    """A running worker, so that no command has to start and end its own."""
    start_worker()
    wait_until(WorkerHeartbeat.objects.alive().exists)


@pytest.mark.slow
def test_the_whole_flow_from_the_terminal(manage: Manage, add_judge: Manage) -> None:
    assert "created" in add_judge("G-Eval").stdout

    judged = manage("judge", "small", "--judge", "G-Eval", "--json")
    again = manage("judge", "small", "--judge", "G-Eval")
    report = manage("report", "small", "--format", "json")

    assert judged.returncode == 0, judged.stderr
    *progress, summary = map(json.loads, judged.stdout.splitlines())
    assert (summary["state"], summary["done"], summary["failed"]) == ("done", 12, 0)
    assert summary["event"] == "finished"
    assert {line["event"] for line in progress} == {"progress"}
    assert "everything already has a score" in again.stdout
    found = json.loads(report.stdout)
    assert found["project"] == "small"
    result = found["criteria"]["coherence"]["judges"]["G-Eval"]
    assert (result["documents"], result["documents_used"], result["stand_in"]) == (3, 3, True)
    assert -1 <= result["pearson"]["summary"]["value"] <= 1
    assert not WorkerHeartbeat.objects.exists()  # the worker that came along has left


@pytest.mark.slow
def test_failed_items_end_with_code_1_and_can_be_retried(
    manage: Manage,
    add_judge: Manage,
    start_standin: Callable[..., StandInProcess],
    worker: None,
) -> None:
    add_judge("G-Eval", "--no-steps", switches=("--refusal-rate", "1"))

    failed = manage("judge", "small", "--judge", "G-Eval")
    judge = Judge.objects.get()
    assert judge.endpoint
    judge.endpoint.base_url = start_standin().base_url
    judge.endpoint.save()
    retried = manage("judge", "small", "--judge", "G-Eval", "--retry", "--json")

    assert failed.returncode == 1
    assert "12 × refusal" in failed.stdout
    assert (retried.returncode, json.loads(retried.stdout.splitlines()[-1])["done"]) == (0, 12)


def test_a_judge_is_added_with_all_its_settings(add_judge: Manage) -> None:
    settings = [
        "--mode",
        "samples",
        "--n",
        "7",
        "--temperature",
        "0.5",
        "--key-env",
        "HF_TOKEN",
        "--no-steps",
    ]

    first = add_judge("G", *settings, "--concurrency", "3")
    again = add_judge("G", *settings, "--concurrency", "3")
    other = add_judge("G", *settings, "--concurrency", "4")

    judge = Judge.objects.get()
    assert (judge.mode, judge.samples, judge.temperature) == ("samples", 7, 0.5)
    assert (judge.use_steps, judge.concurrency) == (False, 3)
    assert judge.endpoint
    assert judge.endpoint.key_env == "HF_TOKEN"
    assert ["created" in first.stdout, "already exists" in again.stdout, other.returncode] == [
        True,
        True,
        1,
    ]
    assert "different concurrency" in other.stderr


def test_reports_in_all_formats_agree(manage: Manage, add_judge: Manage, worker: None) -> None:
    add_judge("G-Eval")
    manage("judge", "small", "--judge", "G-Eval")

    value = json.loads(manage("report", "small", "--format", "json").stdout)["criteria"]["fluency"][
        "judges"
    ]["G-Eval"]["kendall"]["system"]["value"]
    rows = list(csv.DictReader(io.StringIO(manage("report", "small", "--format", "csv").stdout)))
    text = manage("report", "small").stdout
    markdown = manage("report", "small", "--format", "markdown", "--judge", "G-Eval").stdout

    row = next(
        row
        for row in rows
        if (row["criterion"], row["level"], row["coefficient"]) == ("fluency", "system", "kendall")
    )
    assert float(row["value"]) == value
    assert len(rows) == 18
    for shown in (text, markdown):
        assert f"{value:.2f}" in shown
        assert "not an LLM" in shown
