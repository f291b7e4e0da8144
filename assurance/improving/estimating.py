"""What a search for a wording may take, before it starts."""

from dataclasses import dataclass
from decimal import Decimal

from assurance.improving.rewording import can_be_reworded
from evaluations.judging.runs.estimate import estimate_run
from evaluations.judging.runs.lifecycle import RunError
from evaluations.models import Criterion, Judge
from geval.llm.prompts import PromptError


@dataclass(frozen=True)
class SearchEstimate:
    """Tokens and money (None without prices) of so many calls, by the judge's mean prompt."""

    calls: int
    tokens: int
    cost: Decimal | None


def estimate_search(judge: Judge, criterion: Criterion, *, calls: int) -> SearchEstimate | None:
    """What calls of a search take, about; None for judges that cannot be reworded or asked."""
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
