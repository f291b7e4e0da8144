"""Two judges' verdicts, or labels, of the same outputs: how often each gives people's (McNemar's
table, 1947), and how much more often the first does.

The interval of the difference is Agresti and Min's (2005), with Student's t over documents.
"""

import math
from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs
from geval.statistics.jackknife import no_interval, t_quantile, within
from geval.statistics.resampling import Interval
from geval.statistics.shares import ShareEstimate, share_of_outputs
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
    if own.ends_at(confidence) is None or other.ends_at(confidence) is None:
        return PairedShares((own, other), no_interval(own.interval.reason or other.interval.reason))
    apart = rights[0][among].astype(float) - rights[1][among]
    return PairedShares((own, other), difference_of_pairs(outputs.part(among), apart, confidence))


def difference_of_pairs(
    outputs: Outputs, apart: FloatArray, confidence: float = CONFIDENCE
) -> Interval:
    """Return the interval of a mean difference of paired verdicts: with half an output more of each
    kind of pair (Agresti and Min, 2005), and wider by as much as outputs of a document are alike.

    Args:
        apart: 1, 0 or -1 for each output.
    """
    total, documents = len(apart) + 2, np.unique(outputs.document).size
    if documents < 2:
        return no_interval("all outputs are of one document")
    more, less = ((apart == side).sum() + 0.5 for side in (1, -1))
    middle = (more - less) / total
    variance = (more + less - (more - less) ** 2 / total) / total**2
    centred = apart - apart.mean()
    alone = float((centred**2).sum())
    together = float((outputs.by_document(centred) ** 2).sum()) * documents / (documents - 1)
    wider = max(1.0, together / alone) if alone and documents < len(apart) else 1.0
    half = t_quantile(documents - 1, confidence) * math.sqrt(variance * wider)
    return within(Interval(middle - half, middle + half), -1.0, 1.0)
