"""What judges cost in money and time, and what the more expensive of two gives for its price: the
difference in agreement with people beside the ratio of costs. Pure.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from geval.texts.numbers import signed
from geval.texts.sentences import listed

# Prices that differ by less are equal.
LEAST_PRICE_RATIO = 1.1


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
class AgreementGap:
    """The first judge's mean correlation with people minus the second's on a criterion, on the same
    documents (NaN for none), and the ends of its interval (None for none)."""

    criterion: str
    value: float
    ends: tuple[float, float] | None

    def in_words(self, sign: int) -> str:
        """Return the difference from one judge's side, in words."""
        words = signed(sign * self.value)
        if self.ends:
            low, high = sorted(sign * end for end in self.ends)
            words += f" [{signed(low)}, {signed(high)}]"
        return f"{words} on {self.criterion}"


@dataclass(frozen=True)
class PricedJudge:
    """A judge, its cost per 1,000 items including its model's thoughts (None: unknown), and its
    request options."""

    name: str
    money: float | None
    options: Mapping[str, Any]

    def beside(self, other: "PricedJudge") -> str:
        """Return its name, with the options that the other judge does not have."""
        own = [
            f"{name} {value if isinstance(value, str) else json.dumps(value)}"
            for name, value in self.options.items()
            if name not in other.options or other.options[name] != value
        ]
        return f"{self.name} ({', '.join(own)})" if own else self.name


def compare_prices(
    first: PricedJudge, second: PricedJudge, gaps: Sequence[AgreementGap], symbol: str
) -> str:
    """Return what the more expensive judge gives for its price, in a sentence; empty where a price
    is unknown or both are equal.

    Args:
        symbol: the coefficient's symbol, such as "rho".
    """
    if not first.money or not second.money:
        return ""
    sign = 1 if first.money > second.money else -1
    dear, cheap = (first, second) if sign == 1 else (second, first)
    times = max(first.money, second.money) / min(first.money, second.money)
    if times < LEAST_PRICE_RATIO:
        return ""
    name = dear.beside(cheap)
    differences = [gap.in_words(sign) for gap in gaps if not math.isnan(gap.value)]
    if not differences:
        more = f"{times:.0f} times as much" if times >= 2 else f"{100 * (times - 1):.0f} % more"
        return f"{name} costs {more}."
    price = f"{times:.0f} times" if times >= 2 else f"{times:.1f} times"
    return f"{name}: {symbol} {listed(differences)}, for {price} the price."
