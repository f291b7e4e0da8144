"""A trial in the terminal: prompts, replies, how they were read, and the cost of the rest."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from evaluations.judging.runs.trial import estimate_rest, unreadable
from evaluations.models import EvaluationRun
from evaluations.pages.runs.item import TrialItem, trial_items
from geval.statistics.scales import NOT_APPLICABLE
from geval.texts.numbers import in_time, two_decimals
from geval.texts.program import command
from geval.texts.sentences import excerpt

# Length of the beginning of a reply to show; the run's page has all of it.
SHOWN_CHARACTERS = 160


def trial_lines(run: EvaluationRun) -> Iterator[str]:
    """Return a trial's results line by line: one prompt, each item, the rest, and how to
    continue."""
    items = trial_items(run)
    if items and items[0].prompts:
        yield f"The first prompt:\n\n{items[0].prompts[0]}\n"
    for shown in items:
        yield _item_line(shown)
    yield ""
    yield from advice_lines(run)
    estimate = estimate_rest(run)
    if not estimate.items:
        yield "Nothing is left to judge."
        return
    money = "" if estimate.cost is None else f", {estimate.cost:.4f} in the currency of the prices"
    takes = f" and {in_time(estimate.seconds)}" if estimate.seconds else ""
    yield (
        f"The {estimate.items:,} items without a score would need about {estimate.calls:,} calls"
        f" and {estimate.prompt_tokens + estimate.completion_tokens:,} tokens{money}{takes}."
    )
    if any(shown.value is not None for shown in items):
        yield "The same command without --trial judges them."


def trial_json(run: EvaluationRun) -> dict[str, Any]:
    """Return a trial's results as JSON."""
    failing, estimate = unreadable(run), estimate_rest(run)
    return {
        "trial": [
            {
                "item": shown.item.pk,
                "criterion": shown.item.criterion.name if shown.item.criterion else "",
                "system": shown.item.output.system.name,
                "doc_id": shown.item.output.document.doc_id,
                "prompts": shown.prompts,
                "replies": [reply.text or reply.refusal for reply in shown.replies],
                "score": shown.value,
                "coverage": shown.coverage,
                "reason": shown.item.reason,
                "detail": shown.item.detail,
            }
            for shown in trial_items(run)
        ],
        "advice": failing.in_words if failing else "",
        "changes": [change.key for change in failing.advice.changes] if failing else [],
        "rest": asdict(estimate) | {"cost": None if estimate.cost is None else str(estimate.cost)},
    }


def _item_line(shown: TrialItem) -> str:
    item = shown.item
    name = f"{item.criterion.name if item.criterion else 'all criteria'}, {item.output.system.name}"
    if item.rival:
        name += f" against {item.rival.system.name}"
    if shown.is_not_applicable:
        reading = NOT_APPLICABLE
    elif shown.value is None:
        reading = f"{item.reason or 'not judged'}: {item.detail}" if item.reason else "not judged"
    else:
        reading = two_decimals(shown.value)
        if shown.coverage is not None:
            reading += f" (coverage {shown.coverage:.2f})"
    first = shown.replies[0] if shown.replies else None
    text = excerpt(first.text or first.refusal or "", SHOWN_CHARACTERS) if first else ""
    return f"  {name} on {item.output.document.doc_id}: {reading}" + (f"  “{text}”" if text else "")


def advice_lines(run: EvaluationRun) -> Iterator[str]:
    """Return why items failed, with the commands that change the judge as advised and try it."""
    failing = unreadable(run)
    if failing is None:
        return
    yield failing.in_words
    for change in failing.advice.changes:
        words = f'judge {run.project.slug} --judge "{run.judge.name}" --change {change.key}'
        yield f"  {change.words} and try again: `{command(words)}`"
