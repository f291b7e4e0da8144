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

from evaluations.statistics.layout import BLOCK_CELLS, Outputs, complete
from evaluations.statistics.pairing import DIGITS, FloatArray
from evaluations.statistics.results import Estimate

Coefficient = Literal["pearson", "spearman", "kendall"]
Level = Literal["summary", "system", "dataset"]
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
LEVELS: tuple[Level, ...] = ("summary", "system", "dataset")

# Documents with more outputs are taken one by one: tables of their pairs grow too large.
PAIRWISE_SYSTEMS = 200


@dataclass(frozen=True)
class Correlations:
    """A judge's correlations with humans on one criterion.

    `documents` have at least one pair; in `documents_used` of them neither ratings nor scores are
    constant. `by_document` has shape (documents,) each, NaN where a document has no coefficient.
    """

    documents: int
    documents_used: int
    pairs: int
    estimates: dict[Coefficient, dict[Level, Estimate]]
    by_document: dict[Coefficient, FloatArray]


def correlations(outputs: Outputs, human: FloatArray, judge: FloatArray) -> Correlations:
    """All coefficients at all levels.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    by_document = {
        coefficient: coefficients_by_document(outputs, human, judge, coefficient)
        for coefficient in COEFFICIENTS
    }
    documents = int(outputs.documents_with().sum())
    means = system_means(outputs, human, judge)
    estimates: dict[Coefficient, dict[Level, Estimate]] = {}
    for coefficient in COEFFICIENTS:
        estimates[coefficient] = {
            "summary": _mean(by_document[coefficient], documents),
            "system": coefficient_of(*means, coefficient, of="systems"),
            "dataset": coefficient_of(human, judge, coefficient, of="outputs"),
        }
    used = int((~np.isnan(by_document["pearson"])).sum())
    return Correlations(documents, used, len(outputs), estimates, by_document)


def system_means(
    outputs: Outputs, human: FloatArray, judge: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Each system's mean over its outputs that have both values; systems without any are left out.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    count = outputs.by_system()
    some = count > 0
    human_means, judge_means = (
        np.round(outputs.by_system(side)[some] / count[some], DIGITS) for side in (human, judge)
    )
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
    outputs: Outputs, human: FloatArray, judge: FloatArray, coefficient: Coefficient
) -> FloatArray:
    """One coefficient per document over its outputs, NaN where it has none.

    Args:
        human, judge: shape (outputs,), NaN for missing.

    Returns:
        Shape (documents,).
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    found = np.full(outputs.documents, np.nan)
    for block in outputs.blocks:
        if block.size < 2:
            continue
        for part in block.parts():
            found[part.groups] = coefficients_of_rows(
                human[part.members], judge[part.members], coefficient
            )
    return found


def mean_by_document(
    outputs: Outputs, human: FloatArray, judge: FloatArray, coefficient: Coefficient = "spearman"
) -> float:
    """The summary-level correlation: the mean of the coefficients of documents, NaN where none has
    one."""
    by_document = coefficients_by_document(outputs, human, judge, coefficient)
    used = by_document[~np.isnan(by_document)]
    return float(used.mean()) if len(used) else float("nan")


def coefficients_of_rows(
    human: FloatArray, judge: FloatArray, coefficient: Coefficient
) -> FloatArray:
    """One coefficient per row, NaN where it has none; shape (rows,).

    Args:
        human, judge: shape (rows, columns), NaN at the same cells.
    """
    rows, columns = human.shape
    if columns == 2:  # then all coefficients say the same
        same_order = np.sign(human[:, 0] - human[:, 1]) * np.sign(judge[:, 0] - judge[:, 1])
        return np.where(same_order == 0, np.nan, same_order)
    if columns > PAIRWISE_SYSTEMS:
        pairs = zip(human, judge, strict=True)
        return np.array([_one_row(x, y, coefficient) for x, y in pairs], dtype=float)
    step = max(1, BLOCK_CELLS // max(1, columns * columns))
    parts = [
        _OF_ROWS[coefficient](human[start : start + step], judge[start : start + step])
        for start in range(0, rows, step)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _one_row(x: FloatArray, y: FloatArray, coefficient: Coefficient) -> float:
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


def ranks_by_document(outputs: Outputs, values: FloatArray) -> FloatArray:
    """The rank of each output among those of its document, from 1; equal ones share the mean.

    Args:
        values: shape (outputs,), complete.
    """
    ranks = np.empty(len(outputs))
    for block in outputs.blocks:
        for part in block.parts():
            ranks[part.members] = stats.rankdata(values[part.members], axis=1)
    return ranks


def rank_rows(rows: FloatArray) -> FloatArray:
    """Average ranks within each row, from 1; NaN stays NaN. Shape (rows, columns)."""
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


_OF_ROWS = {"pearson": _pearson_rows, "spearman": _spearman_rows, "kendall": _kendall_rows}
_SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y, variant="b").statistic,
}
