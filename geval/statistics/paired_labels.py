"""Two judges' verdicts, or labels, of the same outputs: how often each gives people's (McNemar's
table, 1947), and how much more often the first does.

The interval of the difference is Tango's (1998), which inverts a score test: it holds where nearly
all pairs are equal, too. Pairs count by their effective number, which documents whose outputs are
alike make smaller, with Student's t over documents.
"""

import math
from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs
from geval.statistics.jackknife import no_interval, t_quantile
from geval.statistics.resampling import Interval
from geval.statistics.shares import ShareEstimate, share_of_outputs
from geval.statistics.thresholds import CONFIDENCE
from geval.statistics.types import FloatArray

ONE_DOCUMENT = "all outputs are of one document"
# Ends are exact to far more digits than are shown.
HALVINGS = 40


@dataclass(frozen=True)
class PairedLabels:
    """How many outputs both judges, only one, and neither labels as people do; `difference` is the
    first judge's accuracy less the second's, with its 95 % interval over documents. `left_out`
    outputs with a label of people and the other judge would change who is ahead if the judge that
    is had them wrong."""

    both: int
    only_first: int
    only_second: int
    neither: int
    difference: float
    interval: Interval
    left_out: int = 0

    @property
    def outputs(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def ahead(self) -> int:
        """The judge that is shown to be right more often: 1 or 2, 0 for neither."""
        if not self.interval.leaves_out_zero or self.left_out:
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
    """Return the interval of a mean difference of paired verdicts.

    Args:
        apart: 1, 0 or -1 for each output.
    """
    pairs = effective_pairs(outputs, apart)
    return Interval(*pairs.ends(confidence)) if pairs else no_interval(ONE_DOCUMENT)


@dataclass(frozen=True)
class EffectivePairs:
    """Pairs of verdicts by their effective number: those in which only the first is right (`more`),
    only the second (`less`), and all; with the degrees of freedom over documents."""

    more: float
    less: float
    total: float
    freedom: float

    def ends(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the interval of the difference, in which Tango's statistic is at most
        the quantile."""
        quantile = t_quantile(self.freedom, confidence)
        low = self._lower(self.more, self.less, quantile)
        return low, -self._lower(self.less, self.more, quantile)

    def _lower(self, more: float, less: float, quantile: float) -> float:
        low, high = -1.0, (more - less) / self.total
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            is_below = self._statistic(more, less, middle) > quantile
            low, high = (middle, high) if is_below else (low, middle)
        return low

    def _statistic(self, more: float, less: float, difference: float) -> float:
        """Return by how many standard errors the difference is above another one, the error being
        that of the likeliest table with the other one."""
        total = self.total
        linear = (2 * total - more + less) * difference - more - less
        constant = -less * difference * (1 - difference)
        root = math.sqrt(max(0.0, linear**2 - 8 * total * constant))
        only_second = (root - linear) / (4 * total)
        variance = total * (2 * only_second + difference * (1 - difference))
        above = more - less - total * difference
        return above / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, above)


def effective_pairs(
    outputs: Outputs, apart: FloatArray, most: float = math.inf
) -> EffectivePairs | None:
    """Return pairs of verdicts by their effective number; None for one document.

    Args:
        apart: 1, 0 or -1 for each output.
        most: they count as no more than so many.
    """
    documents = np.unique(outputs.document).size
    if documents < 2:
        return None
    centred = apart - apart.mean()
    alone = float((centred**2).sum())
    together = float((outputs.by_document(centred) ** 2).sum()) * documents / (documents - 1)
    # Where no pair differs nothing tells how alike those of a document are.
    wider = together / alone if alone else len(apart) / documents
    wider = max(1.0, len(apart) / most, wider)
    more, less = (float((apart == side).sum()) / wider for side in (1, -1))
    return EffectivePairs(more, less, len(apart) / wider, documents - 1)
