"""`manage.py evaluators`: what can judge, what each needs, and whether it can run here."""

from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from evaluations.evaluators.asking import AskingEvaluator
from evaluations.evaluators.base import Evaluator, EvaluatorError, LocalEvaluator
from evaluations.evaluators.registry import broken_evaluators, evaluator_class, evaluators


class Command(BaseCommand):
    help = "List the evaluators with what each needs and whether it can run here; with a KIND its settings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", nargs="?", help="show this one's settings")
        parser.add_argument("--json", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["kind"]:
            try:
                self._settings(evaluator_class(options["kind"]))
            except EvaluatorError as error:
                raise CommandError(str(error)) from None
            return
        rows = [described(evaluator) for evaluator in evaluators().values()]
        if options["json"]:
            self.stdout.write(orjson.dumps(rows).decode())
            return
        for family in dict.fromkeys(row["family"] for row in rows):
            self.stdout.write(f"{family}")
            for row in rows:
                if row["family"] == family:
                    state = f"✗ {row['why_not']}" if row["why_not"] else "✓"
                    self.stdout.write(f"  {row['kind']:12}{row['needs']:44}{state}")
        for broken in broken_evaluators():
            self.stdout.write(f"  {broken.kind:12}{broken.message}")
        self.stdout.write("Settings of one: manage.py evaluators KIND. What each does: docs/evaluators/.")

    def _settings(self, evaluator: type[Evaluator]) -> None:
        self.stdout.write(f"{evaluator.title}: {evaluator.summary}")
        if evaluator.paper:
            self.stdout.write(f"{evaluator.paper}.")
        why_not = evaluator.why_not()
        self.stdout.write(f"Needs {needs_of(evaluator)}; {why_not or 'can run here'}.")
        for name, field in evaluator.Settings.model_fields.items():
            default = "required" if field.is_required() else f"default: {field.default!r}"
            self.stdout.write(f"  {name} ({default})\n      {field.description}")


def described(evaluator: type[Evaluator]) -> dict[str, str]:
    return {
        "kind": evaluator.kind,
        "title": evaluator.title,
        "family": evaluator.family,
        "summary": evaluator.summary,
        "paper": evaluator.paper,
        "needs": needs_of(evaluator),
        "why_not": evaluator.why_not(),
    }


def needs_of(evaluator: type[Evaluator]) -> str:
    """What an evaluator needs, in words."""
    if not evaluator.runs:
        return "an upload"
    needs: list[str] = sorted(evaluator.needs)
    if issubclass(evaluator, AskingEvaluator):
        needs.append("an endpoint" if evaluator.has_mode else "an endpoint with echo and logprobs")
    if "model" in evaluator.Settings.model_fields:
        needs.append("a model")
    if issubclass(evaluator, LocalEvaluator) and "scores" in evaluator.looks_at:
        needs.append("scores of other judges")
    return ", ".join(needs) or "outputs alone"
