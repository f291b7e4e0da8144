"""How often a verdict errs at its border, for `make bench-coverage`: judges that are exactly
VERDICT_MARGIN behind a rater must be said to rank like a rater in at most 5 % of reports, over all
judges that are compared; and how often a rater's equal is found to be that, or said to rank below a
rater (at most 5 %). With a careless rater of three, judges BEHIND_THE_CAREFUL behind the careful
ones must be said to rank like a rater in at most 10 %.

The border is found by simulation: the noise at which a judge in a rater's place is VERDICT_MARGIN
behind the rater, on average over many data sets.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from geval.reports.verdicts.analysis import at_worst, compare_pairs
from geval.statistics.agreement import judge_minus_a_rater, ratings_of_the_bar
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.correlation import (
    coefficients_by_document,
    correlations,
    mean_of_documents,
)
from geval.statistics.jackknife import interval_of_the_best, summary_interval
from geval.statistics.thresholds import SIGNIFICANCE, VERDICT_ERROR, VERDICT_MARGIN
from geval.statistics.types import FloatArray

RATERS = 3
# Data sets whose mean is taken for the truth; with 100 documents each, it is known to 0.001.
TRUTH_SETS = 6000
STEPS = 12
GROUPED_SYSTEMS, MOST_TOLD_APART = 4, 0.06
# Of a rater who is careless now and then, and what a judge must not be called then, at most.
CARELESS_ANSWERS, BEHIND_THE_CAREFUL, MOST_CARELESS_ERROR = 0.6, -0.17, 0.1
Rng = np.random.Generator


@dataclass(frozen=True)
class Raters:
    """Who rates: the noise of each rater, how many rate at random, and where the scale is centred
    (towards its end, most ratings are the same)."""

    name: str
    noise: float = 0.7
    careless: int = 0
    careless_answers: float = 1.0
    centre: float = 3.0

    def rate(self, quality: FloatArray, rng: Rng) -> FloatArray:
        """Ratings of shape (raters, outputs)."""
        seen = self.centre + quality + rng.normal(0, self.noise, (RATERS, len(quality)))
        given = np.clip(np.round(seen), 1, 5)
        for rater in range(self.careless):
            is_careless = rng.random(len(quality)) < self.careless_answers
            given[rater] = np.where(is_careless, rng.integers(1, 6, len(quality)), given[rater])
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
            bar = ratings_of_the_bar(outputs, ratings)
            found.append(judge_minus_a_rater(outputs, bar, scores).value)
        return float(np.mean([one for one in found if one is not None]))

    def noise_at(self, behind: float) -> float:
        """The noise at which a judge is so far behind a rater, by bisection."""
        low, high = 0.05, 8.0
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.truth(middle) > behind else (low, middle)
        return (low + high) / 2

    def claims(self, noise: float, data_sets: int) -> tuple[float, float]:
        """The shares of data sets in which any of the judges is said to rank like a rater, and in
        which one is said to rank below."""
        like = below = 0
        for seed in range(data_sets):
            outputs, ratings, judges = self.draw(noise, np.random.default_rng(seed))
            bar, error = ratings_of_the_bar(outputs, ratings), VERDICT_ERROR / self.judges
            each = [judge_minus_a_rater(outputs, bar, scores) for scores in judges]
            lows, highs = zip(
                *((one.low(1 - error), one.high(1 - error / 2)) for one in each), strict=True
            )
            like += any(low is not None and low > -VERDICT_MARGIN for low in lows)
            below += any(high is not None and high < 0 for high in highs)
        return like / data_sets, below / data_sets


KINDS = (
    Raters("careful raters"),
    Raters("noisy raters", noise=1.5),
    Raters("one careless rater", careless=1),
    Raters("skewed ratings", centre=4.5),
)
SHAPES = ((30, 16), (100, 4), (100, 16))
OF_MANY = 30


def borders() -> Iterator[Border]:
    """Every kind of raters, with one judge and six."""
    for raters in KINDS:
        for judges in (1, 6):
            documents, systems = SHAPES[(KINDS.index(raters) + judges) % len(SHAPES)]
            yield Border(raters, documents, systems, judges)
    yield Border(KINDS[0], 100, 4, OF_MANY)


def print_verdict_errors(data_sets: int) -> bool:
    """Print each border's error and power; True if no error is above the goal."""
    print(
        f"\nVerdicts at the border ({VERDICT_MARGIN:g} behind a rater): share said to rank like one"
    )
    fits = True
    for border in borders():
        error, _below = border.claims(border.noise_at(-VERDICT_MARGIN), data_sets)
        power, below = border.claims(border.noise_at(0.0), data_sets)
        holds = _fits(error, VERDICT_ERROR, data_sets) and _fits(below, VERDICT_ERROR, data_sets)
        fits &= holds
        print(
            f"{border.name:48}  error {error:6.1%}  goal at most {VERDICT_ERROR:.0%}"
            f"  ratio {error / VERDICT_ERROR:4.2f}  power for a rater's equal {power:6.1%}, called"
            f" below {below:6.1%}{'' if holds else '  MISSED'}",
            flush=True,
        )
    careful, now_and_then = KINDS[0], Raters("a rater careless now and then", careless=1,
                                             careless_answers=CARELESS_ANSWERS)  # fmt: skip
    for documents, systems in SHAPES:
        border = Border(now_and_then, documents, systems, 1)
        noise = replace(border, raters=careful).noise_at(BEHIND_THE_CAREFUL)
        error, _below = border.claims(noise, data_sets)
        holds = _fits(error, MOST_CARELESS_ERROR, data_sets)
        fits &= holds
        print(
            f"{border.name:48}  error {error:6.1%}  goal at most {MOST_CARELESS_ERROR:.0%}"
            f"  ratio {error / MOST_CARELESS_ERROR:4.2f}{'' if holds else '  MISSED'}",
            flush=True,
        )
    return fits


def print_best_of_many(data_sets: int) -> bool:
    """Print how often the interval of the best of several equal judges holds the true value, and
    how often its own does; True if the first is as it should be."""
    print("\nThe interval of the best of several judges that are equally good")
    fits = True
    for judges in (1, 5, OF_MANY):
        border, noise = Border(KINDS[0], 60, 6, judges), 1.0
        truth = _mean_correlation(replace(border, judges=1), noise)
        held = own = 0
        for seed in range(data_sets):
            outputs, ratings, scored = border.draw(noise, np.random.default_rng(seed))
            human = ratings.means()
            by_document = [
                coefficients_by_document(outputs, human, scores, "spearman") for scores in scored
            ]
            best = max(by_document, key=mean_of_documents)
            interval = summary_interval(outputs, best)
            value, used = mean_of_documents(best), int((~np.isnan(best)).sum())
            chosen = interval_of_the_best(value, interval, judges, used)
            for ends, count in ((chosen.ends, True), (interval.ends, False)):
                is_held = ends is not None and ends[0] <= truth <= ends[1]
                held, own = held + is_held * count, own + is_held * (not count)
        slack = 2 * float(np.sqrt(0.05 * 0.95 / data_sets))
        holds = abs(held / data_sets - 0.95) <= 0.02 + slack
        fits &= holds
        print(
            f"the best of {judges:2}  covered {held / data_sets:6.1%}  goal 93 to 97 %  without the"
            f" correction {own / data_sets:6.1%}{'' if holds else '  MISSED'}",
            flush=True,
        )
    return fits


def _mean_correlation(border: Border, noise: float) -> float:
    """The true correlation of such a judge, on average over many data sets."""
    values = []
    for seed in range(TRUTH_SETS):
        outputs, ratings, (scores,) = border.draw(noise, np.random.default_rng(10_000 + seed))
        by_document = coefficients_by_document(outputs, ratings.means(), scores, "spearman")
        values.append(mean_of_documents(by_document))
    return float(np.mean(values))


def grouped_world(
    groups: int, documents: int = 8, seed: int = 0, apart: float = 0.35
) -> tuple[Outputs, Ratings, list[FloatArray]]:
    """Three careful raters and two judges that are equally good, each of them better in some groups
    of documents than in others."""
    rng = np.random.default_rng(seed)
    count = groups * documents
    outputs = replace(Outputs.full(count, GROUPED_SYSTEMS), group=np.arange(count) // documents)
    quality = rng.normal(0, 1, len(outputs))
    ratings = np.clip(np.round(3 + quality + rng.normal(0, 0.5, (RATERS, len(outputs)))), 1, 5)
    group = np.repeat(np.arange(groups), documents * GROUPED_SYSTEMS)
    judges = []
    for _judge in range(2):
        sight = np.clip(0.6 + rng.normal(0, apart, groups), 0, 1)[group]
        judges.append(sight * quality + rng.normal(0, 0.6, len(outputs)))
    return outputs, Ratings.of_table(ratings), judges


def print_group_errors(data_sets: int) -> bool:
    """Print how often equals are told apart, and intervals of their difference hold 0, where
    documents have groups; True if both are as they should be."""
    print("\nDocuments in groups: two judges that are equally good, each better in some groups")
    fits = True
    for groups in (8, 20):
        apart = held = 0
        for seed in range(data_sets):
            outputs, ratings, judges = grouped_world(groups, seed=seed)
            human = ratings.means()
            pair = tuple((judge, correlations(outputs, human, judge)) for judge in judges)
            (comparison,) = compare_pairs(outputs, human, [pair], "spearman", "documents")
            ends = comparison.interval.ends or (1.0, -1.0)
            apart += (comparison.test.p or 1.0) <= SIGNIFICANCE
            held += ends[0] <= 0 <= ends[1]
        error, covered = apart / data_sets, held / data_sets
        slack = 2 * float(np.sqrt(0.05 * 0.95 / data_sets))
        holds = error <= MOST_TOLD_APART + slack and abs(covered - 0.95) <= 0.02 + slack
        fits &= holds
        print(
            f"{groups} groups of 8 documents  told apart {error:6.1%}  goal at most"
            f" {MOST_TOLD_APART:.0%}  covered {covered:6.1%}  goal 93 to 97 %"
            f"{'' if holds else '  MISSED'}",
            flush=True,
        )
    return fits


def print_missing_errors(data_sets: int) -> bool:
    """Print how often a judge that left out the share it gets most wrong is called better than its
    equal; True if it is as it should be."""
    print("\nTwo judges that are equally good, of which one left out what it gets most wrong")
    fits = True
    for share in (0.01, 0.049, 0.15, 0.3):
        claims = alone = 0
        for seed in range(data_sets):
            border = Border(KINDS[0], 60, 8, 2)
            outputs, ratings, (first, whole) = border.draw(0.9, np.random.default_rng(seed))
            human = ratings.means()
            partial = first.copy()
            partial[np.argsort(-np.abs(first - human))[: int(share * len(first))]] = np.nan
            sides = [(side, correlations(outputs, human, side)) for side in (partial, whole)]
            pairs = [(sides[0], sides[1]), (at_worst(outputs, human, partial), sides[1])]
            plain, worst = (
                (each.test.p or 1.0) <= SIGNIFICANCE and (each.test.observed or 0.0) > 0
                for each in compare_pairs(outputs, human, pairs, "spearman", "documents")
            )
            alone, claims = alone + plain, claims + (plain and worst)
        holds = _fits(claims / data_sets, VERDICT_ERROR, data_sets)
        fits &= holds
        print(
            f"left out {share:5.1%}  called better {claims / data_sets:6.1%}  goal at most"
            f" {VERDICT_ERROR:.0%}  by the outputs that both scored {alone / data_sets:6.1%}"
            f"{'' if holds else '  MISSED'}",
            flush=True,
        )
    return fits


def _fits(error: float, goal: float, data_sets: int) -> bool:
    """Whether an error is at most its goal, give or take the simulation's own error."""
    return error <= goal + 2 * float(np.sqrt(goal * (1 - goal) / data_sets))
