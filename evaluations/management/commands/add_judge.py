"""`manage.py add_judge PROJECT NAME …`: make a G-Eval judge."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from evaluations.judging.judges import JudgeDraft, create_judge
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project
from evaluations.models import ScoringMode


class Command(SiteCommand):
    help = "Make a G-Eval judge on an OpenAI-compatible endpoint."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("name", help="what to call the judge")
        parser.add_argument("--base-url", required=True, help="of the endpoint; ends in /v1 on most servers")
        parser.add_argument("--model", required=True)
        parser.add_argument("--mode", required=True, choices=ScoringMode.values)
        parser.add_argument("--n", type=int, default=20, help="replies an item in mode samples (default: 20)")
        parser.add_argument("--temperature", type=float, help="default: 1 in mode samples, else 0")
        parser.add_argument("--key-env", default="", help="environment variable of the worker that holds the key")
        parser.add_argument("--no-steps", action="store_true", help="without evaluation steps (ablation)")
        parser.add_argument("--concurrency", type=int, default=16, help="calls in flight (default: 16)")

    def handle(self, *_args: Any, **options: Any) -> None:
        draft = JudgeDraft(
            name=options["name"],
            base_url=options["base_url"],
            model=options["model"],
            mode=options["mode"],
            samples=options["n"],
            temperature=options["temperature"],
            key_env=options["key_env"],
            use_steps=not options["no_steps"],
            concurrency=options["concurrency"],
        )
        try:
            judge, made = create_judge(find_project(options["project"]), draft)
        except ValidationError as error:
            said = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())
            raise CommandError(said) from None
        self.stdout.write(f"Judge {judge.name} is {'made' if made else 'there already'}.")
