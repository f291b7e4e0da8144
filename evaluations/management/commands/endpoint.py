"""`manage.py endpoint PROJECT NAME`: create or change an endpoint."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluations.judging.judges.judges import EndpointDraft, save_endpoint
from evaluations.judging.runs.accounts import warn_of_key
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project
from evaluations.models import Endpoint
from geval.llm.request_headers import read_headers


class Command(SiteCommand):
    help = (
        "Create an endpoint, or change the one with this name. Options that you leave out stay"
        " unchanged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("name")
        parser.add_argument(
            "--base-url",
            help="ends in /v1 on most servers; with /responses, its Responses API is asked",
        )
        parser.add_argument(
            "--key-env", help="environment variable of the worker that contains the key"
        )
        parser.add_argument(
            "--key-stdin", action="store_true", help="read the key from standard input"
        )
        parser.add_argument("--forget-key", action="store_true")
        parser.add_argument(
            "--headers-stdin",
            action="store_true",
            help="read headers for its calls from standard input, after the key: name: value",
        )
        parser.add_argument("--forget-headers", action="store_true")
        parser.add_argument("--requests-per-minute", type=int, help="over all workers")
        parser.add_argument("--tokens-per-minute", type=int, help="over all workers")
        parser.add_argument(
            "--parallel-calls",
            type=int,
            help="open at once at most, over all workers and projects with this address and key",
        )
        parser.add_argument("--api-version", help="only for Azure deployment addresses")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        existing = project.endpoints.filter(name=options["name"]).first()
        if existing is None and not options["base_url"]:
            raise CommandError(
                f"There is no endpoint {options['name']!r} yet; give its --base-url to create it."
            )
        now = existing or Endpoint(project=project)
        kept = (
            "base_url",
            "api_version",
            "key_env",
            "requests_per_minute",
            "tokens_per_minute",
            "parallel_calls",
        )
        values = {
            name: getattr(now, name) if options[name] is None else options[name] for name in kept
        }
        key = "" if options["forget_key"] else None
        if options["key_stdin"]:
            key = sys.stdin.readline().strip()
        headers: dict[str, str] | None = {} if options["forget_headers"] else None
        if options["headers_stdin"]:
            headers = _headers(sys.stdin.read())
        draft = EndpointDraft(
            name=options["name"],
            key=key,
            headers=headers,
            confirms_key_env=options["key_env"] is not None,
            **values,
        )
        endpoint = save_endpoint(project, draft, endpoint=existing)
        self.stdout.write(f"Endpoint {endpoint} was {'changed' if existing else 'created'}.")
        if warning := warn_of_key(endpoint):
            self.stderr.write(warning)


def _headers(written: str) -> dict[str, str]:
    try:
        return read_headers(written)
    except ValueError as error:
        raise CommandError(str(error)) from None
