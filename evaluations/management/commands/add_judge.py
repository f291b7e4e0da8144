"""`manage.py add_judge PROJECT NAME …`: create a judge."""

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError

from evaluations.judging.judges.judges import (
    JudgeDraft,
    change_judge,
    create_judge,
    draft_of,
    endpoint_at,
)
from evaluations.judging.runs.accounts import warn_of_key
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_endpoint, find_judge, find_project
from evaluations.models import Endpoint, Judge, Project, ScoringMode
from geval.evaluators.base import EvaluatorError
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.registry import evaluator_class
from geval.llm.judge_settings import JudgeSettings, declared, option_of
from geval.llm.request_options import read_options
from geval.texts.program import command


def settings_from(listed: list[str]) -> dict[str, str]:
    """Parse settings given as NAME=VALUE."""
    wrong = [setting for setting in listed if "=" not in setting]
    if wrong:
        raise CommandError(f"--set needs NAME=VALUE; {wrong[0]!r} has no “=”.")
    return dict(setting.split("=", 1) for setting in listed)


def _add_setting(parser: ArgumentParser, name: str) -> None:
    """Add the option of a declared setting. Limits are checked with the rest of the judge.

    An option that is not given is absent from the options: a changed judge then keeps its own
    value, and a new one gets the default.
    """
    info, option = declared(name), f"--{option_of(name)}"
    if info.default is True:
        help_text = f"without: {(info.title or name).lower()}"
        parser.add_argument(
            option, dest=name, action="store_false", default=SUPPRESS, help=help_text
        )
        return
    help_text = f"{(info.title or name).lower()}. {info.description}"
    if name == "request_options":
        parser.add_argument(
            option, dest=name, type=_options, metavar="JSON", default=SUPPRESS, help=help_text
        )
        return
    kind = Decimal if name.startswith("price") else type(info.default or 0.0)
    if info.default:
        help_text += f" Default: {info.default:g}."
    if name == "mode":
        parser.add_argument(option, choices=ScoringMode.values, default=SUPPRESS, help=help_text)
        return
    parser.add_argument(option, dest=name, type=kind, default=SUPPRESS, help=help_text)


def _options(written: str) -> dict[str, Any]:
    try:
        return read_options(written)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


class Command(SiteCommand):
    help = (
        "Create a judge. It is G-Eval on an OpenAI-compatible endpoint, or another evaluator"
        f" ({command('evaluators')})."
    )
    REFUSALS = (EvaluatorError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("name", help="name of the judge")
        parser.add_argument(
            "--kind", "--evaluator", dest="kind", metavar="KIND", help="default: geval"
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a setting of the evaluator; can be repeated",
        )
        parser.add_argument(
            "--base-url", help="base URL of the endpoint; ends in /v1 on most servers"
        )
        parser.add_argument(
            "--endpoint", help="name of an existing endpoint, instead of its base URL"
        )
        parser.add_argument(
            "--change",
            action="store_true",
            help="change the judge with this name; what you leave out stays as it is",
        )
        parser.add_argument("--model", help="of the endpoint")
        for name in JudgeSettings.model_fields:
            _add_setting(parser, name)
        parser.add_argument(
            "--key-env", default="", help="environment variable of the worker that contains the key"
        )
        parser.add_argument(
            "--no-probe", action="store_true", help="do not probe the endpoint first"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        before = find_judge(project, options["name"]) if options["change"] else None
        probe = not options["no_probe"]
        draft = self._draft(project, before, options)
        if before:
            judge = change_judge(before, draft, probe=probe)
            outcome = "changed" if judge.pk == before.pk else "new version created"
        else:
            judge, made = create_judge(project, draft, probe=probe)
            outcome = "created" if made else "already exists"
        how = (
            f"it scores by {judge.get_mode_display().lower()}"
            if judge.mode
            else f"it is {judge.kind_title}"
        )
        self.stdout.write(f"Judge {judge}: {outcome}; {how}.")
        for criterion in project.criteria.all():
            self.stdout.write(f"  {criterion.name}: {criterion.scale_in_words}")
        if warning := warn_of_key(judge.endpoint):
            self.stderr.write(warning)
        why_not = evaluator_class(judge.kind).why_not()
        if why_not:
            self.stderr.write(f"{judge.kind_title} is {why_not}")

    def _draft(self, project: Project, before: Judge | None, options: dict[str, Any]) -> JudgeDraft:
        """Return the judge's current values, or the defaults, with the given options."""
        draft = draft_of(before) if before else JudgeDraft(name=options["name"])
        kind = options["kind"] or draft.kind
        given = {name: options[name] for name in JudgeSettings.model_fields if name in options}
        if options["model"] is not None:
            given["model"] = options["model"]
        endpoint = draft.endpoint
        if issubclass(evaluator_class(kind), LlmEvaluator):
            endpoint = self._endpoint(project, options) or endpoint
            if endpoint is None:
                raise CommandError(
                    "Name the endpoint with --base-url, or an existing one with --endpoint."
                )
        settings = {**draft.settings, **settings_from(options["set"])}
        return draft.changed(kind=kind, settings=settings, endpoint=endpoint, **given)

    def _endpoint(self, project: Project, options: dict[str, Any]) -> Endpoint | None:
        if options["endpoint"]:
            return find_endpoint(project, options["endpoint"])
        if not options["base_url"]:
            return None
        return endpoint_at(project, options["base_url"], key_env=options["key_env"])
