"""How often what is said of judges' probabilities is wrong, for `make bench-coverage`: all that a
report says of two judges on its criteria, together, must err in at most 5 % of reports.

Judges are at the borders of what is said of them:

- "as drawn" states the distribution that ratings are drawn from: it is neither overconfident nor
  too cautious, nor worse than guessing.
- "nothing" reads nothing, and states how often people give each point: it is as good as guessing,
  neither better nor worse.
- "at the margin" is overconfident by exactly CALIBRATION_MARGIN: its probabilities are not right.
- "wrong by system" is overconfident by UNEVEN on every other system and too cautious by as much on
  the rest: right on average, and not to be taken as it stands.
- "twins" see the same quality with errors of their own, equally large: neither is better.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats

from geval.reports.probabilities import (
    SAID_TOGETHER,
    PairProbabilities,
    beside_guessing,
    can_be_taken,
    fit_of,
)
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.probability_calibration import (
    brier_difference,
    probability_calibration,
    shares_of_ratings,
)
from geval.statistics.thresholds import CALIBRATION_MARGIN, SIGNIFICANCE
from geval.statistics.types import FloatArray, IntArray

POINTS = (1.0, 2.0, 3.0, 4.0, 5.0)
EDGES = np.array([-np.inf, 1.5, 2.5, 3.5, 4.5, np.inf]) - 3
RATERS = 3
# Standard deviations: of documents, of outputs within them (together 1), of how strict a document's
# raters are, and of a rating; and a twin's error.
OF_DOCUMENTS, OF_OUTPUTS, STRICTNESS, NOISE, TWIN = 0.6, 0.8, 0.5, 0.6, 0.8
SHAPES = ((20, 5), (100, 4))
# Outputs whose mean is taken for the truth.
MANY = 200_000
STEPS = 20
UNEVEN = 0.2
Rng = np.random.Generator


def stated(seen: FloatArray, spread: float) -> FloatArray:
    """Probabilities of the points where quality is normal about what is seen; shape (outputs,
    points)."""
    return np.diff(stats.norm.cdf((EDGES - seen[:, None]) / spread), axis=1)


def sharpened(shares: FloatArray, power: float) -> FloatArray:
    powers = shares**power
    return powers / powers.sum(axis=1, keepdims=True)


@cache
def true_shares() -> FloatArray:
    """Of many outputs, the distribution that their ratings are drawn from."""
    quality = np.random.default_rng(7).normal(0, np.hypot(OF_DOCUMENTS, OF_OUTPUTS), MANY)
    return stated(quality, float(np.hypot(STRICTNESS, NOISE)))


@cache
def power_for(overconfidence: float) -> float:
    """The power that makes probabilities so overconfident, by bisection."""
    right, low, high = true_shares(), 0.0, 20.0
    for _ in range(STEPS):
        power = (low + high) / 2
        sharp = sharpened(right, power)
        given = right[np.arange(MANY), sharp.argmax(axis=1)]
        is_more = float((sharp.max(axis=1) - given).mean()) > overconfidence
        low, high = (low, power) if is_more else (power, high)
    return (low + high) / 2


@dataclass(frozen=True)
class Statements:
    """What a report says of two judges on a criterion: `fits` and `guesses` of each, which is
    `better` (0: undecided), and whether the first judge can be taken as it stands."""

    fits: tuple[str, str]
    guesses: tuple[str, str]
    better: int
    is_usable: bool


# From quality and system of outputs.
Judges = Callable[[FloatArray, IntArray, Rng], tuple[FloatArray, FloatArray]]
IsWrong = Callable[[Statements], bool]


def as_drawn_and_nothing(
    quality: FloatArray, _system: IntArray, _rng: Rng
) -> tuple[FloatArray, FloatArray]:
    right = stated(quality, float(np.hypot(STRICTNESS, NOISE)))
    return right, np.tile(true_shares().mean(axis=0), (len(quality), 1))


def at_the_margin(quality: FloatArray, system: IntArray, rng: Rng) -> tuple[FloatArray, FloatArray]:
    right, nothing = as_drawn_and_nothing(quality, system, rng)
    return sharpened(right, power_for(CALIBRATION_MARGIN)), nothing


def wrong_by_system(
    quality: FloatArray, system: IntArray, rng: Rng
) -> tuple[FloatArray, FloatArray]:
    right, nothing = as_drawn_and_nothing(quality, system, rng)
    powers = np.array([power_for(UNEVEN), power_for(-UNEVEN)])
    return sharpened(right, powers[system % 2][:, None]), nothing


def twins(quality: FloatArray, _system: IntArray, rng: Rng) -> tuple[FloatArray, FloatArray]:
    trust = 1 / (1 + TWIN**2)
    spread = float(np.sqrt(STRICTNESS**2 + NOISE**2 + TWIN**2 * trust))
    first, second = (
        stated(trust * (quality + rng.normal(0, TWIN, len(quality))), spread) for _ in range(2)
    )
    return first, second


WRONG_FITS = ("overconfident", "too cautious")


def errs_on_drawn_or_nothing(statements: Statements) -> bool:
    return (
        any(fit in WRONG_FITS for fit in statements.fits)
        or statements.guesses[0] == "worse"
        or statements.guesses[1] != "undecided"
        or statements.better == 2
    )


def errs_at_the_margin(statements: Statements) -> bool:
    return (
        statements.fits[0] in ("right", "too cautious")
        or statements.fits[1] in WRONG_FITS
        or statements.guesses[1] != "undecided"
    )


def errs_on_uneven(statements: Statements) -> bool:
    return statements.is_usable or statements.fits[1] in WRONG_FITS


def errs_on_twins(statements: Statements) -> bool:
    return (
        statements.better != 0
        or any(fit in WRONG_FITS for fit in statements.fits)
        or "worse" in statements.guesses
    )


KINDS: tuple[tuple[str, Judges, IsWrong], ...] = (
    ("as drawn, and nothing", as_drawn_and_nothing, errs_on_drawn_or_nothing),
    ("at the margin, and nothing", at_the_margin, errs_at_the_margin),
    ("wrong by system", wrong_by_system, errs_on_uneven),
    ("twins", twins, errs_on_twins),
)


def statements_of(
    documents: int, systems: int, judges: Judges, criteria: int, rng: Rng
) -> Statements:
    """What a report of so many criteria says on one of them, drawn at random."""
    shape = (documents, systems)
    quality = rng.normal(0, OF_DOCUMENTS, (documents, 1)) + rng.normal(0, OF_OUTPUTS, shape)
    strictness = rng.normal(0, STRICTNESS, (RATERS, documents, 1))
    seen = 3 + quality + strictness + rng.normal(0, NOISE, (RATERS, *shape))
    ratings = Ratings.of_table(np.clip(np.round(seen), 1, 5).reshape(RATERS, -1))
    outputs, people = Outputs.full(*shape), shares_of_ratings(ratings, POINTS)
    joint = 1 - SIGNIFICANCE / (SAID_TOGETHER * criteria)
    pair = judges(quality.ravel(), outputs.system, rng)
    both = [probability_calibration(outputs, judge, people, joint=joint) for judge in pair]
    difference = brier_difference(outputs, *pair, people, joint=joint)
    pair_of_judges = PairProbabilities(0, "", judges=(both[0], both[1]), difference=difference)
    return Statements(
        (fit_of(both[0]), fit_of(both[1])),
        (beside_guessing(both[0]), beside_guessing(both[1])),
        pair_of_judges.better,
        can_be_taken(both[0]),
    )


def reports(
    documents: int, systems: int, judges: Judges, criteria: int, number: int
) -> Iterator[list[Statements]]:
    """So many reports: on each criterion, what is said."""
    for seed in range(number):
        rng = np.random.default_rng(seed)
        yield [statements_of(documents, systems, judges, criteria, rng) for _ in range(criteria)]


def print_sentence_errors(data_sets: int) -> bool:
    """Print how often a report says anything wrong of probabilities; True if none errs more often
    than the goal, within the error of so many reports."""
    print("\nProbabilities: share of reports in which anything said of two judges is wrong")
    fits = True
    for documents, systems in SHAPES:
        for name, judges, is_wrong in KINDS:
            for criteria in (1, 4):
                number = max(1, data_sets // criteria)
                drawn = list(reports(documents, systems, judges, criteria, number))
                error = sum(any(map(is_wrong, report)) for report in drawn) / number
                usable = np.mean([each.is_usable for report in drawn for each in report])
                allowed = SIGNIFICANCE + 2 * np.sqrt(SIGNIFICANCE * (1 - SIGNIFICANCE) / number)
                holds = error <= allowed
                fits &= bool(holds)
                title = f"{name}, {documents} x {systems}, criteria: {criteria}"
                print(
                    f"{title:52}  error {error:6.1%}  goal at most {SIGNIFICANCE:.0%}"
                    f"  ratio {error / SIGNIFICANCE:4.2f}  first can be taken {usable:6.1%}"
                    f"{'' if holds else '  MISSED'}",
                    flush=True,
                )
    return fits
