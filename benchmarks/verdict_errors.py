"""How often a verdict errs at its border, for `make bench-coverage`: judges that are exactly
VERDICT_MARGIN behind a rater must be said to rank like a rater in at most 5 % of reports, over all
judges that are compared; and how often a rater's equal is found to be that.

The border is found by simulation: the noise at which a judge in a rater's place is VERDICT_MARGIN
behind the rater, on average over many data sets.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from geval.statistics.agreement import judge_minus_a_rater
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.thresholds import VERDICT_ERROR, VERDICT_MARGIN
from geval.statistics.types import FloatArray

RATERS = 3
# Data sets whose mean is taken for the truth; with 100 documents each, it is known to 0.001.
TRUTH_SETS = 1500
STEPS = 12
Rng = np.random.Generator


@dataclass(frozen=True)
class Raters:
    """Who rates: the noise of each rater, how many rate at random, and where the scale is centred
    (towards its end, most ratings are the same)."""

    name: str
    noise: float = 0.7
    careless: int = 0
    centre: float = 3.0

    def rate(self, quality: FloatArray, rng: Rng) -> FloatArray:
        """Ratings of shape (raters, outputs)."""
        seen = self.centre + quality + rng.normal(0, self.noise, (RATERS, len(quality)))
        given = np.clip(np.round(seen), 1, 5)
        for rater in range(self.careless):
            given[rater] = rng.integers(1, 6, len(quality))
        return given


@dataclass(frozen=True)
class Border:
    """Judges at the border: `judges` of them, on so many documents and systems."""

    raters: Raters
    documents: int
    systems: int
    judges: int

    @property
    def name(self) -> str:
        judges = "one judge" if self.judges == 1 else f"the best of {self.judges}"
        return f"{judges}, {self.raters.name}, {self.documents} x {self.systems}"

    def draw(self, noise: float, rng: Rng) -> tuple[Outputs, Ratings, list[FloatArray]]:
        """Ratings, and the scores of judges that see with this noise."""
        outputs = Outputs.full(self.documents, self.systems)
        # The claim is about these systems and other documents, so systems stay.
        of_systems = np.random.default_rng(1).normal(0, 0.5, self.systems)
        quality = of_systems[outputs.system] + rng.normal(0, 0.9, len(outputs))
        ratings = Ratings.of_table(self.raters.rate(quality, rng))
        scores = [
            np.clip(
                np.round(self.raters.centre + quality + rng.normal(0, noise, len(outputs))), 1, 5
            )
            for _ in range(self.judges)
        ]
        return outputs, ratings, scores

    def truth(self, noise: float) -> float:
        """How far such a judge is behind a rater, on average."""
        alone, rng = replace(self, judges=1), np.random.default_rng(99)
        found = []
        for _ in range(max(20, TRUTH_SETS * 30 // self.documents)):
            outputs, ratings, (scores,) = alone.draw(noise, rng)
            found.append(judge_minus_a_rater(outputs, ratings, scores).value)
        return float(np.mean([one for one in found if one is not None]))

    def noise_at(self, behind: float) -> float:
        """The noise at which a judge is so far behind a rater, by bisection."""
        low, high = 0.05, 8.0
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.truth(middle) > behind else (low, middle)
        return (low + high) / 2

    def claims(self, noise: float, data_sets: int) -> float:
        """The share of data sets in which any of the judges is said to rank like a rater."""
        claimed = 0
        for seed in range(data_sets):
            outputs, ratings, judges = self.draw(noise, np.random.default_rng(seed))
            lows = (
                judge_minus_a_rater(outputs, ratings, scores).low(1 - VERDICT_ERROR / self.judges)
                for scores in judges
            )
            claimed += any(low is not None and low > -VERDICT_MARGIN for low in lows)
        return claimed / data_sets


KINDS = (
    Raters("careful raters"),
    Raters("noisy raters", noise=1.5),
    Raters("one careless rater", careless=1),
    Raters("skewed ratings", centre=4.5),
)
SHAPES = ((30, 16), (100, 4), (100, 16))


def borders() -> Iterator[Border]:
    """Every kind of raters, with one judge and six."""
    for raters in KINDS:
        for judges in (1, 6):
            documents, systems = SHAPES[(KINDS.index(raters) + judges) % len(SHAPES)]
            yield Border(raters, documents, systems, judges)


def print_verdict_errors(data_sets: int) -> bool:
    """Print each border's error and power; True if no error is above the goal."""
    print(
        f"\nVerdicts at the border ({VERDICT_MARGIN:g} behind a rater): share said to rank like one"
    )
    fits = True
    for border in borders():
        error = border.claims(border.noise_at(-VERDICT_MARGIN), data_sets)
        power = border.claims(border.noise_at(0.0), data_sets)
        most = VERDICT_ERROR + 2 * float(np.sqrt(VERDICT_ERROR * (1 - VERDICT_ERROR) / data_sets))
        holds = error <= most
        fits &= holds
        print(
            f"{border.name:48}  error {error:6.1%}  goal at most {VERDICT_ERROR:.0%}"
            f"  ratio {error / VERDICT_ERROR:4.2f}  power for a rater's equal {power:6.1%}"
            f"{'' if holds else '  MISSED'}",
            flush=True,
        )
    return fits
