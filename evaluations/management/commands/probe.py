"""`manage.py probe PROJECT …`: find out what a model on an endpoint can do."""

from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import CommandError

from evaluations.judging.judges.judges import endpoint_at
from evaluations.judging.judges.probing import probe_endpoint, puts_tags
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_judge, find_project
from geval.llm.errors import EndpointError
from geval.llm.findings import findings_rows


class Command(SiteCommand):
    help = (
        "Find out which scoring modes a model supports. It makes a few small calls to its endpoint,"
        " and then sends a real prompt."
    )
    REFUSALS = (EndpointError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("--judge", help="probe this judge's endpoint and model")
        parser.add_argument("--base-url", help="base URL of the endpoint, if no judge is named")
        parser.add_argument("--model")
        parser.add_argument(
            "--key-env", default="", help="environment variable that contains the key"
        )
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        is_delimited, asked_with = None, {}
        if options["judge"]:
            judge = find_judge(project, options["judge"])
            endpoint, model = judge.endpoint, judge.model
            is_delimited = puts_tags(judge.kind, judge.settings)
            asked_with = judge.request_options
        elif options["base_url"] and options["model"]:
            endpoint = endpoint_at(project, options["base_url"], key_env=options["key_env"])
            model = options["model"]
        else:
            raise CommandError(
                "Name a judge with --judge, or an endpoint with --base-url and --model."
            )
        if endpoint is None:
            raise CommandError("This judge has imported scores; it has no endpoint.")
        findings = probe_endpoint(endpoint, model, is_delimited=is_delimited, options=asked_with)
        if options["json"]:
            self.stdout.write(orjson.dumps(findings.as_json()).decode())
            return
        for row in findings_rows(findings):
            self.stdout.write(f"{row.what:28} {row.found:8} {row.note}".rstrip())
