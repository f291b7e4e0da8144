"""Intervals of weighted errors, calibration, biases and gains hold the truth as often as they
say."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from geval.statistics.anytime import narrowing
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.attenuation import disattenuated
from geval.statistics.bias import family_bias, length_bias, writer_bias
from geval.statistics.calibration import reliability_intervals
from geval.statistics.held_out_test import gain_in_distance, gain_in_rank
from geval.statistics.jackknife import LeftOut
from geval.statistics.mean_gaps import mean_gap
from geval.statistics.resampling import Interval
from geval.statistics.sampling import active_probabilities, draw_systematically
from geval.statistics.types import FloatArray

SYSTEMS, POPULATION, RATED = 4, 300, 80
DATA_SETS = 1000
SLACK = 2 * np.sqrt(0.95 * 0.05 / DATA_SETS)
# The mean of the clipped coefficients below, from ten million of them.
RHO = 0.3945
FIRST = np.arange(SYSTEMS) == 0


@dataclass(frozen=True)
class World:
    """Documents of which some are hard for the judge: it is off there in one direction, more by
    chance, and more by length. `spread` is what a campaign knows of that beforehand."""

    outputs: Outputs
    ratings: FloatArray
    judge: FloatArray
    other: FloatArray
    words: FloatArray
    spread: FloatArray

    @classmethod
    def drawn(cls, documents: int, rng: np.random.Generator) -> "World":
        outputs = Outputs.full(documents, SYSTEMS)
        hard = rng.uniform(0, 2, documents)[outputs.document]
        quality = 3 + rng.normal(0, 0.5, documents)[outputs.document] - 0.3 * hard
        quality += rng.normal(0, 1, len(outputs))
        words = 50 + rng.normal(0, 15, len(outputs)) + 5 * hard
        ratings = np.round(quality + rng.normal(0, 0.6, (3, len(outputs))), 1)
        is_first = FIRST[outputs.system]
        judge = quality + 0.3 * hard + 0.02 * hard * (words - 50) + 0.3 * is_first * hard
        judge += rng.normal(0, 0.3 + 0.5 * hard)
        other = quality + rng.normal(0, 0.7, len(outputs))
        spread = hard * rng.uniform(0.7, 1.3, len(outputs))
        return cls(outputs, ratings, judge, other, words, spread)

    def sample(self, rng: np.random.Generator, *, whole_documents: bool) -> "World":
        """With ratings of those that an active campaign draws, and their weights."""
        of_document = self.outputs.by_document(self.spread) / SYSTEMS
        if whole_documents:
            probability = active_probabilities(of_document, RATED)
            chosen = np.zeros(POPULATION, dtype=bool)
            chosen[draw_systematically(probability, rng)] = True
            own, rated = probability[self.outputs.document], chosen[self.outputs.document]
        else:
            own = active_probabilities(self.spread, RATED * SYSTEMS)
            rated = np.zeros(len(own), dtype=bool)
            rated[draw_systematically(own, rng)] = True
        weighted = self.outputs.weighted(np.where(rated, 1 / own, 0.0))
        ratings = np.where(rated, self.ratings, np.nan)
        return World(weighted, ratings, self.judge, self.other, self.words, self.spread)


def values(world: World) -> Iterator[tuple[str, float, Interval]]:
    """Each statistic of a world: its name, value and interval."""
    human = Ratings.of_table(world.ratings).means()
    known = ~np.isnan(human)
    outputs, gaps = world.outputs.part(known), (world.judge - human)[known]
    documents = LeftOut.each(world.outputs.documents)
    for name, of in (("mean gap", gaps), ("mean absolute error", np.abs(gaps))):
        found = mean_gap(outputs, of)
        yield name, found.mean, found.interval
    group = np.digitize(world.judge, [2.5, 3.5]).astype(float)
    # The lowest group is of the same scores in every data set.
    one, interval = reliability_intervals(world.outputs, group, human)[0]
    yield "ratings at low scores", one.rating, interval
    length = length_bias(world.outputs, human, world.judge, world.words, documents)
    yield "bias by length", length.partial.value or 0.0, length.interval
    family = family_bias(world.outputs, human, world.judge, FIRST, ~FIRST, documents)
    yield "bias towards the own family", family.partial.value or 0.0, family.interval
    writers = writer_bias(world.outputs, human, world.judge, FIRST, ~FIRST, documents)
    assert writers is not None
    group, interval = writers.groups["llm"]
    yield "bias by writer", group.gap, interval
    clean = disattenuated(world.outputs, Ratings.of_table(world.ratings), world.judge, documents)
    yield "r without people's noise", clean.estimate.value or 0.0, clean.interval
    for name, gain in (("gain in rank", gain_in_rank), ("gain in distance", gain_in_distance)):
        proof = gain(world.outputs, human, world.other, world.judge, confidence=0.95)
        yield name, proof.gain.value or 0.0, proof.interval


def coverage(
    draw: Callable[[np.random.Generator], World], truth: dict[str, float], data_sets: int
) -> dict[str, float]:
    """How often the interval of each statistic holds its true value, where there is one: of outputs
    drawn one by one few documents have a pair. Without people's noise r takes more documents than
    these weights leave."""
    rng = np.random.default_rng(1)
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(data_sets):
        for name, _value, interval in values(draw(rng)):
            if interval.ends is not None:
                held[name].append(interval.ends[0] <= truth[name] <= interval.ends[1])
    assert [name for name, of in held.items() if not of] in ([], ["r without people's noise"])
    with_interval = {name: of for name, of in held.items() if of}
    assert all(len(of) > 0.95 * data_sets for of in with_interval.values())
    return {name: float(np.mean(of)) for name, of in with_interval.items()}


def truths() -> dict[str, float]:
    world = World.drawn(20_000, np.random.default_rng(0))
    return {name: value for name, value, _interval in values(world)}


@pytest.mark.slow
def test_documents_drawn_whole_with_unequal_probabilities() -> None:
    found = coverage(
        lambda rng: World.drawn(POPULATION, rng).sample(rng, whole_documents=True),
        truths(),
        DATA_SETS,
    )

    assert {name for name, one in found.items() if not is_kept(one)} == set(), found


@pytest.mark.slow
def test_outputs_drawn_one_by_one_with_unequal_probabilities() -> None:
    """Summary level is left out: few outputs of a document have another rho than all of them, as
    the report says."""
    found = coverage(
        lambda rng: World.drawn(POPULATION, rng).sample(rng, whole_documents=False),
        truths(),
        DATA_SETS,
    )

    del found["gain in rank"]
    assert {name for name, one in found.items() if not is_kept(one)} == set(), found


def is_kept(share: float) -> bool:
    return bool(0.93 - SLACK <= share <= 0.97 + SLACK)


@pytest.mark.slow
def test_weighted_ends_that_are_valid_at_any_time_leave_the_truth_out_in_few_runs() -> None:
    rng, missed = np.random.default_rng(2), 0
    for _ in range(DATA_SETS):
        hard = rng.random(200)
        probability = 0.25 + 0.75 * hard
        rho = np.clip(0.7 - 0.6 * hard + rng.normal(0, 0.3, 200), -1, 1)
        drawn = rng.random(200) < probability
        steps = narrowing(rho[drawn], 1 / probability[drawn])
        missed += any(not one.anytime.low <= RHO <= one.anytime.high for one in steps)

    assert missed <= 0.05 * DATA_SETS
