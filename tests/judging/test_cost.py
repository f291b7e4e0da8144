"""Money for tokens."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from geval.llm.cost import Prices, cost, estimated_tokens, most_tokens
from geval.llm.run_parameters import RunParameters


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


def test_cached_tokens_have_a_price_of_their_own_where_there_is_one() -> None:
    stored = {"price_in": "1", "price_out": "2"}
    plain = RunParameters.from_json(stored).prices
    cheaper = RunParameters.from_json(stored | {"price_cached": "0.1"}).prices

    # 3 million in, of which 2 were cached: 3 at 1; 1 at 1 and 2 at 0.1
    assert cost(3_000_000, 0, plain, cached_tokens=2_000_000) == Decimal(3)
    assert cost(3_000_000, 0, cheaper, cached_tokens=2_000_000) == Decimal("1.2")
    assert cost(3_000_000, 0, cheaper) == Decimal(3)


def test_a_run_without_such_a_price_stores_what_earlier_versions_stored() -> None:
    assert "price_cached" not in RunParameters(price_in=Decimal(1)).as_json()
    stored = RunParameters(price_in=Decimal(1), price_cached=Decimal(0)).as_json()
    assert (stored["price_in"], stored["price_cached"]) == ("1", "0")


@given(st.text())
def test_the_upper_bound_is_above_the_estimate(text: str) -> None:
    assert most_tokens(len(text.encode())) >= estimated_tokens(len(text))
