"""How much of the scale a side uses: what makes a tau with many ties look better than it is."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.pairing import FloatArray

TIES_MISLEAD_FROM = 0.3


@dataclass(frozen=True)
class Concentration:
    """Entropy of the values in bits, the levels that are in effect used, the share of the
    commonest, tied pairs."""

    entropy_bits: float
    effective_levels: float
    modal_share: float
    tie_rate: float

    @property
    def ties_mislead(self) -> bool:
        """Whether so many pairs are tied that tau-b is to be read with pairwise accuracy beside
        it."""
        return self.tie_rate >= TIES_MISLEAD_FROM


def concentration(values: FloatArray) -> Concentration | None:
    """How the values of a side are spread; None for fewer than two."""
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return None
    _, counts = np.unique(np.round(values, 10), return_counts=True)
    entropy = float(stats.entropy(counts, base=2))
    n = len(values)
    tied = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    return Concentration(entropy, 2.0**entropy, float(counts.max() / n), tied)
