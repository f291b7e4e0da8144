"""Pearson's r, Spearman's rho and Kendall's tau-b of a judge with humans, at three levels.

Levels (Deutsch, Dror and Roth, 2021, "A Statistical Analysis of Summarization Evaluation Metrics
Using Resampling Methods"):

- summary: one coefficient per document over its systems, then the mean over documents. Documents
with constant ratings or scores have no coefficient; they are left out and counted. Also called
  turn-, sample- or input-level.
- system: over systems, each being the mean of its outputs.
- dataset: over all outputs at once.

A pair counts only if it has a rating and a score. Coefficients follow scipy's `pearsonr`,
`spearmanr` and `kendalltau` (variant b), as tests check.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from evaluations.statistics.pairing import DIGITS, FloatArray
from evaluations.statistics.results import Estimate

Coefficient = Literal["pearson", "spearman", "kendall"]
Level = Literal["summary", "system", "dataset"]
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
LEVELS: tuple[Level, ...] = ("summary", "system", "dataset")

# Above this many systems the pairwise tables of a document grow too large; its coefficients are
# then taken one by one.
PAIRWISE_SYSTEMS = 200
_BLOCK_CELLS = 4_000_000


@dataclass(frozen=True)
class Correlations:
    """A judge's correlations with humans on one criterion.

    `documents` have at least one pair; in `documents_used` of them neither ratings nor scores are
    constant.
    """

    documents: int
    documents_used: int
    pairs: int
    estimates: dict[Coefficient, dict[Level, Estimate]]


def correlations(human: FloatArray, judge: FloatArray) -> Correlations:
    """All coefficients at all levels.

    Args:
        human, judge: shape (documents, systems), NaN for missing.
    """
    human, judge = complete_pairs(human, judge)
    present = ~np.isnan(human)
    per_document = {
        coefficient: coefficients_by_document(human, judge, coefficient)
        for coefficient in COEFFICIENTS
    }
    used = ~np.isnan(per_document["pearson"])
    estimates: dict[Coefficient, dict[Level, Estimate]] = {}
    for coefficient in COEFFICIENTS:
        estimates[coefficient] = {
            "summary": _mean(per_document[coefficient], int(present.any(axis=1).sum())),
            "system": coefficient_of(*system_means(human, judge), coefficient, of="systems"),
            "dataset": coefficient_of(human[present], judge[present], coefficient, of="outputs"),
        }
    return Correlations(
        int(present.any(axis=1).sum()), int(used.sum()), int(present.sum()), estimates
    )


def complete_pairs(human: FloatArray, judge: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both tables with NaN in cells where either has no value."""
    missing = np.isnan(human) | np.isnan(judge)
    return np.where(missing, np.nan, human), np.where(missing, np.nan, judge)


def system_means(human: FloatArray, judge: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each system's mean over the documents where it has both values; systems without any are left
    out."""
    present = ~np.isnan(human)
    count = present.sum(axis=0)
    some = count > 0
    means = (
        np.where(present, side, 0.0).sum(axis=0)[some] / count[some] for side in (human, judge)
    )
    human_means, judge_means = (np.round(mean, DIGITS) for mean in means)
    return human_means, judge_means


def coefficient_of(
    x: FloatArray, y: FloatArray, coefficient: Coefficient, *, of: str = "values"
) -> Estimate:
    """One coefficient of two complete vectors; `of` names their elements in the reason."""
    if len(x) < 2:
        return Estimate.undefined(f"fewer than two {of} with both a rating and a score")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        side = "human ratings" if np.ptp(x) == 0 else "judge's scores"
        return Estimate.undefined(f"the {side} are the same for all {of}")
    value = _SCIPY[coefficient](x, y)
    if not np.isfinite(value):
        return Estimate.undefined("the values are too close to each other to be distinguished")
    return Estimate(float(value))


def coefficients_by_document(
    human: FloatArray, judge: FloatArray, coefficient: Coefficient
) -> FloatArray:
    """One coefficient per document over its systems, NaN where it has none.

    Args:
        human, judge: shape (documents, systems), NaN at the same cells.

    Returns:
        Shape (documents,).
    """
    documents, systems = human.shape
    if systems > PAIRWISE_SYSTEMS:
        rows = zip(human, judge, strict=True)
        return np.array([_one_document(x, y, coefficient) for x, y in rows], dtype=float)
    block = max(1, _BLOCK_CELLS // max(1, systems * systems))
    parts = [
        _BY_DOCUMENT[coefficient](human[start : start + block], judge[start : start + block])
        for start in range(0, documents, block)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _one_document(x: FloatArray, y: FloatArray, coefficient: Coefficient) -> float:
    present = ~np.isnan(x)
    value = coefficient_of(x[present], y[present], coefficient).value
    return np.nan if value is None else value


def _mean(values: FloatArray, documents: int) -> Estimate:
    used = values[~np.isnan(values)]
    if len(used):
        return Estimate(float(used.mean()))
    if not documents:
        return Estimate.undefined("no document has both a rating and a score")
    return Estimate.undefined(
        "in every document there are fewer than two outputs, or all have the same score or the "
        "same rating"
    )


def _pearson_rows(human: FloatArray, judge: FloatArray) -> FloatArray:
    """Pearson's r of each row; rows that are constant in either table have none."""
    present = ~np.isnan(human)
    count = present.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = []
        for side in (human, judge):
            filled = np.where(present, side, 0.0)
            mean = filled.sum(axis=1, keepdims=True) / count[:, None]
            centred.append(np.where(present, side - mean, 0.0))
        x, y = centred
        r = (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    # Rounding may leave a constant row with a tiny variance, so constancy is decided on the values.
    r[_constant(human) | _constant(judge)] = np.nan
    clipped: FloatArray = np.clip(r, -1.0, 1.0)
    return clipped


def _constant(rows: FloatArray) -> np.ndarray:
    low = np.where(np.isnan(rows), np.inf, rows).min(axis=1, initial=np.inf)
    high = np.where(np.isnan(rows), -np.inf, rows).max(axis=1, initial=-np.inf)
    return np.asarray(low >= high)


def rank_rows(rows: FloatArray) -> FloatArray:
    """Average ranks within each row, from 1; NaN stays NaN. Shape (documents, systems)."""
    below = (rows[:, None, :] < rows[:, :, None]).sum(axis=2)
    equal = (rows[:, None, :] == rows[:, :, None]).sum(axis=2)
    return np.where(np.isnan(rows), np.nan, below + (equal + 1) / 2)


def _spearman_rows(human: FloatArray, judge: FloatArray) -> FloatArray:
    return _pearson_rows(rank_rows(human), rank_rows(judge))


def _kendall_rows(human: FloatArray, judge: FloatArray) -> FloatArray:
    """Kendall's tau-b of each row: (concordant - discordant) / sqrt(pairs untied in x * pairs
    untied in y)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        order_x = _pair_signs(human)
        order_y = _pair_signs(judge)
        agreement = (order_x * order_y).sum(axis=(1, 2), dtype=float)
        untied_x = np.abs(order_x).sum(axis=(1, 2), dtype=float)
        untied_y = np.abs(order_y).sum(axis=(1, 2), dtype=float)
        tau = agreement / np.sqrt(untied_x * untied_y)
    return np.where((untied_x == 0) | (untied_y == 0), np.nan, np.clip(tau, -1.0, 1.0))


def _pair_signs(rows: FloatArray) -> np.ndarray:
    """The order of each pair of a row as -1, 0 or 1; pairs with a missing value count as tied."""
    greater = rows[:, :, None] > rows[:, None, :]
    return greater.astype(np.int8) - np.swapaxes(greater, 1, 2).astype(np.int8)


_BY_DOCUMENT = {"pearson": _pearson_rows, "spearman": _spearman_rows, "kendall": _kendall_rows}
_SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y, variant="b").statistic,
}
