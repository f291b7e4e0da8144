"""Two judges' verdicts, or labels, of the same outputs: how often each gives people's (McNemar's
table, 1947), and how much more often the first does.

The interval of the difference combines both shares' intervals, by how the judges err together
(Newcombe, 1998, with the method of variance estimates recovery).
"""

from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs
from geval.statistics.jackknife import no_interval
from geval.statistics.resampling import Interval
from geval.statistics.shares import ShareEstimate, ends_of_sum, share_of_outputs
from geval.statistics.thresholds import CONFIDENCE
from geval.statistics.types import FloatArray


@dataclass(frozen=True)
class PairedLabels:
    """How many outputs both judges, only one, and neither labels as people do; `difference` is the
    first judge's accuracy less the second's, with its 95 % interval over documents."""

    both: int
    only_first: int
    only_second: int
    neither: int
    difference: float
    interval: Interval

    @property
    def outputs(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def ahead(self) -> int:
        """The judge that is shown to be right more often: 1 or 2, 0 for neither."""
        if not self.interval.leaves_out_zero:
            return 0
        return 1 if self.difference > 0 else 2


def paired_labels(
    outputs: Outputs, human: FloatArray, first: FloatArray, second: FloatArray
) -> PairedLabels:
    """Compare two judges.

    Args:
        human, first, second: shape (outputs,), complete, one output at least.
    """
    rights = (first == human, second == human)
    paired = paired_shares(outputs.clustered, rights, np.ones(len(human), dtype=bool))
    both, only_first, only_second = (
        int(each.sum())
        for each in (rights[0] & rights[1], rights[0] & ~rights[1], ~rights[0] & rights[1])
    )
    neither = len(human) - both - only_first - only_second
    return PairedLabels(both, only_first, only_second, neither, paired.difference, paired.interval)


@dataclass(frozen=True)
class PairedShares:
    """How many of some outputs two judges get right, as shares, and the interval of the
    difference."""

    shares: tuple[ShareEstimate, ShareEstimate]
    interval: Interval

    @property
    def difference(self) -> float:
        first, second = (float(share.estimate.value or 0.0) for share in self.shares)
        return first - second


def paired_shares(
    outputs: Outputs,
    rights: tuple[np.ndarray, np.ndarray],
    among: np.ndarray,
    confidence: float = CONFIDENCE,
) -> PairedShares:
    """Compare the shares that two judges get right.

    Args:
        rights: which outputs each gets right, masks of shape (outputs,).
        among: which outputs count, a mask of shape (outputs,).
    """
    own, other = (share_of_outputs(outputs, right & among, among) for right in rights)
    values = [share.estimate.value or 0.0 for share in (own, other)]
    ends, others = own.ends_at(confidence), other.ends_at(confidence)
    if ends is None or others is None:
        return PairedShares((own, other), no_interval(own.interval.reason or other.interval.reason))
    counting = [right[among] for right in rights]
    varies = all(right.any() and not right.all() for right in counting)
    together = float(np.corrcoef(*counting)[0, 1]) if varies else 0.0
    low, high = ends_of_sum((values[0], ends, 1.0), (values[1], others, -1.0), together)
    return PairedShares((own, other), Interval(low, high))
