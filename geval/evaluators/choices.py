"""The list of evaluators on a page: by family, with requirements and reasons why some cannot
run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from geval.evaluators.base import Evaluator, LocalEvaluator
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.registry import Broken, broken_evaluators, evaluators, find_evaluator


@dataclass(frozen=True)
class ViewChoice:
    """An evaluator on a page."""

    kind: str
    title: str
    summary: str
    paper: str
    needs: str
    why_not: str
    chats: bool


def choices() -> dict[str, Any]:
    """`families`: the evaluators that run here, by family; `missing`: those whose packages are not
    installed; `broken`: entry points that cannot be loaded."""
    families: dict[str, list[ViewChoice]] = {}
    missing: list[ViewChoice] = []
    for evaluator in evaluators().values():
        if evaluator.runs:
            choice = choice_of(evaluator)
            kinds = missing if choice.why_not else families.setdefault(evaluator.family, [])
            kinds.append(choice)
    broken: tuple[Broken, ...] = broken_evaluators()
    return {"families": families, "missing": missing, "broken": broken}


def choice_of(evaluator: type[Evaluator]) -> ViewChoice:
    return ViewChoice(
        evaluator.kind,
        evaluator.title,
        evaluator.summary,
        evaluator.paper,
        needs_of(evaluator),
        evaluator.why_not(),
        evaluator.chats,
    )


def needs_of(evaluator: type[Evaluator]) -> str:
    """Return an evaluator's requirements, in words."""
    if not evaluator.runs:
        return "an upload"
    needs: list[str] = sorted(evaluator.needs)
    if issubclass(evaluator, LlmEvaluator):
        needs.append(evaluator.endpoint)
    if "model" in evaluator.Settings.model_fields:
        needs.append("a model")
    if issubclass(evaluator, LocalEvaluator) and "scores" in evaluator.looks_at:
        needs.append("scores of other judges")
    return ", ".join(needs) or "only outputs"


def settings_rows(kind: str, settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return an evaluator's settings as (title, value), in the order of its form, without empty
    ones."""
    evaluator = find_evaluator(kind)
    fields = evaluator.Settings.model_fields if evaluator else {}
    rows = []
    for name in [
        *(name for name in fields if name in settings),
        *(name for name in settings if name not in fields),
    ]:
        value = settings[name]
        title = (fields[name].title if name in fields else None) or name.replace(
            "_", " "
        ).capitalize()
        shown = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        if shown not in ("", None):
            rows.append((title, str(shown).replace("_", " ") if name != "model" else str(shown)))
    return rows
