"""Pearson's r, Spearman's rho and Kendall's tau-b of a judge with humans, at four levels.

Levels (Deutsch, Dror and Roth, 2021, "A Statistical Analysis of Summarization Evaluation Metrics
Using Resampling Methods"):

- summary: one coefficient per document over its systems, then the mean over documents. Documents
with constant ratings or scores have no coefficient; they are left out and counted. Also called
turn-, sample- or input-level. Comparisons of judges treat them differently (see `same_documents`).
- session: over sessions, each value being the mean of a system's turns in a session. Without
sessions a document has one output of a system, and this is the dataset level.
- system: over systems, each being the mean of its outputs.
- dataset: over all outputs at once.

Outputs that were drawn with different probabilities count by their weights: coefficients are
weighted, documents count by their weights in the mean over documents, and systems have Hájek means.

A pair counts only if it has a rating and a score. The coefficients are in `coefficients`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from geval.statistics.arrays import Outputs, complete
from geval.statistics.coefficients import (
    PAIRWISE_COLUMNS,
    kendall,
    kendall_rows,
    of_two_values,
    pearson,
    rank_rows,
    spearman,
    spearman_rows,
)
from geval.statistics.types import Estimate, FloatArray, tie_close_values
from geval.statistics.weighted import weighted_mean

Coefficient = Literal["pearson", "spearman", "kendall"]
Level = Literal["summary", "session", "system", "dataset"]
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
LEVELS: tuple[Level, ...] = ("summary", "session", "system", "dataset")


def levels_of(*, sessions: bool) -> tuple[Level, ...]:
    """Return the levels that differ, with or without sessions."""
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

    def documents_at(self, level: Level) -> int:
        """Return how many documents count at a level: only within documents do those not count
        whose ratings or scores are all equal."""
        return self.documents_used if level == "summary" else self.documents


def correlations(outputs: Outputs, human: FloatArray, judge: FloatArray) -> Correlations:
    """Return all coefficients at all levels.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    has_cells = outputs.has_cells  # on all outputs, whose cached values the judges share
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
    """Return one coefficient at one level, as in `correlations`.

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
    """Return each system's mean over its outputs that have both values; systems without any are
    left out.

    Args:
        human, judge: shape (outputs,), NaN for missing.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    count = outputs.by_system()
    some = count > 0
    human_means, judge_means = (
        tie_close_values(outputs.means_by_system(side)[some]) for side in (human, judge)
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
    value = float(of_two_values(x, y) if len(x) == 2 else _OF_VALUES[coefficient](x, y, weight))
    if np.isfinite(value):
        return Estimate(value)
    for side, name in ((x, "human ratings"), (y, "judge's scores")):
        if np.ptp(side) == 0:
            return Estimate.undefined(f"the {name} are the same for all {of}")
    return Estimate.undefined("the values are too close to each other to be distinguished")


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
    coefficients = np.full(outputs.documents, np.nan)
    weight = outputs.weight_in_documents
    for block in outputs.blocks:
        for part in block.parts():
            coefficients[part.groups] = coefficients_of_rows(
                human[part.members],
                judge[part.members],
                coefficient,
                None if weight is None else weight[part.members],
            )
    return coefficients


def mean_by_document(
    outputs: Outputs, human: FloatArray, judge: FloatArray, coefficient: Coefficient = "spearman"
) -> float:
    """Return the summary-level correlation: the mean of the coefficients of documents, NaN where
    none has one."""
    outputs, (human, judge) = complete(outputs, human, judge)
    by_document = coefficients_by_document(outputs, human, judge, coefficient)
    return mean_of_documents(by_document, outputs.document_weight)


def mean_of_documents(by_document: FloatArray, weight: FloatArray | None = None) -> float:
    """Return the mean of the values that are not missing, NaN where all are; shape (documents,)
    each."""
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
    if columns == 2:
        return of_two_values(human, judge)
    if columns > PAIRWISE_COLUMNS:
        weights = [None] * rows if weight is None else list(weight)
        triples = zip(human, judge, weights, strict=True)
        return np.array(
            [_one_row(x, y, coefficient, present_weight) for x, y, present_weight in triples],
            dtype=float,
        )
    return np.asarray(_OF_ROWS[coefficient](human, judge, weight))


def _one_row(
    x: FloatArray, y: FloatArray, coefficient: Coefficient, weight: FloatArray | None
) -> float:
    present = ~np.isnan(x)
    weights = None if weight is None else weight[present]
    value = coefficient_of(x[present], y[present], coefficient, weight=weights).value
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


def ranks_by_document(outputs: Outputs, values: FloatArray) -> FloatArray:
    """Return the rank of each output among those of its document, from 1; equal ones share the
    mean.

    Args:
        values: shape (outputs,), complete.
    """
    ranks = np.empty(len(outputs))
    for block in outputs.blocks:
        for part in block.parts():
            ranks[part.members] = rank_rows(values[part.members])
    return ranks


_Coefficient = Callable[[FloatArray, FloatArray, FloatArray | None], Any]
_OF_VALUES: dict[Coefficient, _Coefficient] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
_OF_ROWS: dict[Coefficient, _Coefficient] = {
    "pearson": pearson,
    "spearman": spearman_rows,
    "kendall": kendall_rows,
}
