"""A run followed from a terminal: Ctrl-C keeps it, the same command continues it, and the commands
`runs`, `pause`, `resume` and `cancel`."""

import json
import signal
import tempfile
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest
from django.core.management import CommandError, call_command

from evaluations.judging.runs import leases
from evaluations.judging.runs.lifecycle import lay_out_run, pause_run
from evaluations.judging.runs.scheduling import choose_run
from evaluations.judging.runs.starting import start_run
from evaluations.management.heartbeat import Offer, beat
from evaluations.management.run_commands import TERMINAL
from evaluations.models import (
    EvaluationRun,
    ItemState,
    Judge,
    Project,
    RunState,
    WorkerHeartbeat,
    WorkerSlot,
)
from evaluations.models.workers import job_of_project
from tests.conftest import wait_until
from tests.processes import WorkerProcess, start_python

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
Manage = Callable[..., CompletedProcess[str]]
MakeJudge = Callable[..., Judge]
JUDGE = ("judge", "small", "--judge", "Stand-in")


class Terminal:
    """A command in a terminal, on which somebody may press Ctrl-C."""

    def __init__(self, database_url: str, *command: str) -> None:
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed when it is collected
        self.process = start_python(
            "manage.py", *command, stdout=self.said, stderr=self.said, DATABASE_URL=database_url
        )

    def press_ctrl_c(self) -> tuple[int, str]:
        """Its exit code and what it said."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60)
        self.said.seek(0)
        return code, self.said.read()


@pytest.fixture
def judge(small_project: Project, make_judge: MakeJudge) -> Judge:
    return make_judge(small_project, "--latency", "1", use_steps=False, concurrency=1)


@pytest.fixture
def started(judge: Judge) -> EvaluationRun:
    """A run that is laid out, with one of its items scored, and no worker."""
    run = start_run(judge, list(judge.project.criteria.all()))
    lay_out_run(run.pk)
    item = leases.claim(run.pk, "gone", most=1)[0]
    run.items.filter(pk=item.id).update(state=ItemState.DONE)
    return run


@pytest.mark.slow
def test_ctrl_c_says_what_is_kept_and_the_same_command_continues(
    judge: Judge, manage: Manage, database_url: str
) -> None:
    terminal = Terminal(database_url, *JUDGE)
    wait_until(lambda: EvaluationRun.objects.filter(scores__isnull=False).exists())

    code, words = terminal.press_ctrl_c()

    run = EvaluationRun.objects.get()
    assert code == 130
    assert (run.state, run.message) == (RunState.PAUSED, "Paused by Ctrl-C in the terminal.")
    kept = run.scores.count()
    assert 0 < kept < 12
    assert f"{kept} of 12 items are scored" in words
    assert f"cancel small {run.pk}" in words
    assert "Traceback" not in words
    assert not run.items.filter(state=ItemState.LEASED).exists()

    again = manage(*JUDGE)

    run.refresh_from_db()
    assert again.returncode == 0, again.stderr
    assert f"Continuing run {run.pk} of Stand-in" in again.stdout
    assert (run.state, run.scores.count()) == (RunState.DONE, 12)
    assert EvaluationRun.objects.count() == 1


@pytest.mark.slow
def test_a_run_whose_command_was_killed_is_continued(
    judge: Judge, started: EvaluationRun, manage: Manage
) -> None:
    again = manage(*JUDGE, "--json")

    *progress, summary = map(json.loads, again.stdout.splitlines())
    assert (summary["event"], summary["run"], summary["done"]) == ("finished", started.pk, 12)
    first = next(line for line in progress if line["done"] > 1)
    assert first["rate"] > 0
    assert first["readable"] == 1.0
    assert first["seconds_left"] >= 0


def test_a_run_that_is_paused_before_its_first_item_says_so(
    small_project: Project,
    make_judge: MakeJudge,
    manage: Manage,
    start_worker: Callable[[], WorkerProcess],
) -> None:
    start_worker()
    wait_until(WorkerHeartbeat.objects.alive().exists)
    make_judge(small_project, base_url="http://127.0.0.1:1/v1")

    judged = manage(*JUDGE)
    again = manage(*JUDGE)

    run = EvaluationRun.objects.get()
    assert (judged.returncode, run.state) == (1, RunState.PAUSED)
    assert f"Run {run.pk} of Stand-in is paused" in judged.stdout
    assert "before its first item" in judged.stdout
    assert run.message in judged.stderr
    assert f"Continuing run {run.pk} of Stand-in: no item is scored yet." in again.stdout


def test_ctrl_c_beside_the_sites_workers_leaves_the_run_to_them(
    judge: Judge, database_url: str, start_worker: Callable[[], WorkerProcess]
) -> None:
    start_worker()
    wait_until(WorkerHeartbeat.objects.alive().exists)
    terminal = Terminal(database_url, *JUDGE)
    wait_until(lambda: EvaluationRun.objects.filter(scores__isnull=False).exists())

    code, words = terminal.press_ctrl_c()

    run = EvaluationRun.objects.get()
    assert code == 130
    assert run.state == RunState.RUNNING
    assert "which continues" in words
    assert f"pause small {run.pk}" in words


@pytest.mark.slow
def test_the_worker_of_a_command_leaves_other_projects_alone(
    judge: Judge, make_judge: MakeJudge, manage: Manage, load: Callable[..., object]
) -> None:
    other = Project.objects.create(name="Other", slug="other")
    row = '{"doc_id": "d", "system_id": "s", "source": "A ferry.", "output": "A ferry sails."}'
    load(other, {"others.jsonl": row})
    other.criteria.create(name="coherence")
    forgotten = start_run(make_judge(other, use_steps=False), list(other.criteria.all()))

    judged = manage(*JUDGE)

    forgotten.refresh_from_db()
    assert judged.returncode == 0, judged.stderr
    assert (forgotten.state, forgotten.preparations, forgotten.calls) == ("preparing", 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("verbosity", "shown"), [((), False), (("-v", "2"), True)])
def test_log_lines_are_on_the_terminal_where_asked_for(
    small_project: Project,
    make_judge: MakeJudge,
    manage: Manage,
    verbosity: tuple[str, ...],
    shown: bool,
) -> None:
    make_judge(small_project, "--unparseable-rate", "1", use_steps=False)

    judged = manage(*JUDGE, *verbosity)

    assert "All 12 items failed" in judged.stderr + judged.stdout
    assert ("items failed" in judged.stderr.replace("All 12 items failed", "")) is shown


def test_another_run_of_the_judge_is_not_taken_for_this_one(
    started: EvaluationRun, manage: Manage
) -> None:
    EvaluationRun.objects.filter(pk=started.pk).update(state=RunState.PREPARING)
    started.items.all().delete()
    WorkerHeartbeat.objects.create(name="of the site", seen_at="2100-01-01T00:00Z")

    refused = manage(*JUDGE, "--criterion", "fluency")

    assert refused.returncode == 1
    assert f"Run {started.pk} of Stand-in is not finished" in refused.stderr
    assert "it judges coherence, fluency" in refused.stderr
    assert f"cancel small {started.pk}" in refused.stderr


def test_runs_are_listed_with_their_progress(
    started: EvaluationRun, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("runs", "small")
    table = capsys.readouterr().out.splitlines()
    call_command("runs", "--json")
    as_json = json.loads(capsys.readouterr().out)
    call_command("runs", "small", "--unfinished")
    unfinished = capsys.readouterr().out

    assert table[0].split()[:5] == ["run", "project", "judge", "state", "items"]
    assert table[1].split()[:3] == [str(started.pk), "small", "Stand-in"]
    assert "running" in table[1]
    assert "1 of 12" in table[1]
    assert (as_json["run"], as_json["done"], as_json["items"]) == (started.pk, 1, 12)
    assert str(started.pk) in unfinished


def test_no_runs_are_said(small_project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("runs", "small")

    assert capsys.readouterr().out == "There are no runs.\n"


@pytest.mark.parametrize("by", ["number", "judge"])
def test_a_run_is_paused_resumed_and_cancelled(
    started: EvaluationRun, capsys: pytest.CaptureFixture[str], by: str
) -> None:
    which = [str(started.pk)] if by == "number" else ["--judge", "Stand-in"]
    states = []

    for name in ("pause", "resume", "cancel"):
        call_command(name, "small", *which)
        started.refresh_from_db()
        states.append((started.state, started.message))

    words = capsys.readouterr().out
    assert states == [
        (RunState.PAUSED, f"Paused by {TERMINAL}."),
        (RunState.RUNNING, ""),
        (RunState.CANCELLED, f"Cancelled by {TERMINAL}."),
    ]
    assert words.count("1 of 12 items are scored") == 3
    assert "No worker is running" in words


def test_a_resumed_run_may_have_a_new_budget(started: EvaluationRun) -> None:
    pause_run(started.pk, ".")

    call_command("resume", "small", str(started.pk), "--budget", "2.5")

    started.refresh_from_db()
    assert float(started.budget or 0) == 2.5


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("pause", "small", "9999"), "has no run 9999; `manage.py runs small` lists its runs"),
        (("pause", "small", "--judge", "Nobody"), "has no judge 'Nobody'"),
        (("resume", "small", "--judge", "Stand-in"), "is running, so there is nothing to resume"),
        (("pause", "none", "1"), "There is no project 'none'"),
    ],
)
def test_what_cannot_be_done_is_said(
    started: EvaluationRun, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr("geval.texts.program.PROGRAM", "manage.py")

    with pytest.raises(CommandError, match=message.replace("(", r"\(")):
        call_command(*command)


def test_a_cancelled_run_is_neither_paused_nor_cancelled_again(started: EvaluationRun) -> None:
    call_command("cancel", "small", str(started.pk))

    for name in ("pause", "cancel"):
        with pytest.raises(CommandError, match="cancelled"):
            call_command(name, "small", str(started.pk))


def test_a_run_that_nobody_serves_says_what_it_waits_for(
    started: EvaluationRun, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("runs", "small")
    assert f"{started.pk}: waits, as no worker is alive. Start one:" in capsys.readouterr().out

    beat("here:1", Offer(("runs",), 1))
    call_command("runs", "small")
    assert f"{started.pk}: waits for a free worker." in capsys.readouterr().out

    slot = WorkerSlot.objects.take("here:1")
    assert slot
    choose_run(slot)
    call_command("runs", "small")
    assert "waits" not in capsys.readouterr().out


def test_a_worker_of_another_project_alone_is_not_waited_for(
    started: EvaluationRun, capsys: pytest.CaptureFixture[str]
) -> None:
    beat("there:1", Offer((job_of_project("runs", "other"),), 1))
    call_command("runs", "small")
    assert f"{started.pk}: waits, as no worker is alive." in capsys.readouterr().out

    beat("here:1", Offer((job_of_project("runs", "small"),), 1))
    call_command("runs", "small")
    assert f"{started.pk}: waits for a free worker." in capsys.readouterr().out
