"""Estimate what a search for a wording may cost before it starts."""

from dataclasses import dataclass
from decimal import Decimal

from assurance.improving.rewording import can_be_reworded
from evaluations.judging.runs.estimate import estimate_run
from evaluations.judging.runs.lifecycle import RunError
from evaluations.models import Criterion, Judge
from geval.llm.prompts import PromptError


@dataclass(frozen=True)
class SearchEstimate:
    """Tokens and money (None without prices) of this many calls, from the judge's mean prompt."""

    calls: int
    tokens: int
    cost: Decimal | None


def estimate_search(judge: Judge, criterion: Criterion, *, calls: int) -> SearchEstimate | None:
    """Estimate the calls of a search; None for judges that cannot be reworded or run."""
    if not can_be_reworded(judge):
        return None
    try:
        whole = estimate_run(judge, [criterion], fresh=True, transport="live")
    except (PromptError, RunError):
        return None
    if not whole.calls:
        return None
    each = calls / whole.calls
    tokens = round(each * (whole.prompt_tokens + whole.completion_tokens))
    return SearchEstimate(
        calls, tokens, None if whole.cost is None else whole.cost * calls / whole.calls
    )
