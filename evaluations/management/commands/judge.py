"""`manage.py judge PROJECT --judge NAME`: run a judge with workers and show the progress."""

import shlex
from argparse import ArgumentParser
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import orjson
from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.formats import date_format

from evaluations.judging.runs.estimate import RunEstimate, estimate_run
from evaluations.judging.runs.lifecycle import RunError, pause_by_person
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.trial import TRIAL_ITEMS, change_and_try
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_criteria, find_judge, find_project
from evaluations.management.services import ensure_workers, logged_processes
from evaluations.management.trial_text import advice_lines, trial_json, trial_lines
from evaluations.management.wanted_run import WantedRun, continue_run, last_run
from evaluations.management.watching import JsonLines, watch_run
from evaluations.models import EvaluationRun, ItemState, RunState, Transport
from evaluations.models.criteria import with_items_of
from geval.llm.prompts import PromptError
from geval.statistics.goal_widths import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH
from geval.texts.numbers import in_time
from geval.texts.program import command
from geval_site.processes import Processes

# The exit code of a program ended by Ctrl-C.
INTERRUPTED = 130
CTRL_C = "Ctrl-C in the terminal"


class Command(SiteCommand):
    help = (
        "Run a judge on the outputs that it has not scored yet. A run that was interrupted or"
        " paused goes on. Log lines go to a file; with -v 2 to the terminal."
    )
    REFUSALS = (RunError, PromptError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument(
            "--criterion", action="append", metavar="C", help="only this criterion; can be repeated"
        )
        parser.add_argument(
            "--fresh", action="store_true", help="judge everything again and ask again"
        )
        parser.add_argument(
            "--pilot",
            type=int,
            metavar="N",
            help="only N documents, drawn at random, rated ones first",
        )
        parser.add_argument(
            "--trial",
            action="store_true",
            help=f"only {TRIAL_ITEMS} items; print their prompts and replies, and what judging all"
            " would take",
        )
        parser.add_argument(
            "--change",
            metavar="KEY",
            help="change the judge as its last run advised (such as samples), and try it",
        )
        parser.add_argument(
            "--until",
            type=float,
            metavar="WIDTH",
            help="end when rho is known to plus or minus this on every criterion; needs human"
            " ratings",
        )
        parser.add_argument(
            "--until-better",
            metavar="NAME",
            help="end when it is clear whether the judge or this one agrees better with people",
        )
        parser.add_argument(
            "--retry",
            action="store_true",
            help="resume the judge's last run, and ask about its failed items again",
        )
        parser.add_argument(
            "--budget",
            type=Decimal,
            help="pause before the cost exceeds this; the judge needs prices",
        )
        parser.add_argument(
            "--batch", action="store_true", help="send it through the endpoint's batch API"
        )
        parser.add_argument(
            "--estimate",
            action="store_true",
            help="only print an estimate of calls, tokens and cost",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print JSON lines: the progress whenever it changes, and the counts at the end",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        judge = find_judge(project, options["judge"])
        criteria = with_items_of(find_criteria(project, options["criterion"]))
        transport = Transport.BATCH if options["batch"] else Transport.LIVE
        if options["pilot"] is not None and options["pilot"] < 1:
            raise CommandError("--pilot takes a number of documents, at least 1.")
        pilot = options["pilot"] or 0
        until, least, most = options["until"], LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH
        if until is not None and not least <= until <= most:
            raise CommandError(f"--until takes a width from {least:g} to {most:g}, such as 0.05.")
        named = options["until_better"]
        rival = find_judge(project, named) if named else None
        if options["estimate"]:
            fresh = options["fresh"]
            estimate = estimate_run(judge, criteria, fresh=fresh, transport=transport, pilot=pilot)
            if options["json"]:
                money = None if estimate.cost is None else str(estimate.cost)
                line = orjson.dumps(asdict(estimate) | {"cost": money}).decode()
            else:
                line = _in_words(estimate)
            self.stdout.write(line)
            return
        trial = TRIAL_ITEMS if options["trial"] else 0
        request = RunRequest(
            fresh=options["fresh"],
            budget=options["budget"],
            transport=transport,
            pilot=pilot,
            trial=trial,
            goal_width=until,
            goal_rival=rival,
        )
        wanted = WantedRun(judge, criteria, request)
        lines = JsonLines(self.stdout) if options["json"] else None
        try:
            summary = self._judge(wanted, options, lines)
        except KeyboardInterrupt:
            # A second Ctrl-C while the worker ends; the run is as the first left it.
            self.stderr.write("\nStopped at once; all scores so far are kept.")
            raise SystemExit(INTERRUPTED) from None
        run = EvaluationRun.objects.select_related("judge", "project").get(pk=summary["run"])
        if lines:
            lines.write("finished", summary | (trial_json(run) if run.frozen.trial else {}))
        else:
            self._say(summary)
            self._say_more(run)
        if summary["state"] != RunState.DONE or summary["failed"]:
            raise SystemExit(1)

    def _judge(
        self, wanted: WantedRun, options: dict[str, Any], lines: JsonLines | None
    ) -> dict[str, Any]:
        """Start or continue the run and follow it; return its summary.

        Raises:
            CommandError: the run cannot be started, or no worker processes it any more.
            SystemExit: Ctrl-C; a message about what is kept has been printed.
        """
        run, interrupted = None, False
        shows_log = options["verbosity"] > 1
        with Processes() if shows_log else logged_processes() as processes:
            try:
                brought_worker = ensure_workers(processes, project=wanted.judge.project.slug)
                run = self._run(wanted, options, as_json=lines is not None)
                show = lines.show if lines else None
                summary = watch_run(run, show=show, still_worked_on=lambda: _check(processes))
            except KeyboardInterrupt:
                interrupted = True
                if run and brought_worker:
                    pause_by_person(run.pk, CTRL_C)
                    self.stderr.write("\nStopping. Calls in flight get a moment to finish.")
        if interrupted:
            self._say_interrupted(run)
            raise SystemExit(INTERRUPTED)
        return summary

    def _run(self, wanted: WantedRun, options: dict[str, Any], *, as_json: bool) -> EvaluationRun:
        """Return the run to follow: an unfinished one of the same kind, or a new one."""
        budget = options["budget"]
        judge, key = wanted.judge, options["change"]
        run = last_run(judge) if key or options["retry"] else wanted.unfinished()
        if key and run is None:
            raise CommandError(f"{judge} has no run that advises a change; try it with --trial.")
        if key and run:
            return change_and_try(run, key)
        if run is None and not options["retry"]:
            return start_run(wanted.judge, wanted.criteria, wanted.request)
        if run is None or not continue_run(run, retry_failed=options["retry"], budget=budget):
            raise CommandError("There is nothing to resume; leave --retry out to start a run.")
        if not as_json:
            self.stdout.write(f"Continuing run {run.pk} of {run.judge}: {items_scored(run)}.")
            self.stdout.flush()
        return run

    def _say_more(self, run: EvaluationRun) -> None:
        """Print a trial's results, or what to change if a run was paused."""
        advises = run.state in (RunState.PAUSED, RunState.FAILED)
        lines = trial_lines(run) if run.frozen.trial else advice_lines(run) if advises else ()
        for line in lines:
            self.stdout.write(line)

    def _say_interrupted(self, run: EvaluationRun | None) -> None:
        if run is None:
            self.stderr.write("\nStopped; no run was started.")
            return
        run.refresh_from_db()
        if run.is_active:
            self.stderr.write(
                f"\nNo longer following run {run.pk} of {run.judge}, which continues: another"
                f" worker judges it. {items_scored(run)}. Follow it with the same command; its page"
                " pauses it."
            )
            return
        # A trial may have begun with --change, which would change the judge again.
        trial = command(f"judge {run.project.slug} --judge {shlex.quote(run.judge.name)} --trial")
        same = f"`{trial}`" if run.frozen.trial else "The same command"
        self.stderr.write(
            f"Run {run.pk} of {run.judge} is {run.state}. {items_scored(run)} and kept. {same}"
            " continues it; its page ends it for good."
        )

    def _say(self, summary: dict[str, Any]) -> None:
        if not summary["items"] and summary["state"] == RunState.DONE:
            self.stdout.write(
                f"{summary['judge']}: everything already has a score; --fresh judges it again."
            )
        elif not summary["items"]:
            self.stdout.write(
                f"Run {summary['run']} of {summary['judge']} is {summary['state']} before its first"
                " item."
            )
        else:
            line = f"Run {summary['run']} of {summary['judge']} is {summary['state']}: "
            line += f"{summary['done']} of {summary['items']}"
            self.stdout.write(
                f"{line} items scored, {summary['failed']} failed, {summary['pending']} not judged "
                "yet."
            )
        for failure in summary["failures"]:
            self.stdout.write(
                f"  {failure['count']} × {failure['reason']}, such as: {failure['example']}"
            )
        if summary["message"]:
            self.stderr.write(summary["message"])
        if summary["resumes_at"]:
            moment = date_format(timezone.localtime(summary["resumes_at"]), "DATETIME_FORMAT")
            self.stderr.write(
                f"It resumes by itself at {moment} if the site is running then; or with the same"
                " command."
            )


def _in_words(estimate: RunEstimate) -> str:
    takes = f"; takes about {in_time(estimate.seconds)}" if estimate.seconds else ""
    if estimate.is_free:
        return f"{estimate.items:,} items: computed here, without calls or cost{takes}."
    price = "unknown without prices"
    if estimate.cost is not None:
        price = f"about {estimate.cost:.4f} in the currency of the prices"
    return (
        f"{estimate.items:,} items: at most {estimate.calls:,} calls, about"
        f" {estimate.prompt_tokens:,} input tokens and {estimate.completion_tokens:,} output"
        f" tokens; cost {price}{takes}."
    )


def _check(processes: Processes) -> None:
    ended = processes.tend()
    if ended:
        raise CommandError(
            f"The worker ended with code {ended.returncode}. The run is kept; the same command"
            " continues it."
        )


def items_scored(run: EvaluationRun) -> str:
    """Format a count such as “12 of 72 items are scored”."""
    counts = run.items_by_state()
    if not any(counts.values()):
        return "no item is scored yet"
    return f"{counts[ItemState.DONE]} of {sum(counts.values())} items are scored"
