"""`manage.py demo`: load the demo's projects, judge them, print verdicts, serve the site."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from evaluations.judging.judges.judges import newest_version
from evaluations.judging.runs.starting import start_run
from evaluations.management.base import StartingCommand
from evaluations.management.commands.local_llm import BUNDLED_NAME
from evaluations.management.commands.serve import open_site, wait_until_interrupted
from evaluations.management.demo import (
    LOGINS,
    demo_judges,
    is_judged,
    load_demo,
    load_support,
    local_judge,
)
from evaluations.management.services import (
    ensure_workers,
    log_path,
    logged_processes,
    start_model,
    start_workers,
)
from evaluations.management.three_answers import (
    IMPROVED,
    can_improve,
    improve_wording,
    load_three_answers,
)
from evaluations.management.watching import watch_run
from evaluations.models import Criterion, EvaluationRun, Judge, Project, RunState, WorkerHeartbeat
from evaluations.reports.report import build_report
from geval.reports.at_a_glance import at_a_glance
from geval.reports.downloads.tables import as_text
from geval.reports.report import Report
from geval.reports.words import headline
from geval.texts.numbers import two_decimals
from geval.texts.program import command
from geval.texts.stand_in import HONEST_NAME, MODEL
from geval_site.processes import Processes
from geval_site.queues import RUNS

# The port in docs/commands.md.
LOCAL_PORT = 8190
NOT_TO_BE_USED = (
    "This shows how a real model answers: its own tokens, its own probabilities, replies that"
    " cannot be read. A model this small cannot judge, and its scores should not be used."
)


class Command(StartingCommand):
    help = "Load the demo projects, judge them, print the verdicts, and serve the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="stop after the table")
        parser.add_argument("--port", type=int, default=8000, help="of the site")
        parser.add_argument("--standin-port", type=int, default=8189)
        parser.add_argument(
            "--model",
            choices=[BUNDLED_NAME],
            help="judge one criterion with a real, very small model on this machine instead",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError(
                "The demo has well-known passwords and is not allowed on a production site."
            )
        project, loaded = load_demo()
        if loaded.changed:
            self.say(
                f"Loaded {loaded.outputs.created} outputs and {loaded.ratings.created} ratings."
            )
        try:
            with logged_processes() as processes:
                if options["model"]:
                    self._judge_locally(project, processes)
                    return self._stay(processes, options)
                self._judge_all(project, processes, options["standin_port"])
                self._stay(processes, options)
        except KeyboardInterrupt:
            self.say("\nStopped; all results so far are kept.")

    def _judge_all(self, demo: Project, processes: Processes, standin_port: int) -> None:
        """Judge the projects as far as necessary, and print all verdicts."""
        simulated = load_three_answers()
        stand_in = start_model(processes, "standin_llm", port=standin_port)
        judges = self._judges(demo, stand_in)
        [first] = demo_judges(
            simulated, base_url=stand_in, model=MODEL, key_env="", label="stand-in", both=False
        )
        waiting = [judge for judge in (*judges, first) if not is_judged(judge)]
        if waiting:
            self.say(f"Starting workers (about 10 s); they log to {log_path()}")
            ensure_workers(processes)
        for judge in waiting:
            self.say(f"{judge.project}: judging with {judge} (about 5 s)")
            self._judge(judge, list(judge.project.criteria.all()))
        if can_improve(first):
            self.say(f"{simulated}: searching for a better wording of {IMPROVED} (about 20 s)")
            if problem := improve_wording(first):
                self.say(problem)
        for project in (demo, simulated):
            self.say(f"\n{_verdicts(build_report(project))}")
        if newest_version(simulated, first.name) != first:
            criterion = simulated.criteria.get(name=IMPROVED)
            [before] = build_report(simulated, judges=[first], criteria=[criterion]).criteria
            self.say(f"Before the search, {IMPROVED} was: {before.verdict.label.lower()}.")
        support = load_support()
        self.say(f"\n{support}\n{' '.join(headline(build_report(support).criteria))}")
        self.say(f"\nAll numbers: `{command(f'report {demo.slug}')}`, or Report on the site.")

    def _stay(self, processes: Processes, options: dict[str, Any]) -> None:
        if not options["no_serve"]:
            self._serve(processes, options["port"])

    def _judge_locally(self, project: Project, processes: Processes) -> None:
        """Judge one criterion with this machine's model, and print how well its scores agree."""
        base_url = start_model(processes, "local_llm", "--parallel", "2", port=LOCAL_PORT)
        judge, criterion = local_judge(project, base_url=base_url), project.criteria.all()[0]
        self.say(
            f"Judging {criterion.name} with SmolLM2 (135 million parameters) on this machine; that"
            " takes some minutes."
        )
        if not judge.runs.filter(state=RunState.DONE).exists():
            self.say(f"Starting a worker (about 10 s); it logs to {log_path()}")
            ensure_workers(processes, project=project.slug)
            self._judge(judge, [criterion])
        report = build_report(project, judges=[judge], criteria=[criterion])
        self.stdout.write("\n" + as_text(report))
        self.stdout.write(f"{NOT_TO_BE_USED} {_agreement(report)}")

    def _judges(self, project: Project, stand_in: str) -> list[Judge]:
        """Return the demo's judges, on an endpoint with a key if there is one, or on the
        stand-in."""
        if settings.DEMO_HAS_KEY:
            self.say(f"Judging with {settings.DEMO_MODEL} at {settings.DEMO_BASE_URL}.")
            return demo_judges(
                project,
                base_url=settings.DEMO_BASE_URL,
                model=settings.DEMO_MODEL,
                key_env=settings.OPENAI_API_KEY_NAME,
                label=settings.DEMO_MODEL,
                both=False,
            )
        self.say(f"No OPENAI_API_KEY is set, so the judge is the {HONEST_NAME}.")
        return demo_judges(
            project, base_url=stand_in, model=MODEL, key_env="", label="stand-in", both=True
        )

    def _judge(self, judge: Judge, criteria: list[Criterion]) -> None:
        unfinished = EvaluationRun.objects.active().filter(judge=judge).first()
        run = unfinished or start_run(judge, criteria)
        summary = watch_run(run)
        if summary["state"] != RunState.DONE:
            raise CommandError(f"{judge.name}: {summary['message']}")
        self.say(f"{judge.name}: {summary['done']} of {summary['items']} items scored.")

    def _serve(self, processes: Processes, port: int) -> None:
        self.say(f"\nStarting the web server (about 5 s); it logs to {log_path()}")
        if not WorkerHeartbeat.objects.doing(RUNS).exists():
            start_workers(processes)
        address = open_site(processes, port=port)
        self.say(f"The site is at {address}  (Ctrl-C to stop)")
        for username, (password, role) in LOGINS.items():
            self.say(f"  sign in as {username:5} with {password:10} ({role.label.lower()})")
        wait_until_interrupted(processes)


def _verdicts(report: Report) -> str:
    """Format a report's verdicts as a table, the strongest first."""
    rows = [("criterion", "verdict", "judge", "rho", "one rater")]
    for row in at_a_glance(report).rows:
        judge, rater = row.judge, row.rater
        rows.append(
            (
                row.criterion,
                row.verdict.label,
                judge.name if judge else "–",
                judge.value if judge else "–",
                rater.value if rater else "–",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([f"{report.name}", *lines])


def _agreement(report: Report) -> str:
    """Describe how well the only judge of a report agrees with people on its only criterion."""
    criterion = report.criteria[0]
    if not criterion.judges:
        return "It gave no score that can be compared with people's ratings."
    correlations = criterion.judges[0].correlations
    rho = correlations.estimates["spearman"]["dataset"].value
    if rho is None:
        return "Its agreement with people cannot be computed."
    return (
        f"Over all its scores of {criterion.criterion}, rho with people is {two_decimals(rho)};"
        " a useful judge reaches 0.4 or more on many documents."
    )
