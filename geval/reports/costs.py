"""A judge's cost, speed, and share of items without a score."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class JudgeCost:
    """Per 1,000 items answered by calls: tokens, money in the currency of the judge's prices (None
    without them), and minutes of its finished runs. `why_not` says why they are unknown."""

    judge: str
    items: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: Decimal | None = None
    minutes: float | None = None
    why_not: str = ""


@dataclass(frozen=True)
class JudgeAnswers:
    """How many finished items have no score, how many of these the judge declined, and the mean
    seconds from an item's first request to its last reply (None without replies)."""

    items: int
    unscored: int
    declined: int
    seconds: float | None


def cost_in_words(cost: JudgeCost, answers: JudgeAnswers) -> str:
    """Return what a judge costs, how fast it is, and how often it gave no score."""
    if cost.why_not and cost.minutes is None:
        return f"{cost.judge}: no cost is known, because {cost.why_not}"
    price = "no prices" if cost.money is None else f"{cost.money:.2f}"
    parts = [f"{cost.judge}: 1,000 items cost {price}"]
    if cost.minutes is not None:
        parts.append(f"take {cost.minutes:.1f} minutes")
    if answers.seconds is not None:
        parts.append(f"{answers.seconds:.2f} seconds for an answer")
    parts.append(
        f"{answers.unscored} of {answers.items} items without a score, {answers.declined} declined"
    )
    return "; ".join(parts)
