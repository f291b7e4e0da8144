"""`manage.py demo`: load the demo project, judge it, print correlations, serve the site."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from evaluations.demo import LOGINS, demo_judges, is_judged, load_demo
from evaluations.management.base import SiteCommand
from evaluations.management.commands.serve import open_site, wait_until_interrupted
from evaluations.management.services import ensure_workers, start_standin, start_workers
from evaluations.management.watching import watch_run
from evaluations.models import EvaluationRun, Judge, Project, RunState, WorkerHeartbeat
from evaluations.reports.report import build_report
from evaluations.reports.tables import as_text
from evaluations.runs.lifecycle import start_run
from evaluations.standin import HONEST_NAME, MODEL
from geval_site.processes import Processes
from geval_site.queues import RUNS


class Command(SiteCommand):
    help = "Load the demo project, judge it, print the correlations, and serve the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="stop after the table")
        parser.add_argument("--port", type=int, default=8000, help="of the site")
        parser.add_argument("--standin-port", type=int, default=8189)

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
                judges = self._judges(project, processes, options["standin_port"])
                waiting = [judge for judge in judges if not is_judged(judge)]
                if waiting:
                    ensure_workers(processes)
                for judge in waiting:
                    self._judge(judge)
                self.stdout.write("\n" + as_text(build_report(project)))
                if not options["no_serve"]:
                    self._serve(processes, options["port"])
        except KeyboardInterrupt:
            self.stdout.write("\nStopped; all results so far are kept.")

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
        base_url = start_standin(processes, standin_port)
        self.stdout.write(f"No OPENAI_API_KEY is set, so the judge is the {HONEST_NAME}.")
        return demo_judges(
            project, base_url=base_url, model=MODEL, key_env="", label="stand-in", both=True
        )

    def _judge(self, judge: Judge) -> None:
        unfinished = EvaluationRun.objects.active().filter(judge=judge).first()
        run = unfinished or start_run(judge, list(judge.project.criteria.all()))
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
