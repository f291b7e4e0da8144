"""`manage.py evaluators`: list evaluators, what each needs, and whether it can run here."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from geval.evaluators.base import Evaluator, EvaluatorError, new_default
from geval.evaluators.choices import choice_of, needs_of
from geval.evaluators.registry import broken_evaluators, evaluator_class, evaluators
from geval.texts.program import command


class Command(BaseCommand):
    help = (
        "List the evaluators, what each needs and whether it can run here; with a KIND, its "
        "settings."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", nargs="?", help="show the settings of this evaluator")
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["kind"]:
            try:
                self._settings(evaluator_class(options["kind"]))
            except EvaluatorError as error:
                raise CommandError(str(error)) from None
            return
        rows = [
            asdict(choice_of(evaluator)) | {"family": evaluator.family}
            for evaluator in evaluators().values()
        ]
        if options["json"]:
            self.stdout.write(orjson.dumps(rows).decode())
            return
        for family in dict.fromkeys(row["family"] for row in rows):
            self.stdout.write(f"{family}")
            for row in rows:
                if row["family"] == family:
                    state = f"✗ {row['why_not']}" if row["why_not"] else "✓"
                    self.stdout.write(f"  {row['kind']:16}{row['needs']:36}{state}")
        for broken in broken_evaluators():
            self.stdout.write(f"  {broken.kind:16}{broken.message}")
        self.stdout.write(
            f"Settings of an evaluator: {command('evaluators KIND')}."
            " What each does: docs/evaluators/."
        )

    def _settings(self, evaluator: type[Evaluator]) -> None:
        self.stdout.write(f"{evaluator.title}: {evaluator.summary}")
        if evaluator.paper:
            self.stdout.write(f"{evaluator.paper}.")
        why_not = evaluator.why_not()
        self.stdout.write(f"Needs {needs_of(evaluator)}; {why_not or 'can run here'}.")
        for name, field in evaluator.Settings.model_fields.items():
            default = "required" if field.is_required() else f"default: {new_default(field)!r}"
            self.stdout.write(f"  {name} ({default})\n      {field.description}")
