"""How much of the scale values use: many ties inflate tau."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from geval.statistics.thresholds import TIES_MISLEAD
from geval.statistics.types import FloatArray


@dataclass(frozen=True)
class Concentration:
    """Entropy in bits, effective number of levels, share of the most common value, share of tied
    pairs."""

    entropy_bits: float
    effective_levels: float
    modal_share: float
    tie_rate: float

    @property
    def ties_mislead(self) -> bool:
        """Whether ties are so frequent that tau-b should be read together with pairwise
        accuracy."""
        return self.tie_rate >= TIES_MISLEAD


def concentration(values: FloatArray) -> Concentration | None:
    """Summarise the distribution of values; None for fewer than two."""
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return None
    _, counts = np.unique(values, return_counts=True)
    entropy = float(special.entr(counts / counts.sum()).sum() / np.log(2))
    n = len(values)
    tied = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    return Concentration(entropy, 2.0**entropy, float(counts.max() / n), tied)
