"""`manage.py demo`: load the demo project, judge it, print correlations, serve the site."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from evaluations.judging.runs.starting import start_run
from evaluations.local_llm import BUNDLED_NAME
from evaluations.management.base import SiteCommand
from evaluations.management.commands.serve import open_site, wait_until_interrupted
from evaluations.management.demo import LOGINS, demo_judges, is_judged, load_demo, local_judge
from evaluations.management.services import (
    ensure_workers,
    start_model,
    start_workers,
)
from evaluations.management.watching import watch_run
from evaluations.models import Criterion, EvaluationRun, Judge, Project, RunState, WorkerHeartbeat
from evaluations.reports.report import build_report
from geval.reports.downloads.tables import as_text
from geval.reports.report import Report
from geval.standin import HONEST_NAME, MODEL
from geval_site.processes import Processes
from geval_site.queues import RUNS

LOCAL_PORT = 8190
NOT_TO_BE_USED = (
    "This shows how a real model answers: its own tokens, its own probabilities, replies that"
    " cannot be read. A model this small cannot judge, and its scores should not be used."
)


class Command(SiteCommand):
    help = "Load the demo project, judge it, print the correlations, and serve the site."

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
            self.stdout.write(
                f"Loaded {loaded.outputs.created} outputs and {loaded.ratings.created} ratings."
            )
        try:
            with Processes() as processes:
                if options["model"]:
                    self._judge_locally(project, processes)
                    return self._stay(processes, options)
                judges = self._judges(project, processes, options["standin_port"])
                waiting = [judge for judge in judges if not is_judged(judge)]
                if waiting:
                    ensure_workers(processes)
                for judge in waiting:
                    self._judge(judge, list(project.criteria.all()))
                self.stdout.write("\n" + as_text(build_report(project)))
                self._stay(processes, options)
        except KeyboardInterrupt:
            self.stdout.write("\nStopped; all results so far are kept.")

    def _stay(self, processes: Processes, options: dict[str, Any]) -> None:
        if not options["no_serve"]:
            self._serve(processes, options["port"])

    def _judge_locally(self, project: Project, processes: Processes) -> None:
        """One criterion with the model of this machine, and what its scores are worth."""
        base_url = start_model(processes, "local_llm", "--parallel", "2", port=LOCAL_PORT)
        judge, criterion = local_judge(project, base_url=base_url), project.criteria.all()[0]
        self.stdout.write(
            f"Judging {criterion.name} with SmolLM2 (135 million parameters) on this machine; that"
            " takes some minutes."
        )
        self.stdout.flush()
        if not judge.runs.filter(state=RunState.DONE).exists():
            ensure_workers(processes, project=project.slug)
            self._judge(judge, [criterion])
        report = build_report(project, judges=[judge], criteria=[criterion])
        self.stdout.write("\n" + as_text(report))
        self.stdout.write(f"{NOT_TO_BE_USED} {_agreement(report)}")

    def _judges(self, project: Project, processes: Processes, standin_port: int) -> list[Judge]:
        if settings.DEMO_HAS_KEY:
            self.stdout.write(f"Judging with {settings.DEMO_MODEL} at {settings.DEMO_BASE_URL}.")
            return demo_judges(
                project,
                base_url=settings.DEMO_BASE_URL,
                model=settings.DEMO_MODEL,
                key_env=settings.OPENAI_API_KEY_NAME,
                label=settings.DEMO_MODEL,
                both=False,
            )
        base_url = start_model(processes, "standin_llm", port=standin_port)
        self.stdout.write(f"No OPENAI_API_KEY is set, so the judge is the {HONEST_NAME}.")
        return demo_judges(
            project, base_url=base_url, model=MODEL, key_env="", label="stand-in", both=True
        )

    def _judge(self, judge: Judge, criteria: list[Criterion]) -> None:
        unfinished = EvaluationRun.objects.active().filter(judge=judge).first()
        run = unfinished or start_run(judge, criteria)
        summary = watch_run(run)
        if summary["state"] != RunState.DONE:
            raise CommandError(f"{judge.name}: {summary['message']}")
        self.stdout.write(f"{judge.name}: {summary['done']} of {summary['items']} items scored.")

    def _serve(self, processes: Processes, port: int) -> None:
        if not WorkerHeartbeat.objects.doing(RUNS).exists():
            start_workers(processes)
        address = open_site(processes, port=port)
        self.stdout.write(f"\nThe site is at {address}  (Ctrl-C to stop)")
        for username, (password, role) in LOGINS.items():
            self.stdout.write(
                f"  sign in as {username:5} with {password:10} ({role.label.lower()})"
            )
        self.stdout.flush()
        wait_until_interrupted(processes)


def _agreement(report: Report) -> str:
    """How well the only judge of a report agrees with people on its only criterion."""
    criterion = report.criteria[0]
    if not criterion.judges:
        return "It gave no score that can be compared with people's ratings."
    correlations = criterion.judges[0].correlations
    rho = correlations.estimates["spearman"]["dataset"].value
    if rho is None:
        return "Its agreement with people cannot be computed."
    return (
        f"Over all its scores of {criterion.criterion}, rho with people is {rho:.2f}; a useful"
        " judge reaches 0.4 or more on many documents."
    )
