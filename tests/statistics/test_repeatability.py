"""How steady a judge is, from repeated replies: against simulation, hand-made cases, and the
recorded replies of Topical-Chat."""

from dataclasses import replace

import numpy as np
import pytest

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.repeatability import Repeatability, repeatability
from geval.statistics.types import Estimate

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


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_with_gaps_every_component_is_that_of_the_definition(scale: float) -> None:
    rng = np.random.default_rng(9)
    replies = rng.normal(3, 1, (40, 1)) + rng.normal(0, 1, (40, 5))
    replies[:, 1:][rng.random((40, 4)) < 0.4] = np.nan
    replies[3, 1:] = np.nan  # one reply says nothing of how far replies differ
    human = rng.normal(3, 2, 40) + np.nanmean(replies, axis=1)
    human[5:9] = np.nan
    replies *= scale

    found = of_table(replies, human)

    count = (~np.isnan(replies)).sum(axis=1)
    again = count > 1
    means, own = np.nanmean(replies, axis=1), count[again]
    squared = np.nansum((replies[again] - means[again, None]) ** 2)
    within = squared / (own.sum() - again.sum())
    noise = within * (1 / own).mean()
    between = means[again].var(ddof=1) - noise
    assert (found.items, found.replies) == (again.sum(), pytest.approx(own.mean()))
    assert found.reply_error.value == pytest.approx(np.sqrt(within))
    assert found.score_error.value == pytest.approx(np.sqrt(noise))
    known = again & ~np.isnan(human)
    r = np.corrcoef(means[known], human[known])[0, 1]
    assert found.pearson.value == pytest.approx(r)
    for k in (1, 3, 50):
        expected = r * np.sqrt((between + noise) / (between + within / k))
        assert found.pearson_with(k).value == pytest.approx(expected)


def test_replies_that_differ_as_much_as_items_do_predict_nothing() -> None:
    # Every item has the same mean, so that nothing lies between items.
    replies = np.tile([[1.0, 5.0]], (30, 1))

    found = of_table(replies, np.arange(30.0))

    assert found.pearson.reason.endswith("ratings, are the same")
    flat = replace(found, pearson=Estimate(0.5))
    assert (found.between, found.noise) == (0.0, 4.0)
    assert flat.pearson_with(2).value == pytest.approx(0.5)
    nothing = replace(flat, noise=0.0, within=0.0)
    for empty in (nothing, replace(flat, noise=0.0), replace(flat, within=0.0)):
        reason = empty.pearson_with(2).reason
        assert reason.startswith("replies differ as much within items")


@pytest.mark.parametrize(("rated", "is_known"), [(19, False), (20, True), (21, True)])
def test_twenty_rated_items_have_a_correlation(rated: int, is_known: bool) -> None:
    human = np.where(np.arange(40) < rated, np.arange(40.0), np.nan)
    table = RNG.normal(size=(40, 2))

    few = "fewer than 20 of the items are rated by people"
    assert of_table(table, human).pearson.reason == ("" if is_known else few)
    assert of_table(table).pearson.reason == few
    constant = np.where(np.isnan(human), np.nan, 3.0)
    if is_known:
        same = "all scores, or all ratings, are the same"
        assert of_table(table, constant).pearson.reason == same


def test_an_order_of_two_outputs_takes_two_askings_of_both() -> None:
    table = RNG.normal(size=(40, 2))

    found = of_table(table, systems=1)
    assert found.flips.reason.startswith("no document has two outputs")
    table[::2, 1] = np.nan  # the first output of each document was asked about once
    few = of_table(table, systems=2)
    assert few.flips.reason == found.flips.reason
