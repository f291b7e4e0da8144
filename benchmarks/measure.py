"""`make bench-measure`: what campaigns may say of outputs nobody rated, and when they may stop.

1. Designs (`benchmarks.sampling`): campaigns that rate more of what the judges disagree on,
   weighted by their probabilities, beside uniform samples and the top of a list.
2. Stopping: SummEval's recorded judges have a correlation in each document. Documents are drawn
   from these at random, and after each the interval is looked at: how often has the truth been
   outside at some time?
3. Planning: from a pilot's documents, how many keep a promised width, planned again once there are
   more, beside how many one needs who knows how documents vary. And how many documents campaigns
   take that look after every one, beside how many were planned.
4. Annotators (`benchmarks.annotators`): how often intervals of severity and competence hold those
   of simulated annotators.
5. Clicking (`benchmarks.chance`): how often honest annotators are called no better than chance, and
   how many random, constant and copying ones are found within 30 overlapping items.

Each line has a figure, its goal, and the figure by the goal.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks import chance
from benchmarks.annotators import Corpus, giving, held, severities
from benchmarks.improve import summeval
from benchmarks.sampling import bias_of_rho, coverage_of_errors, coverage_of_rho, means, recorded
from geval.statistics.anytime import confidence_sequence
from geval.statistics.arrays import complete
from geval.statistics.correlation import coefficients_by_document
from geval.statistics.jackknife import LeftOut
from geval.statistics.planning import for_any_time
from geval.statistics.projection import documents_for
from geval.statistics.sampling import active_probabilities
from geval.statistics.thresholds import INTERVAL_DOCUMENTS, PROMISE, PROMISE_DOCUMENTS
from geval.statistics.types import FloatArray

CAMPAIGNS, QUICK, DOCUMENTS = 100, 20, 200
MOST_WRONG, MOST_WIDE = 0.05, 2.5
LEAST_FOUND = 0.95
AT = 100
MOST_BIAS, LEAST_COVERAGE, MOST_COVERAGE = 0.02, 0.94, 0.96
LEAST_GAIN, LEAST_GAIN_ON_CONSISTENCY, SKEWED = 1.5, 2.0, "consistency"
DESIGNS, BIASES = 3000, 200
# Of so many campaigns, one is looked at with weights as well.
WEIGHTED_EACH = 5
# Documents of a pilot, and those that a campaign takes whose owner knows how documents vary.
PILOT, NEEDED = 20, (100, 200, 400)
LEAST_KEPT, MOST_TIMES = 0.90, 1.3
# Widths of campaigns that close themselves; how many are followed, for how many documents.
GOALS, STOPS, MOST_STOP = (0.1, 0.07), 24, 1200
RATED, LEAST_HELD, MOST_HELD = (30, 100), 0.93, 0.97
OF_ANNOTATORS = 25


@dataclass(frozen=True)
class Line:
    """A figure, with the bounds that are its goal; without any it is there for comparison."""

    name: str
    value: float
    least: float | None = None
    most: float | None = None

    @property
    def is_reached(self) -> bool:
        return not (
            (self.least is not None and not self.value >= self.least)
            or (self.most is not None and not self.value <= self.most)
        )

    def __str__(self) -> str:
        bounds = [("at least", self.least), ("at most", self.most)]
        goal = ", ".join(f"{word} {bound:.3g}" for word, bound in bounds if bound is not None)
        nearest = self.most if self.most is not None else self.least
        ratio = f"{self.value / nearest:8.2f}" if nearest else " " * 8
        missed = "" if self.is_reached else "  missed"
        return f"{self.name:72} {self.value:9.3f} {ratio}  {goal or 'for comparison'}{missed}"


def correlations() -> Iterator[FloatArray]:
    """Each judge's rho in the documents that have one, by criterion; shape (documents,)."""
    for arms in summeval().values():
        for scores in arms.scores:
            outputs, (human, judge) = complete(arms.outputs, arms.human, scores)
            found = coefficients_by_document(outputs, human, judge, "spearman")
            if np.count_nonzero(~np.isnan(found)) >= AT / 2:
                yield found[~np.isnan(found)]


def fixed_is_wrong(values: FloatArray, truth: float) -> bool:
    """Whether Student's interval after some number of documents leaves the truth out."""
    count = np.arange(1, len(values) + 1)
    mean = np.cumsum(values) / count
    squares = np.maximum(np.cumsum(values**2) - count * mean**2, 0)
    late = slice(INTERVAL_DOCUMENTS - 1, None)
    error = np.sqrt(squares[late] / ((count[late] - 1) * count[late]))
    half = stats.t.ppf(0.975, count[late] - 1) * error
    return bool((np.abs(mean[late] - truth) > half).any())


def always_is_wrong(values: FloatArray, truth: float) -> bool:
    """The same of the confidence sequence."""
    found = confidence_sequence(values, range(INTERVAL_DOCUMENTS, len(values) + 1))
    return any(not one.low <= truth <= one.high for one in found)


def weighted_is_wrong(known: FloatArray, truth: float, rng: np.random.Generator) -> bool:
    """The same of documents that are drawn more often the further they are from the mean."""
    probability = active_probabilities(np.abs(known - truth), 1)
    at = rng.choice(len(known), DOCUMENTS, p=probability / probability.sum())
    found = confidence_sequence(
        known[at],
        range(INTERVAL_DOCUMENTS, DOCUMENTS + 1),
        weight=1 / probability[at],
        largest=float(1 / probability.min()),
    )
    return any(not one.low <= truth <= one.high for one in found)


def width(values: FloatArray) -> float:
    """How many times as wide as Student's interval the sequence is at `AT` documents."""
    (ends,) = confidence_sequence(values[:AT], [AT])
    fixed = LeftOut.each(AT).mean_interval(values[:AT]).width
    return (ends.high - ends.low) / fixed if fixed else np.nan


def of_designs(campaigns: int) -> Iterator[Line]:
    """What campaigns say of all outputs."""
    rng = np.random.default_rng(1)
    gains = []
    for one in recorded():
        bias = bias_of_rho(one, BIASES, rng)
        name = f"{one.criterion}: bias of rho"
        if one.criterion == SKEWED:
            yield Line(f"{name}, the top fifth without weights", bias["top"])
        yield Line(f"{name}, a fifth drawn one by one", bias["dataset"], most=MOST_BIAS)
        yield Line(f"{name}, a fifth of documents drawn whole", bias["summary"], most=MOST_BIAS)
        yield Line(
            f"{one.criterion}: rho held by 95 % intervals, active, documents drawn whole",
            coverage_of_rho(one, campaigns, rng),
            LEAST_COVERAGE,
            MOST_COVERAGE,
        )
        # A stream of their own: the lines below stay what they were.
        for of, coverage in coverage_of_errors(one, campaigns, np.random.default_rng(0)).items():
            yield Line(
                f"{one.criterion}: {of} held by 95 % intervals, active, documents drawn whole",
                coverage,
                LEAST_COVERAGE,
                MOST_COVERAGE,
            )
        found = means(one, campaigns, rng)
        gains.append(found.against_plain)
        for design, coverage in (
            ("active", found.coverage),
            ("uniform", found.coverage_of_uniform),
        ):
            yield Line(
                f"{one.criterion}: means held by 95 % intervals, {design}",
                coverage,
                LEAST_COVERAGE,
                MOST_COVERAGE,
            )
        # Not below 1, by more than what chance explains: two standard errors.
        least = 1 - 2 * found.error_against_uniform
        name = f"{one.criterion}: ratings of uniform PPI++ by active"
        yield Line(f"{name} (1 less 2 s.e.)", found.against_uniform, least)
        least_gain = LEAST_GAIN_ON_CONSISTENCY if one.criterion == SKEWED else None
        yield Line(f"{one.criterion}: ratings of people alone by active", gains[-1], least_gain)
    yield Line("ratings of people alone by active, mean", float(np.mean(gains)), LEAST_GAIN)


def of_stopping(campaigns: int) -> Iterator[Line]:
    """Who looks after every document."""
    rng = np.random.default_rng(1)
    fixed, always, weighted, wide = [], [], [], []
    for known in correlations():
        truth = float(known.mean())
        for number in range(campaigns):
            values = rng.choice(known, DOCUMENTS)
            fixed.append(fixed_is_wrong(values, truth))
            always.append(always_is_wrong(values, truth))
            if number % WEIGHTED_EACH == 0:
                weighted.append(weighted_is_wrong(known, truth, rng))
            wide.append(width(values))
    yield Line(f"campaigns of {DOCUMENTS} documents", float(len(always)))
    yield Line("fixed intervals, wrong at some time", float(np.mean(fixed)))
    yield Line("valid at any time, wrong", float(np.mean(always)), most=MOST_WRONG)
    name = "valid at any time, wrong, documents drawn by an active design"
    yield Line(name, float(np.mean(weighted)), most=MOST_WRONG)
    yield Line(f"times as wide at {AT} documents", float(np.nanmean(wide)), most=MOST_WIDE)


def of_planning(campaigns: int) -> Iterator[Line]:
    """Campaigns of as many documents as their pilot promises for some width."""
    rng = np.random.default_rng(2)
    for name, looks, has_goal in (
        (f"planned from {PILOT} documents", [PILOT], False),
        (f"planned again at {PROMISE_DOCUMENTS}", [PILOT, PROMISE_DOCUMENTS], True),
    ):
        for assurance in (None, PROMISE):
            is_held_to = has_goal and assurance is not None
            kept, times = [], []
            for known in correlations():
                for needed in NEEDED:
                    width = stats.t.ppf(0.975, needed - 1) * known.std() / np.sqrt(needed)
                    for _ in range(campaigns):
                        found = planned(known, looks, width, assurance, rng)
                        kept.append(half_width(found) <= width)
                        times.append(len(found) / needed)
            number = "likely" if assurance is None else "promised"
            yield Line(
                f"{name}, {number} number: width kept",
                float(np.mean(kept)),
                least=LEAST_KEPT if is_held_to else None,
            )
            yield Line(
                f"{name}, {number} number: times the documents needed",
                float(np.mean(times)),
                most=MOST_TIMES if is_held_to else None,
            )


def of_goals(campaigns: int) -> Iterator[Line]:
    """Campaigns that look after every document and close themselves at some width."""
    rng = np.random.default_rng(4)
    likely, kept, times = [], [], []
    for known, width in itertools.product(list(correlations())[::2], GOALS):
        stops = np.array([_stop(rng.choice(known, MOST_STOP), width) for _ in range(STOPS)])
        usual = float(np.median(stops))
        for _ in range(campaigns // 5):
            values = rng.choice(known, PROMISE_DOCUMENTS)
            found = for_any_time(values, width, lowest=-1.0, highest=1.0)
            if found.likely is None or found.promised is None:
                continue
            likely.append(found.likely / usual)
            kept.append((stops <= found.promised).mean())
            times.append(found.promised / usual)
    name = f"closing by themselves, planned from {PROMISE_DOCUMENTS} documents"
    yield Line(f"{name}, likely number: times those taken", float(np.median(likely)))
    yield Line(f"{name}, promised number: reached", float(np.mean(kept)), least=LEAST_KEPT)
    yield Line(
        f"{name}, promised number: times those taken", float(np.mean(times)), most=MOST_TIMES
    )


def _stop(values: FloatArray, width: float) -> int:
    """After how many documents the interval at any time is narrow enough; beyond all if it is not.

    It is looked at a hundred times, as a look after each would find the same at a higher cost.
    """
    at = np.unique(np.geomspace(INTERVAL_DOCUMENTS, len(values), 100).astype(int)).tolist()
    ends = confidence_sequence(values, at)
    return next((one.count for one in ends if one.high - one.low <= 2 * width), 2 * len(values))


def planned(
    known: FloatArray,
    looks: list[int],
    width: float,
    assurance: float | None,
    rng: np.random.Generator,
) -> FloatArray:
    """The documents of a campaign that plans at each look, and rates what its last plan says."""
    values = rng.choice(known, looks[0])
    needed = _needed(values, width, assurance)
    for look in looks[1:]:
        if needed > look:
            values = np.append(values, rng.choice(known, look - len(values)))
            needed = _needed(values, width, assurance)
    return np.append(values, rng.choice(known, max(0, needed - len(values))))


def _needed(values: FloatArray, width: float, assurance: float | None) -> int:
    found = documents_for(
        half_width(values), documents=len(values), goal=width, assurance=assurance
    )
    assert found is not None
    return found


def half_width(values: FloatArray) -> float:
    spread = values.std(ddof=1) / np.sqrt(len(values))
    return float(stats.t.ppf(0.975, len(values) - 1) * spread)


def of_annotators(campaigns: int) -> Iterator[Line]:
    """Campaigns with annotators whose severity or competence is known."""
    rng = np.random.default_rng(4)
    corpora = []
    for arms in summeval().values():
        outputs, (human,) = complete(arms.outputs, arms.human)
        corpora.append(Corpus(outputs.document, human))
    for name, of_campaign, sizes in (
        ("severity", severities, RATED),
        ("giving the class by Dawid and Skene", giving, RATED),
    ):
        for documents in sizes:
            found = [
                one
                for corpus in corpora
                for one in held(campaigns, of_campaign, corpus, documents, rng)
            ]
            yield Line(
                f"{name}, {documents} documents: held by 95 % intervals",
                float(np.mean(found)),
                LEAST_HELD,
                MOST_HELD,
            )


def of_clickers(campaigns: int) -> Iterator[Line]:
    """Campaigns in which some click at random, give every item the same answer, or copy."""
    found = chance.simulate(campaigns)
    within = f"within {chance.ITEMS} overlapping items"
    yield Line("honest annotators called no better than chance", found.honest, most=MOST_WRONG)
    yield Line(f"random annotators found {within}", found.chance, least=LEAST_FOUND)
    yield Line(f"annotators who always give the same found {within}", found.constant, LEAST_FOUND)
    yield Line(f"copies found {within}, and nobody else", found.copied, LEAST_FOUND)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer campaigns")
    quick = parser.parse_args().quick
    missed = 0
    for line in itertools.chain(
        of_designs(DESIGNS),
        of_stopping(QUICK if quick else CAMPAIGNS),
        of_planning(QUICK if quick else CAMPAIGNS),
        of_goals(QUICK if quick else CAMPAIGNS),
        of_annotators(OF_ANNOTATORS),
        of_clickers(QUICK if quick else CAMPAIGNS),
    ):
        missed += not line.is_reached
        print(line, flush=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
