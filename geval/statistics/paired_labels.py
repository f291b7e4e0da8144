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
from geval.statistics.shares import ends_of_sum, share_of_outputs
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
    rights = [first == human, second == human]
    everything = np.ones(len(human), dtype=bool)
    own, other = (share_of_outputs(outputs.clustered, right, everything) for right in rights)
    both, only_first, only_second = (
        int(each.sum())
        for each in (rights[0] & rights[1], rights[0] & ~rights[1], ~rights[0] & rights[1])
    )
    values = [float(share.estimate.value or 0.0) for share in (own, other)]
    ends, others = own.interval.ends, other.interval.ends
    if ends is None or others is None:
        interval = no_interval(own.interval.reason or other.interval.reason)
    else:
        varies = all(right.any() and not right.all() for right in rights)
        together = float(np.corrcoef(*rights)[0, 1]) if varies else 0.0
        interval = Interval(
            *ends_of_sum((values[0], ends, 1.0), (values[1], others, -1.0), together)
        )
    neither = len(human) - both - only_first - only_second
    return PairedLabels(both, only_first, only_second, neither, values[0] - values[1], interval)
