"""Agreement on comparisons is what counting every pair of choices one by one gives, with ties (S1
of MT-bench) and without (S2)."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from geval.statistics.comparisons import (
    ONE_SIDED,
    Agreed,
    PairChoice,
    agreement_among,
    agreement_of,
    agreement_with,
    decided,
    share_interval,
)

CHOICES = st.lists(
    st.builds(
        PairChoice,
        document=st.integers(0, 3),
        comparison=st.integers(0, 5),
        rater=st.integers(0, 3),
        value=st.integers(-1, 1),
    ),
    max_size=25,
    unique_by=lambda choice: (choice.comparison, choice.rater),
)


def counted(pairs: list[tuple[int, int]]) -> tuple[float | None, int]:
    """The share that is equal, and of how many."""
    equal = 0
    for first, second in pairs:
        equal += first == second
    return (equal / len(pairs) if pairs else None), len(pairs)


def said(found: Agreed) -> tuple[float | None, int]:
    return found.estimate.value, found.pairs


@given(CHOICES)
def test_people_with_each_other(choices: list[PairChoice]) -> None:
    found = agreement_among(choices)

    every, without = [], []
    for one, other in itertools.product(choices, choices):
        if one.comparison == other.comparison and str(one.rater) < str(other.rater):
            every.append((one.value, other.value))
            if one.value != 0 and other.value != 0:
                without.append((one.value, other.value))
    assert said(found.with_ties) == pytest.approx(counted(every), nan_ok=True)
    assert said(found.without_ties) == pytest.approx(counted(without), nan_ok=True)


@given(CHOICES, st.dictionaries(st.integers(0, 5), st.integers(-1, 1)))
def test_a_judge_with_people(choices: list[PairChoice], verdicts: dict[int, int]) -> None:
    found = agreement_with(verdicts, choices)  # type: ignore[arg-type]

    every = [(verdicts[c.comparison], c.value) for c in choices if c.comparison in verdicts]
    assert said(found.with_ties) == pytest.approx(counted(every))
    assert said(found.without_ties) == pytest.approx(counted([p for p in every if 0 not in p]))


def test_intervals_need_ten_documents_and_pairs_of_both_kinds() -> None:
    rng = random.Random(1)
    few = [(document, 1, rng.choice([1, -1])) for document in range(9)]
    alike = [(document, 1, 1) for document in range(40)]
    enough = [(document % 20, 1, rng.choice([1, 1, -1])) for document in range(200)]

    assert "fewer than 10 documents" in agreement_of(few).with_ties.interval.reason
    assert agreement_of(alike).with_ties.interval.reason == ONE_SIDED
    assert ONE_SIDED.startswith("fewer than 5 documents")
    interval = agreement_of(enough).with_ties.interval
    share = agreement_of(enough).with_ties.estimate.value
    assert interval.low is not None
    assert interval.high is not None
    assert share is not None
    assert 0.5 < interval.low < share < interval.high < 0.85


def test_the_interval_of_a_share_is_the_jackknife_on_log_odds() -> None:
    rng = np.random.default_rng(4)
    of = rng.integers(1, 6, 12).astype(float)
    counted = np.minimum(rng.integers(0, 5, 12), of)

    found = share_interval(counted, of)

    def log_odds(kept: np.ndarray) -> float:
        hits, all_of_them = counted[kept].sum(), of[kept].sum()
        return float(np.log((hits + 0.5) / (all_of_them - hits + 0.5)))

    every = np.arange(12)
    left_out = np.array([log_odds(every != at) for at in every])
    half = stats.t.ppf(0.975, 11) * np.sqrt(11 / 12 * ((left_out - left_out.mean()) ** 2).sum())
    ends = special.expit([log_odds(every >= 0) - half, log_odds(every >= 0) + half])
    assert found.ends == pytest.approx(tuple(ends))


@pytest.mark.parametrize(
    ("value", "tie", "left", "choice"),
    [
        (1.0, 0.0, 0.5, 1),  # the first in both orders
        (0.0, 0.0, 0.5, -1),
        (0.5, 0.0, 1.0, 0),  # whatever is shown first: inconsistent
        (0.5, 1.0, 0.5, 0),  # a tie in both orders
        (0.75, 0.5, 0.75, 0),  # the first in one order, a tie in the other
        (1.0, 0.0, None, 1),  # one order only
        (0.5, 1.0, None, 0),
        (0.8, 0.1, 0.55, 1),
        (0.55, 0.1, 0.7, 0),  # 0.75 in order, 0.35 exchanged
        (0.52, 0.0, 0.5, 1),
        (0.48, 0.0, 0.5, -1),
        (0.5, 0.0, 0.5, 0),
        (0.52, 0.0, 0.55, 0),  # 0.57 and 0.47
        (0.48, 0.0, 0.55, 0),  # 0.53 and 0.43
        (0.48, 0.0, 0.45, 0),
        (0.6, 0.4, None, 0),  # the first 0.4, a tie 0.4, the second 0.2
        (0.605, 0.39, None, 1),  # the first 0.41, a tie 0.39
        (0.595, 0.41, None, 0),
        (0.4, 0.4, None, 0),
        (0.395, 0.39, None, -1),
        (0.6, 0.4 - 5e-10, None, 0),  # a tie but for rounding
        (0.5 + 5e-10, 0.0, 0.5, 0),
        (0.5 - 5e-10, 0.0, 0.5, 0),
    ],
)
def test_a_verdict_is_what_both_orders_say(
    value: float, tie: float, left: float | None, choice: int
) -> None:
    assert decided(value, tie, left) == choice
