"""What judges have used so far: requests, tokens and money, from the counters that runs keep."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Sum

from evaluations.models import EvaluationRun
from geval.llm.cost import cost
from geval.llm.run_parameters import RunParameters


@dataclass
class Spending:
    """The sum over all runs of a judge; `money` is in the currency of its prices."""

    calls: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: Decimal = Decimal(0)


def spending_by_judge() -> dict[int, Spending]:
    """Sum up the spending with one query over the runs; runs with the same prices are added up
    before they are priced."""
    sums = (
        EvaluationRun.objects.of_judges_that_run()
        .with_prices("judge_id")
        .annotate(
            made=Sum("calls"),
            spared=Sum("cache_hits"),
            tokens_in=Sum("prompt_tokens"),
            tokens_out=Sum("completion_tokens"),
            tokens_cached=Sum("cached_tokens"),
        )
    )
    spending: dict[int, Spending] = defaultdict(Spending)
    for row in sums:
        prices = RunParameters.from_json(
            {name: row[name] for name in ("transport", "price_in", "price_out", "price_cached")}
        ).prices
        spent = spending[row["judge_id"]]
        spent.calls += row["made"]
        spent.cache_hits += row["spared"]
        spent.prompt_tokens += row["tokens_in"]
        spent.completion_tokens += row["tokens_out"]
        spent.money += (
            cost(
                row["tokens_in"],
                row["tokens_out"],
                prices,
                cached_tokens=row["tokens_cached"],
            )
            or 0
        )
    return dict(spending)
