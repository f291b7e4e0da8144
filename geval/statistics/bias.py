"""Biases of judges: towards long texts, LLM-written texts, and texts of their own family.

Outputs that were drawn with different probabilities count by their weights: ranks, correlations and
least squares are those of a population in which each output occurs as often as its weight.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from geval.statistics.arrays import Outputs, complete, mean_of
from geval.statistics.coefficients import pearson, ranks, spearman
from geval.statistics.correlation import Coefficient
from geval.statistics.jackknife import LeftOut, documents_counting, mapped, no_interval
from geval.statistics.resampling import Interval
from geval.statistics.types import DIGITS, Estimate, FloatArray, IntArray


@dataclass(frozen=True)
class PreferenceGroup:
    """Mean scores of human- and LLM-written texts, among pairs with the same preference by
    people."""

    human_written: float
    llm_written: float
    pairs: int

    @property
    def gap(self) -> float:
        """How much higher the judge scores the LLM's text."""
        return self.llm_written - self.human_written


def partial_correlation(
    judge: FloatArray,
    feature: FloatArray,
    human: FloatArray,
    coefficient: Coefficient = "pearson",
    weight: FloatArray | None = None,
) -> Estimate:
    """Correlation of scores with a feature (length, …) at equal human ratings: the partial
    correlation.

    Args:
        judge, feature, human: shape (n,), complete.
        weight: shape (n,), the sampling weights.
    """
    if len(judge) < 4 or any(np.ptp(side) == 0 for side in (judge, feature, human)):
        return Estimate.undefined(
            "fewer than four outputs, or one of the three is the same for all"
        )
    of_values = spearman if coefficient == "spearman" else pearson
    with_feature, with_human, between = (
        float(of_values(x, y, weight))
        for x, y in ((judge, feature), (judge, human), (feature, human))
    )
    if (1 - with_human**2) * (1 - between**2) < 1e-24:
        return Estimate.undefined("people's ratings explain one of the two completely")
    return Estimate(float(_at_equal(with_feature, with_human, between)))


def _at_equal(correlation: Any, first: Any, second: Any) -> Any:
    """Return the partial correlation of two variables given a third, from the three
    correlations."""
    return (correlation - first * second) / np.sqrt((1 - first**2) * (1 - second**2))


FAMILIES = (
    "gpt",
    "claude",
    "gemini",
    "llama",
    "mistral",
    "mixtral",
    "qwen",
    "deepseek",
    "gemma",
    "phi",
    "command",
)


def family_of(name: str) -> str:
    """Return the family of models in a name, such as "gpt" for gpt-4o and ChatGPT; empty if there
    is none. Whole words count: "dolphin" does not contain phi."""
    words = re.findall("[a-z]+", name.lower())
    parts = {word.removeprefix("chat").removeprefix("code") for word in words}
    return next((family for family in FAMILIES if family in parts), "")


@dataclass(frozen=True)
class Family:
    """A family of models; `is_given` where a user named it, rather than guessed from a name."""

    name: str
    is_given: bool

    @classmethod
    def of(cls, given: str, name: str) -> "Family":
        """Return the given family, or else the one in a name."""
        given = given.strip().lower()
        return cls(given or family_of(name), bool(given))

    def __str__(self) -> str:
        if not self.name:
            return "family not known"
        return f"{self.name}, {'given' if self.is_given else 'guessed from the name'}"


@dataclass(frozen=True)
class FamilyBias:
    """How much higher a judge rates its own family's texts than others', at equal human rating,
    with its interval.
    """

    partial: Estimate
    interval: Interval

    @classmethod
    def undefined(cls, reason: str) -> "FamilyBias":
        return cls(Estimate.undefined(reason), no_interval(reason))


def family_bias(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    own: np.ndarray,
    others: np.ndarray,
    documents: LeftOut,
) -> FamilyBias:
    """Regress the judge's scores on the human mean and on the family of the text's writer (analysis
    of covariance), with an interval over documents.

    Args:
        human, judge: shape (outputs,), NaN for missing.
        own, others: masks of shape (systems,): systems of the judge's family, and of another.
    """
    compared = (own | others)[outputs.system]
    outputs, human, judge = outputs.part(compared), human[compared], judge[compared]
    outputs, (human, judge) = complete(outputs, human, judge)
    selected = own[outputs.system]
    if selected.all() or not selected.any():
        return FamilyBias.undefined("texts of the judge's own family and of others are needed")
    if np.ptp(human) == 0:
        return FamilyBias.undefined("people gave all these outputs the same rating")
    # Centred, so that sums of squares keep their precision.
    columns = [np.ones(len(human)), human - human.mean(), selected.astype(float)]
    normal = [[_without(outputs, documents, a * b) for b in columns] for a in columns]
    target = [_without(outputs, documents, a * (judge - judge.mean())) for a in columns]
    coefficients = _solved(np.moveaxis(np.array(normal), 2, 0), np.array(target).T)[:, 2]
    if np.isnan(coefficients[-1]):
        return FamilyBias.undefined("people's ratings tell the families apart completely")
    counting = documents_counting(outputs)
    interval = documents.interval(float(coefficients[-1]), coefficients[:-1], counting=counting)
    return FamilyBias(Estimate(float(coefficients[-1])), interval)


def _solved(normal: FloatArray, target: FloatArray) -> FloatArray:
    """Solve normal equations; NaN where they have no solution.

    Args:
        normal: shape (groups, columns, columns).
        target: shape (groups, columns).
    """
    solvable = np.linalg.cond(normal) < 1e12
    solved = np.full(target.shape, np.nan)
    solved[solvable] = np.linalg.solve(normal[solvable], target[solvable][:, :, None])[:, :, 0]
    return solved


@dataclass(frozen=True)
class WriterBias:
    """Figure 2 of Liu et al. (2023) with intervals over documents: the gap is LLM-written minus
    human-written.

    `groups` are by the text that people prefer ("human", "equal", "llm"), each with the interval of
    its gap.
    """

    groups: dict[str, tuple[PreferenceGroup, Interval]]


def writer_bias(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    by_human: np.ndarray,
    by_llm: np.ndarray,
    documents: LeftOut,
) -> WriterBias | None:
    """Compare a judge's scores of human- and LLM-written texts of the same document, by which of
    them people prefer. Pairs count by `Outputs.weights_of_pairs`.

    Args:
        human, judge: shape (outputs,), NaN for missing.
        by_human, by_llm: shape (systems,), which systems are people and which are language models.

    Returns:
        None if there are no such pairs.
    """
    outputs, (human, judge) = complete(outputs, human, judge)
    document, first, second = _pairs(outputs, by_human[outputs.system], by_llm[outputs.system])
    preference = np.sign(np.round(human[second] - human[first], DIGITS))
    groups: dict[str, tuple[PreferenceGroup, Interval]] = {}
    for name, sign in (("human", -1), ("equal", 0), ("llm", 1)):
        selected = preference == sign
        if not selected.any():
            continue
        pairs = Outputs(
            document[selected],
            outputs.system[second[selected]],
            outputs.documents,
            outputs.systems,
            outputs.weights_of_pairs(first[selected], second[selected]),
        )
        of_human, of_llm = judge[first[selected]], judge[second[selected]]
        group = PreferenceGroup(pairs.mean(of_human), pairs.mean(of_llm), len(pairs))
        left_out = mean_of(
            documents.sums(pairs.weighing(of_llm - of_human)), documents.sums(pairs.weighing())
        )
        counting = documents_counting(pairs)
        groups[name] = (group, documents.interval(group.gap, left_out, counting=counting))
    return WriterBias(groups) if groups else None


def _pairs(
    outputs: Outputs, first: np.ndarray, second: np.ndarray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return every pair of a first and a second output of the same document, and which document it
    is.

    Args:
        first, second: masks of shape (outputs,).
    """
    parts = [(np.empty(0, dtype=np.int64),) * 3]
    for block in outputs.blocks:
        for part in block.parts():
            selected = first[part.members][:, :, None] & second[part.members][:, None, :]
            row, a, b = np.nonzero(selected)
            parts.append((part.groups[row], part.members[row, a], part.members[row, b]))
    document, left, other = (np.concatenate(side) for side in zip(*parts, strict=True))
    return document, left, other


@dataclass(frozen=True)
class LengthBias:
    """A judge's length bias: correlation of score and length at equal human rating."""

    partial: Estimate
    interval: Interval


def length_bias(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    words: FloatArray,
    documents: LeftOut,
) -> LengthBias:
    """Spearman's correlation over all outputs, the interval over documents (on ranks of the
    whole).

    Args:
        human, judge, words: shape (outputs,), NaN for missing.
    """
    outputs, (human, judge, words) = complete(outputs, human, judge, words)
    partial = partial_correlation(judge, words, human, "spearman", outputs.weight)
    if partial.value is None:
        return LengthBias(partial, no_interval(partial.reason))
    return LengthBias(partial, _partial_interval(outputs, [judge, words, human], documents))


def _partial_interval(outputs: Outputs, sides: list[FloatArray], documents: LeftOut) -> Interval:
    """Compute the interval of the partial correlation, from sums of products of ranks by
    document."""
    centred = [_centred_ranks(side, outputs.weight) for side in sides]
    with np.errstate(invalid="ignore", divide="ignore"):
        count = _without(outputs, documents, None)
        means = [_without(outputs, documents, side) / count for side in centred]
        covariance = {
            (i, j): _without(outputs, documents, centred[i] * centred[j]) / count
            - means[i] * means[j]
            for i in range(3)
            for j in range(i, 3)
        }
        r = {
            (i, j): covariance[i, j] / np.sqrt(covariance[i, i] * covariance[j, j])
            for i, j in covariance
        }
        partial = _at_equal(r[0, 1], r[0, 2], r[1, 2])
        on_z = np.arctanh(np.clip(partial, -1 + 1e-12, 1 - 1e-12))
    counting = documents_counting(outputs)
    interval = documents.interval(float(on_z[-1]), on_z[:-1], counting=counting)
    return mapped(interval, np.tanh)


def _centred_ranks(values: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Return centred ranks; in a weighted sample as shares of the total weight."""
    if weight is None:
        return ranks(values) - (len(values) + 1) / 2
    centred: FloatArray = ranks(values, weight) / weight.sum() - 0.5
    return centred


def _without(outputs: Outputs, documents: LeftOut, values: FloatArray | None) -> FloatArray:
    """Return a weighted sum over outputs without each group of documents, and last over all; shape
    (groups + 1,)."""
    by_document = outputs.weighing(values)
    return np.append(documents.sums(by_document), by_document.sum())
