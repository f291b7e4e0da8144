"""How a judge agrees with people in each document, which goals and runs sum up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geval.statistics.anytime import RHO, TWO_RHOS
from geval.statistics.arrays import Outputs, mean_of
from geval.statistics.correlation import coefficients_by_document
from geval.statistics.same_documents import Ranked, on_same_documents
from geval.statistics.scales import Scale
from geval.statistics.types import FloatArray


@dataclass(frozen=True, eq=False)
class DocumentValues:
    """Each document's value for a goal, shape (documents,), NaN where it has none; the largest
    possible absolute value, and whether values are shares, which are not below 0; and for a goal
    about two judges, in how many documents each ranks outputs."""

    values: FloatArray
    most: float
    ranked: Ranked | None = None
    are_shares: bool = False

    @property
    def lowest(self) -> float:
        return 0.0 if self.are_shares else -self.most


def judge_values(
    units: Outputs, human: FloatArray, scale: Scale, scores: Sequence[FloatArray]
) -> DocumentValues:
    """Return a judge's agreement with people in each document, or that minus a second judge's, on
    the same documents with ties counted: the rank correlation, or on pass or fail the share of
    outputs with the same verdict.

    Args:
        human, scores: shape (outputs,), the mean rating and each judge's score, NaN for none.
    """
    shared = np.where(np.isnan(np.sum(scores, axis=0)), np.nan, human)
    if scale.is_pass_fail:
        shares = [same_verdicts(units, shared, own, scale) for own in scores]
        if len(shares) > 1:
            return DocumentValues(shares[0] - shares[1], 1.0)
        return DocumentValues(shares[0], 1.0, are_shares=True)
    if len(scores) > 1:
        same = on_same_documents(units, shared, scores[0], scores[1])
        return DocumentValues(same.difference, TWO_RHOS, same.ranked)
    return DocumentValues(coefficients_by_document(units, shared, scores[0], "spearman"), RHO)


def same_verdicts(
    units: Outputs, human: FloatArray, scores: FloatArray, scale: Scale
) -> FloatArray:
    """Return the share of each document's outputs with the same verdict by people and a judge;
    shape (documents,), NaN without an output that has both.

    Args:
        human, scores: shape (outputs,), NaN for missing.
    """
    middle = sum(scale.points) / 2
    there = ~np.isnan(human + scores)
    part = units.part(there)
    same = (scores[there] >= middle) == (human[there] >= middle)
    return mean_of(part.by_document(same.astype(float)), part.by_document())
