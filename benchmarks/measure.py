"""`make bench-measure`: whether rating may stop when a number looks good enough, and what it costs.

SummEval's recorded judges have a correlation in each document. Documents are drawn from these at
random, and after each the interval is looked at: how often has the truth been outside at some time?
"""

import argparse
import sys
from collections.abc import Iterator

import numpy as np
from scipy import stats

from benchmarks.improve import summeval
from evaluations.statistics.anytime import confidence_sequence
from evaluations.statistics.correlation import coefficients_by_document
from evaluations.statistics.jackknife import LEAST_DOCUMENTS, LeftOut
from evaluations.statistics.layout import complete
from evaluations.statistics.pairing import FloatArray

CAMPAIGNS, QUICK, DOCUMENTS = 100, 20, 200
MOST_WRONG, MOST_WIDE = 0.05, 2.5
AT = 100


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
    late = slice(LEAST_DOCUMENTS - 1, None)
    error = np.sqrt(squares[late] / ((count[late] - 1) * count[late]))
    half = stats.t.ppf(0.975, count[late] - 1) * error
    return bool((np.abs(mean[late] - truth) > half).any())


def always_is_wrong(values: FloatArray, truth: float) -> bool:
    """The same of the confidence sequence."""
    found = confidence_sequence(values, range(LEAST_DOCUMENTS, len(values) + 1))
    return any(not one.low <= truth <= one.high for one in found)


def width(values: FloatArray) -> float:
    """How many times as wide as Student's interval the sequence is at `AT` documents."""
    (ends,) = confidence_sequence(values[:AT], [AT])
    fixed = LeftOut.each(AT).mean_interval(values[:AT]).width
    return (ends.high - ends.low) / fixed if fixed else np.nan


def lines(campaigns: int) -> Iterator[tuple[str, float, str, bool]]:
    """Each figure with its goal, and whether it is reached."""
    rng = np.random.default_rng(1)
    fixed, always, wide = [], [], []
    for known in correlations():
        truth = float(known.mean())
        for _ in range(campaigns):
            values = rng.choice(known, DOCUMENTS)
            fixed.append(fixed_is_wrong(values, truth))
            always.append(always_is_wrong(values, truth))
            wide.append(width(values))
    wrong, ratio = float(np.mean(always)), float(np.nanmean(wide))
    yield f"campaigns of {DOCUMENTS} documents", float(len(always)), "", True
    yield "fixed intervals, wrong at some time", float(np.mean(fixed)), "for comparison", True
    yield "valid at any time, wrong", wrong, f"at most {MOST_WRONG:g}", wrong <= MOST_WRONG
    name = f"times as wide at {AT} documents"
    yield name, ratio, f"at most {MOST_WIDE:g}", ratio <= MOST_WIDE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} campaigns a judge")
    options = parser.parse_args()
    missed = 0
    for name, value, goal, is_reached in lines(QUICK if options.quick else CAMPAIGNS):
        missed += not is_reached
        print(f"{name:40} {value:9.3f}  {goal}{'' if is_reached else '  missed'}", flush=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
