"""Pearson's r, Spearman's rho and Kendall's tau-b of a judge with humans, at four levels.

Levels (Deutsch, Dror and Roth, 2021, "A Statistical Analysis of Summarization Evaluation Metrics
Using Resampling Methods"):

- summary: one coefficient per document over its systems, then the mean over documents. Documents
with constant ratings or scores have no coefficient; they are left out and counted. Also called
  turn-, sample- or input-level. Judges are compared in another way (see `same_documents`).
- session: over the means of sessions, each being what a system's turns of a session have on
average. Without sessions a document has one output of a system, and this is the dataset level.
- system: over systems, each being the mean of its outputs.
- dataset: over all outputs at once.

Outputs that were drawn with different probabilities count by their weights: coefficients are
weighted (see `weighted`), documents count by theirs in the mean over documents, and systems have
Hájek means.

A pair counts only if it has a rating and a score. Coefficients follow scipy's `pearsonr`,
`spearmanr` and `kendalltau` (variant b), as tests check.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy import stats

from geval.statistics.layout import Outputs, complete
from geval.statistics.once import once
from geval.statistics.results import Estimate
from geval.statistics.types import DIGITS, FloatArray, IntArray
from geval.statistics.weighted import OF_ROWS, OF_VALUES, weighted_mean

Coefficient = Literal["pearson", "spearman", "kendall"]
Level = Literal["summary", "session", "system", "dataset"]
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
LEVELS: tuple[Level, ...] = ("summary", "session", "system", "dataset")

# Documents with more outputs are taken one by one: tables of their pairs grow too large.
PAIRWISE_SYSTEMS = 200
# Pairs are counted in a table of the values of both sides, where it has no more cells than this, or
# than this times the values.
LEAST_TABLE, TABLE_CELLS = 65_536, 16


def levels_of(*, sessions: bool) -> tuple[Level, ...]:
    """The levels that differ, with sessions or without."""
    return tuple(level for level in LEVELS if sessions or level != "session")


@dataclass(frozen=True)
class Correlations:
    """A judge's correlations with humans on one criterion.

    `documents` have at least one pair; in `documents_ranked` of them ratings are not constant, and
    in `documents_used` of these the scores are not either. `by_document` has shape (documents,)
    each, NaN where a document has no coefficient.
    """

    documents: int
    documents_ranked: int
    documents_used: int
    pairs: int
    estimates: dict[Coefficient, dict[Level, Estimate]]
    by_document: dict[Coefficient, FloatArray]


def correlations(outputs: Outputs, human: FloatArray, judge: FloatArray) -> Correlations:
    """All coefficients at all levels.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    has_cells = outputs.has_cells  # of all outputs, which judges share and which know it once
    outputs, (human, judge) = complete(outputs, human, judge)
    by_document = {
        coefficient: coefficients_by_document(outputs, human, judge, coefficient)
        for coefficient in COEFFICIENTS
    }
    documents = int(outputs.documents_with().sum())
    means = system_means(outputs, human, judge)
    sessions, sides = (outputs, [human, judge]) if has_cells else outputs.in_sessions(human, judge)
    estimates: dict[Coefficient, dict[Level, Estimate]] = {}
    for coefficient in COEFFICIENTS:
        of_outputs = coefficient_of(human, judge, coefficient, of="outputs", weight=outputs.weight)
        estimates[coefficient] = {
            "summary": _mean(by_document[coefficient], documents, outputs.document_weight),
            "session": of_outputs
            if sessions is outputs
            else coefficient_of(
                sides[0], sides[1], coefficient, of="sessions", weight=sessions.weight
            ),
            "system": coefficient_of(*means, coefficient, of="systems"),
            "dataset": of_outputs,
        }
    used = int((~np.isnan(by_document["pearson"])).sum())
    ranked = int(outputs.documents_ranked(human).sum())
    return Correlations(documents, ranked, used, len(outputs), estimates, by_document)


def correlation_at(
    outputs: Outputs, human: FloatArray, judge: FloatArray, coefficient: Coefficient, level: Level
) -> Estimate:
    """One coefficient at one level, as `correlations` has it.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    if level == "summary":
        by_document = coefficients_by_document(outputs, human, judge, coefficient)
        return _mean(by_document, int(outputs.documents_with().sum()), outputs.document_weight)
    if level == "system":
        return coefficient_of(*system_means(outputs, human, judge), coefficient, of="systems")
    if level == "session":
        outputs, (human, judge) = outputs.in_sessions(human, judge)
    return coefficient_of(human, judge, coefficient, of="outputs", weight=outputs.weight)


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
        np.round(outputs.means_by_system(side)[some], DIGITS) for side in (human, judge)
    )
    return human_means, judge_means


def coefficient_of(
    x: FloatArray,
    y: FloatArray,
    coefficient: Coefficient,
    *,
    of: str = "values",
    weight: FloatArray | None = None,
) -> Estimate:
    """One coefficient of two complete vectors; `of` names their elements in the reason."""
    if len(x) < 2:
        return Estimate.undefined(f"fewer than two {of} with both a rating and a score")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        side = "human ratings" if np.ptp(x) == 0 else "judge's scores"
        return Estimate.undefined(f"the {side} are the same for all {of}")
    if weight is None:
        value = _OF_VALUES[coefficient](x, y)
    else:
        value = OF_VALUES[coefficient](x, y, weight)
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
    weight = outputs.weight_in_documents
    for block in outputs.blocks:
        for part in block.parts():
            found[part.groups] = coefficients_of_rows(
                human[part.members],
                judge[part.members],
                coefficient,
                None if weight is None else weight[part.members],
            )
    return found


def mean_by_document(
    outputs: Outputs, human: FloatArray, judge: FloatArray, coefficient: Coefficient = "spearman"
) -> float:
    """The summary-level correlation: the mean of the coefficients of documents, NaN where none has
    one."""
    outputs, (human, judge) = complete(outputs, human, judge)
    by_document = coefficients_by_document(outputs, human, judge, coefficient)
    return mean_of_documents(by_document, outputs.document_weight)


def mean_of_documents(by_document: FloatArray, weight: FloatArray | None = None) -> float:
    """The mean of what is there, NaN where nothing is; shape (documents,) each."""
    is_there = ~np.isnan(by_document)
    if not is_there.any():
        return float("nan")
    used = by_document[is_there]
    return float(used.mean()) if weight is None else weighted_mean(used, weight[is_there])


def coefficients_of_rows(
    human: FloatArray,
    judge: FloatArray,
    coefficient: Coefficient,
    weight: FloatArray | None = None,
) -> FloatArray:
    """One coefficient per row, NaN where it has none; shape (rows,).

    Args:
        human, judge: shape (rows, columns), NaN at the same cells.
        weight: shape (rows, columns); then no cell may be NaN.
    """
    rows, columns = human.shape
    if columns == 2:  # then all coefficients say the same
        same_order = np.sign(human[:, 0] - human[:, 1]) * np.sign(judge[:, 0] - judge[:, 1])
        return np.where(same_order == 0, np.nan, same_order)
    if columns > PAIRWISE_SYSTEMS:
        weights = [None] * rows if weight is None else list(weight)
        triples = zip(human, judge, weights, strict=True)
        return np.array([_one_row(x, y, coefficient, own) for x, y, own in triples], dtype=float)
    if weight is not None:
        constant = _constant(human) | _constant(judge)
        return np.where(constant, np.nan, OF_ROWS[coefficient](human, judge, weight))
    return _OF_ROWS[coefficient](human, judge)


def _one_row(
    x: FloatArray, y: FloatArray, coefficient: Coefficient, weight: FloatArray | None
) -> float:
    present = ~np.isnan(x)
    own = None if weight is None else weight[present]
    value = coefficient_of(x[present], y[present], coefficient, weight=own).value
    return np.nan if value is None else value


def _mean(values: FloatArray, documents: int, weight: FloatArray | None) -> Estimate:
    mean = mean_of_documents(values, weight)
    if not np.isnan(mean):
        return Estimate(mean)
    if not documents:
        return Estimate.undefined("no document has both a rating and a score")
    return Estimate.undefined(
        "in every document there are fewer than two outputs, or all have the same score or the "
        "same rating"
    )


def _pearson_rows(human: FloatArray, judge: FloatArray) -> FloatArray:
    """Pearson's r of each row; rows that are constant in either table have none."""
    present = ~np.isnan(human)
    count = None if present.all() else present.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (_centred(side, present, count) for side in (human, judge))
        r = (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    # Rounding may leave a constant row with a tiny variance, so constancy is decided on the values.
    r[_constant(human) | _constant(judge)] = np.nan
    clipped: FloatArray = np.clip(r, -1.0, 1.0)
    return clipped


def _centred(rows: FloatArray, present: np.ndarray, count: IntArray | None) -> FloatArray:
    """Rows less their means, 0 where a value is missing.

    Args:
        count: shape (rows,), how many values are there; None where none is missing.
    """
    if count is None:
        centred: FloatArray = rows - rows.sum(axis=1, keepdims=True) / rows.shape[1]
        return centred
    filled = np.where(present, rows, 0.0)
    return np.where(present, rows - filled.sum(axis=1, keepdims=True) / count[:, None], 0.0)


def _constant(rows: FloatArray) -> np.ndarray:
    first = rows[:, :1]
    if np.isnan(rows).any():
        first = np.where(np.isnan(rows), np.inf, rows).min(axis=1, keepdims=True, initial=np.inf)
        rows = np.where(np.isnan(rows), first, rows)
    return np.asarray((rows == first).all(axis=1))


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
    columns = np.ascontiguousarray(rows.T)
    # How many are below, and how many are not above: a column after the other is compared with
    # all, which needs no table of pairs.
    twice = np.zeros(columns.shape, dtype=np.int8 if len(columns) < 64 else np.int16)
    for column in columns:
        twice += (column < columns).view(np.int8)
        twice += (column <= columns).view(np.int8)
    return np.where(np.isnan(rows), np.nan, (twice.T + 1) / 2)


def _spearman_rows(human: FloatArray, judge: FloatArray) -> FloatArray:
    return _pearson_rows(rank_rows(human), rank_rows(judge))


def _kendall_rows(human: FloatArray, judge: FloatArray) -> FloatArray:
    """Kendall's tau-b of each row: (concordant - discordant) / sqrt(pairs untied in x * pairs
    untied in y). Pairs with a missing value count as tied."""
    x, y = (np.ascontiguousarray(side.T) for side in (human, judge))
    agreement, untied_x, untied_y = np.zeros((3, len(human)))
    for column in range(len(x)):  # with itself a column is tied
        order_x, order_y = (_order(side[column], side[column:]) for side in (x, y))
        agreement += (order_x * order_y).sum(axis=0, dtype=np.int16)
        untied_x += (order_x != 0).sum(axis=0, dtype=np.int16)
        untied_y += (order_y != 0).sum(axis=0, dtype=np.int16)
    with np.errstate(invalid="ignore"):  # 0 / 0 where a side is constant
        tau: FloatArray = agreement / np.sqrt(untied_x * untied_y)
    return tau


def _order(one: FloatArray, others: FloatArray) -> np.ndarray:
    """How a column compares with others in each row: -1, 0 or 1."""
    return (one > others).view(np.int8) - (one < others).view(np.int8)


def _pearson(x: FloatArray, y: FloatArray) -> float:
    """Pearson's r of two vectors that vary, in the steps of scipy's."""
    units = []
    for side in (x, y):
        centred = side - side.mean()
        most = np.abs(centred).max()
        units.append(centred / (most * np.linalg.norm(centred / most)))
    r = float(np.clip(units[0] @ units[1], -1.0, 1.0))
    return round(r) if len(x) == 2 else r


def _spearman(x: FloatArray, y: FloatArray) -> float:
    return float(np.corrcoef(ranks(x), ranks(y))[0, 1])


@once
def ranks(values: FloatArray) -> FloatArray:
    """The rank of each value, from 1; equal ones share the mean of theirs."""
    order = np.argsort(values)
    ordered = values[order]
    begin = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    equal = np.diff(np.append(begin, len(values)))
    found = np.empty(len(values))
    found[order] = np.repeat(begin + (equal + 1) / 2, equal)
    return found


class Concordance(NamedTuple):
    """Pairs of two vectors: those in the same order less those in opposite ones, and how many are
    untied on each side; `levels` is the smaller number of distinct values."""

    surplus: int
    untied_x: int
    untied_y: int
    levels: int

    @property
    def tau_b(self) -> float:
        tau = self.surplus / np.sqrt(self.untied_x) / np.sqrt(self.untied_y)
        return float(np.clip(tau, -1.0, 1.0))


@once
def concordance(x: FloatArray, y: FloatArray) -> Concordance:
    """The pairs of two vectors that vary."""
    (of_x, at_x), (of_y, at_y) = (np.unique(side, return_inverse=True) for side in (x, y))
    pairs = len(x) * (len(x) - 1) // 2
    counts_x, counts_y = np.bincount(at_x), np.bincount(at_y)
    untied_x, untied_y = (pairs - _tied(counts) for counts in (counts_x, counts_y))
    levels = min(len(of_x), len(of_y))
    if len(of_x) * len(of_y) > max(LEAST_TABLE, TABLE_CELLS * len(x)):
        tau = stats.kendalltau(at_x, at_y, variant="b").statistic
        surplus = round(float(tau * np.sqrt(untied_x) * np.sqrt(untied_y)))
        return Concordance(surplus, untied_x, untied_y, levels)
    table = np.bincount(at_x * len(of_y) + at_y, minlength=len(of_x) * len(of_y))
    table = table.reshape(len(of_x), len(of_y))
    below = np.cumsum(np.cumsum(table, axis=0), axis=1)
    concordant = int((table[1:, 1:] * below[:-1, :-1]).sum())
    # The pairs that are tied on neither side are in the same order or in opposite ones.
    untied = untied_x + untied_y - pairs + _tied(table)
    return Concordance(2 * concordant - untied, untied_x, untied_y, levels)


def _tied(counts: IntArray) -> int:
    """How many pairs are among equal values."""
    return int((counts * (counts - 1)).sum()) // 2


def _kendall(x: FloatArray, y: FloatArray) -> float:
    return concordance(x, y).tau_b


_OF_ROWS = {"pearson": _pearson_rows, "spearman": _spearman_rows, "kendall": _kendall_rows}
_OF_VALUES = {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}
