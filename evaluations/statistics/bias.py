"""What a judge likes that people do not: long texts, LLM-written texts, texts of its own family."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.correlation import Coefficient
from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.results import Estimate


@dataclass(frozen=True)
class PreferenceGroup:
    """Mean scores of human- and LLM-written texts among pairs that people judged alike."""

    human_written: float
    llm_written: float
    pairs: int

    @property
    def gap(self) -> float:
        """How much more the judge gives to the LLM's text."""
        return self.llm_written - self.human_written


def by_human_preference(rows: Sequence[tuple[str, float, float]]) -> dict[str, PreferenceGroup]:
    """Scores of human- and LLM-written texts, grouped by which one people prefer (Liu et al., 2023, Figure 2).

    Args:
        rows: (human preference, judge's score of the human text, judge's score of the LLM text).
    """
    groups: dict[str, list[tuple[float, float]]] = {}
    for preference, human_text, llm_text in rows:
        groups.setdefault(preference, []).append((human_text, llm_text))
    return {
        name: PreferenceGroup(
            human_written=float(np.mean([human for human, _llm in pairs])),
            llm_written=float(np.mean([llm for _human, llm in pairs])),
            pairs=len(pairs),
        )
        for name, pairs in groups.items()
    }


def partial_correlation(
    judge: FloatArray, feature: FloatArray, human: FloatArray, coefficient: Coefficient = "pearson"
) -> Estimate:
    """Correlation of scores with a feature (length, …) that is left when human ratings are held fixed.

    Args:
        judge, feature, human: shape (n,), complete.
    """
    if len(judge) < 4 or any(np.ptp(side) == 0 for side in (judge, feature, human)):
        return Estimate.undefined("fewer than four outputs, or one of the three is the same for all")
    sides = (
        [stats.rankdata(side) for side in (judge, feature, human)]
        if coefficient == "spearman"
        else ([judge, feature, human])
    )
    r = np.corrcoef(sides)
    denominator = np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    if denominator < 1e-12:
        return Estimate.undefined("people's ratings explain one of the two completely")
    return Estimate(float((r[0, 1] - r[0, 2] * r[1, 2]) / denominator))


def self_preference(own: FloatArray, others: FloatArray) -> Estimate:
    """How much higher than people the judge rates its own family's texts than others' (Panickssery et al., 2024).

    Args:
        own, others: shape (n, 2), (judge's score, human rating).
    """
    if not len(own) or not len(others):
        return Estimate.undefined("texts of the judge's own family and of others are needed")
    return Estimate(float((own[:, 0] - own[:, 1]).mean() - (others[:, 0] - others[:, 1]).mean()))
