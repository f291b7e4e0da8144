"""What a judge finds and keeps on pass or fail in each rater's place, beside the rater.

Each rating is left out in turn: the judge's verdict and the rater's are both compared with that of
most of the others on the same output. Outputs on which the others are split do not count. Means are
over ratings, so that a rater counts by how much they rated.
"""

from dataclasses import dataclass, replace

import numpy as np

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.jackknife import no_interval
from geval.statistics.paired_labels import EffectivePairs, effective_pairs
from geval.statistics.resampling import Interval
from geval.statistics.shares import WithLowerEnd, share_of_outputs
from geval.statistics.thresholds import CONFIDENCE, PASS_FAIL_OUTPUTS
from geval.statistics.types import Estimate, FloatArray

NOBODY = "no output was rated by two people and scored by the judge"
TOO_FEW = f"most of the other raters have to agree on {PASS_FAIL_OUTPUTS} {{}} at least"


@dataclass(frozen=True)
class BesideRater(WithLowerEnd):
    """The share that a judge gets right in a rater's place (`judge`) less the rater's own
    (`rater`), on `outputs` that most of the others fail, or pass."""

    estimate: Estimate
    interval: Interval
    judge: float = 0.0
    rater: float = 0.0
    outputs: int = 0
    pairs: EffectivePairs | None = None

    def ends_at(self, confidence: float) -> tuple[float, float] | None:
        return self.pairs.ends(confidence) if self.pairs else None

    def outputs_for(self, value: float, least: float, error: float) -> float:
        low = self.low(error)
        assert low is not None  # there are pairs, as a lower end is below the least
        # Half of the interval narrows with the root of the number of outputs.
        return self.outputs * ((value - low) / (value - least)) ** 2


def beside_raters(
    outputs: Outputs, ratings: Ratings, verdict: FloatArray, middle: float
) -> tuple[BesideRater, BesideRater]:
    """Compare a judge with raters, on the outputs that most of the others fail, and on those that
    they pass.

    Args:
        verdict: shape (outputs,), 1 where the judge passes an output, 0 where it fails it, NaN
            without a score.
        middle: from this rating on people pass an output.
    """
    passes = (ratings.value >= middle).astype(float)
    # Of the others, by what more than half of them did.
    share = replace(ratings, value=passes).others
    judged = verdict[ratings.output]
    is_judged = ~np.isnan(judged)
    fails, kept = (
        _beside(outputs, ratings, (judged == of, passes == of), is_judged & most, kind)
        for of, most, kind in ((0.0, share < 0.5, "fails"), (1.0, share > 0.5, "passes"))
    )
    return fails, kept


def _beside(
    outputs: Outputs,
    ratings: Ratings,
    rights: tuple[np.ndarray, np.ndarray],
    among: np.ndarray,
    kind: str,
) -> BesideRater:
    """
    Args:
        rights: what the judge, and the rater, get right; masks of shape (ratings,).
        among: the ratings that count, a mask of shape (ratings,).
    """
    if not among.any():
        return BesideRater(Estimate.undefined(NOBODY), no_interval(NOBODY))
    counting = np.zeros(len(outputs), dtype=bool)
    counting[ratings.output[among]] = True
    judge, rater = (float(right[among].mean()) for right in rights)
    count = int(counting.sum())
    estimate = Estimate(judge - rater)
    # There is an interval where a share of these outputs has one.
    why_not = share_of_outputs(outputs, counting, counting).interval.reason
    if count < PASS_FAIL_OUTPUTS:
        why_not = TOO_FEW.format(kind)
    of_ratings = replace(
        outputs,
        document=outputs.document[ratings.output[among]],
        system=outputs.system[ratings.output[among]],
        weight=None,
    )
    apart = rights[0][among].astype(float) - rights[1][among]
    # Pairs of an output share the judge's verdict, though no error of it may be among few pairs.
    pairs = None if why_not else effective_pairs(of_ratings, apart, most=count)
    interval = Interval(*pairs.ends(CONFIDENCE)) if pairs else no_interval(why_not or NOBODY)
    return BesideRater(estimate, interval, judge, rater, count, pairs)
