"""How steady a judge is, from repeated replies: against simulation, hand-made cases, and the
recorded replies of Topical-Chat."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.instrument import RECORDED, SCALES, predicted_and_observed, recorded_replies
from evaluations.statistics.layout import Outputs, Ratings
from evaluations.statistics.repeatability import Repeatability, repeatability
from evaluations.thresholds import REPLIES_ITEMS

RNG = np.random.default_rng(4)


def of_table(
    replies: np.ndarray, human: np.ndarray | None = None, systems: int = 1
) -> Repeatability:
    """Of replies with shape (items, replies)."""
    outputs = Outputs.full(len(replies) // systems, systems)
    return repeatability(Ratings.of_table(replies.T), outputs, human)


def test_components_that_were_planted_are_found() -> None:
    quality = RNG.normal(0, 1.0, 20_000)
    replies = quality[:, None] + RNG.normal(0, 0.5, (20_000, 4))
    human = quality + RNG.normal(0, 1, 20_000)

    found = of_table(replies, human)

    assert found.icc.value == pytest.approx(1 / 1.25, abs=0.01)
    assert found.reply_error.value == pytest.approx(0.5, abs=0.01)
    assert found.score_error.value == pytest.approx(0.25, abs=0.01)
    for k in (1, 4, 16):
        true = 1 / np.sqrt(2 * (1 + 0.25 / k))
        assert found.pearson_with(k).value == pytest.approx(true, abs=0.02)


def test_with_as_many_replies_as_there_are_the_prediction_is_what_is_seen() -> None:
    replies = RNG.integers(1, 6, (100, 3)).astype(float) + np.arange(100)[:, None] / 25

    found = of_table(replies, np.arange(100.0))

    assert found.pearson_with(3).value == pytest.approx(found.pearson.value)


def test_replies_that_never_differ_have_no_error() -> None:
    found = of_table(np.repeat(np.arange(40.0)[:, None], 5, axis=1), np.arange(40.0), systems=2)

    assert (found.icc.value, found.reply_error.value, found.differ.value) == (1, 0, 0)
    assert found.flips.value == 0
    assert found.pearson_with(1).value == pytest.approx(1)


def test_pairs_of_replies_are_counted_one_by_one() -> None:
    replies = RNG.integers(1, 4, (30, 6)).astype(float)
    replies[RNG.random(replies.shape) < 0.2] = np.nan

    found = of_table(replies, systems=3)

    shares, flips = [], []
    for row in replies:
        known = row[~np.isnan(row)]
        pairs = [(a, b) for i, a in enumerate(known) for b in known[:i]]
        if pairs:
            shares.append(np.mean([a != b for a, b in pairs]))
    for document in replies.reshape(10, 3, 6):
        for first in range(3):
            for second in range(first + 1, 3):
                gap = document[first] - document[second]
                known = np.sign(gap[~np.isnan(gap)])
                both = [(a, b) for i, a in enumerate(known) for b in known[:i]]
                if both:
                    flips.append(np.mean([a * b < 0 for a, b in both]))
    assert found.differ.value == pytest.approx(np.mean(shares))
    assert found.flips.value == pytest.approx(np.mean(flips))


def test_few_items_say_nothing() -> None:
    found = of_table(RNG.normal(size=(REPLIES_ITEMS - 1, 5)))

    assert found.icc.value is None
    assert "fewer than 20 items" in found.icc.reason


def test_items_that_nobody_rated_have_no_correlation() -> None:
    found = of_table(RNG.normal(size=(50, 5)), np.full(50, np.nan))

    assert found.icc.value is not None
    assert "rated by people" in found.pearson_with(3).reason


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("criterion", SCALES)
def test_the_prediction_at_15_replies_is_what_is_observed(
    benchmarks: Path, name: str, criterion: str
) -> None:
    found, observed = predicted_and_observed(*recorded_replies(benchmarks, name, criterion))

    assert found.pearson_with(15).value == pytest.approx(observed, abs=0.01)
    assert found.differ.value is not None
    assert 0.2 < found.differ.value < 0.5
