"""Money for tokens."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from evaluations.models.run_parameters import RunParameters
from geval.llm.cost import Prices, cost, estimated_tokens, most_tokens


def test_cost_by_hand() -> None:
    # 2 million in at 0.15 and half a million out at 0.60: 0.30 + 0.30
    assert cost(2_000_000, 500_000, Prices(Decimal("0.15"), Decimal("0.60"))) == Decimal("0.60")


def test_batches_cost_half() -> None:
    prices = RunParameters.from_json(
        {"price_in": "0.15", "price_out": "0.60", "transport": "batch"}
    ).prices

    assert cost(2_000_000, 500_000, prices) == Decimal("0.30")


def test_without_prices_there_is_no_cost() -> None:
    assert (
        cost(10, 10, RunParameters.from_json({"price_in": None, "price_out": "1"}).prices) is None
    )


@given(st.text())
def test_the_upper_bound_is_above_the_estimate(text: str) -> None:
    assert most_tokens(len(text.encode())) >= estimated_tokens(len(text))
