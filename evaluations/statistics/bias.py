"""Biases of judges: towards long texts, LLM-written texts, and texts of their own family."""

import re
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluations.statistics.correlation import Coefficient
from evaluations.statistics.jackknife import LeftOut, mapped, no_interval
from evaluations.statistics.pairing import DIGITS, FloatArray
from evaluations.statistics.resampling import Interval
from evaluations.statistics.results import Estimate


@dataclass(frozen=True)
class PreferenceGroup:
    """Mean scores of human- and LLM-written texts among pairs that people judged alike."""

    human_written: float
    llm_written: float
    pairs: int

    @property
    def gap(self) -> float:
        """How much higher the judge scores the LLM's text."""
        return self.llm_written - self.human_written


def partial_correlation(
    judge: FloatArray, feature: FloatArray, human: FloatArray, coefficient: Coefficient = "pearson"
) -> Estimate:
    """Correlation of scores with a feature (length, …) at equal human ratings: the partial
    correlation.

    Args:
        judge, feature, human: shape (n,), complete.
    """
    if len(judge) < 4 or any(np.ptp(side) == 0 for side in (judge, feature, human)):
        return Estimate.undefined(
            "fewer than four outputs, or one of the three is the same for all"
        )
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
    """The family of models in a name, such as "gpt" for gpt-4o and ChatGPT; empty if there is none.
    Whole words count: a dolphin is no phi."""
    words = re.findall("[a-z]+", name.lower())
    found = {word.removeprefix("chat").removeprefix("code") for word in words}
    return next((family for family in FAMILIES if family in found), "")


def self_preference(own: FloatArray, others: FloatArray) -> Estimate:
    """How much higher than people the judge rates its own family's texts than others' (Panickssery
    et al., 2024).

    Args:
        own, others: shape (n, 2), (judge's score, human rating).
    """
    if not len(own) or not len(others):
        return Estimate.undefined("texts of the judge's own family and of others are needed")
    return Estimate(float((own[:, 0] - own[:, 1]).mean() - (others[:, 0] - others[:, 1]).mean()))


@dataclass(frozen=True)
class FamilyBias:
    """How much higher than people a judge rates its own family's texts than others', with its
    interval."""

    estimate: Estimate
    interval: Interval


def family_bias(
    human: FloatArray, judge: FloatArray, own: np.ndarray, others: np.ndarray, documents: LeftOut
) -> FamilyBias:
    """`self_preference` over all outputs, with an interval over documents.

    Args:
        human, judge: shape (documents, systems), NaN for missing.
        own, others: shape (systems,), which systems are of the judge's family and which of another.
    """
    present = ~np.isnan(human) & ~np.isnan(judge)
    pairs = [
        np.column_stack([judge[:, part][present[:, part]], human[:, part][present[:, part]]])
        for part in (own, others)
    ]
    estimate = self_preference(*pairs)
    if estimate.value is None:
        return FamilyBias(estimate, no_interval(estimate.reason))
    means = []
    for part in (own, others):
        gaps = np.where(present[:, part], judge[:, part] - human[:, part], 0.0).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            counts = present[:, part].sum(axis=1).astype(float)
            means.append((documents.counts @ gaps) / (documents.counts @ counts))
    counting = int(present[:, own | others].any(axis=1).sum())
    interval = documents.interval(estimate.value, means[0] - means[1], counting=counting)
    return FamilyBias(estimate, interval)


@dataclass(frozen=True)
class WriterBias:
    """Figure 2 of Liu et al. (2023) with intervals over documents: the gap is LLM-written minus
    human-written.

    `groups` are by which text people prefer ("human", "equal", "llm"), each with its interval of
    the gap.
    """

    groups: dict[str, tuple[PreferenceGroup, Interval]]


def writer_bias(
    human: FloatArray,
    judge: FloatArray,
    by_human: np.ndarray,
    by_llm: np.ndarray,
    documents: LeftOut,
) -> WriterBias | None:
    """How a judge scores human- and LLM-written texts of the same document, by which of them people
    prefer.

    Args:
        human, judge: shape (documents, systems), NaN for missing.
        by_human, by_llm: shape (systems,), which systems are people and which are language models.

    Returns:
        None if there are no such pairs.
    """
    columns = [(int(h), int(m)) for h in np.flatnonzero(by_human) for m in np.flatnonzero(by_llm)]
    if not columns or not human.size:
        return None
    first, second = (np.array(side) for side in zip(*columns, strict=True))
    preference = np.sign(np.round(human[:, second] - human[:, first], DIGITS))
    texts = [np.where(np.isnan(preference), np.nan, judge[:, side]) for side in (first, second)]
    counts = documents.counts
    groups: dict[str, tuple[PreferenceGroup, Interval]] = {}
    for name, sign in (("human", -1), ("equal", 0), ("llm", 1)):
        mine = (preference == sign) & ~np.isnan(texts[0]) & ~np.isnan(texts[1])
        if not mine.any():
            continue
        gaps = np.where(mine, texts[1] - texts[0], 0.0).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            left_out = (counts @ gaps) / (counts @ mine.sum(axis=1).astype(float))
        group = PreferenceGroup(
            float(texts[0][mine].mean()), float(texts[1][mine].mean()), int(mine.sum())
        )
        counting = int(mine.any(axis=1).sum())
        groups[name] = (group, documents.interval(group.gap, left_out, counting=counting))
    return WriterBias(groups) if groups else None


@dataclass(frozen=True)
class LengthBias:
    """A judge's length bias: correlation of score and length, also at equal human rating.

    `per_hundred_words` is the points gained per hundred more words at equal human rating (least
    squares).
    """

    plain: Estimate
    partial: Estimate
    interval: Interval
    per_hundred_words: Estimate


def length_bias(
    human: FloatArray, judge: FloatArray, words: FloatArray, documents: LeftOut
) -> LengthBias:
    """Spearman's correlations over all outputs, the interval over documents (on ranks of the
    whole).

    Args:
        human, judge, words: shape (documents, systems), NaN for missing.
    """
    missing = np.isnan(human) | np.isnan(judge) | np.isnan(words)
    present = ~missing
    sides = [side[present] for side in (judge, words, human)]
    partial = partial_correlation(sides[0], sides[1], sides[2], "spearman")
    if partial.value is None:
        nothing = no_interval(partial.reason)
        return LengthBias(partial, partial, nothing, partial)
    plain = Estimate(float(stats.spearmanr(sides[0], sides[1]).statistic))
    design = np.column_stack([np.ones(len(sides[0])), sides[1] / 100, sides[2]])
    slope = np.linalg.lstsq(design, sides[0], rcond=None)[0][1]
    return LengthBias(
        plain, partial, _partial_interval(present, sides, documents), Estimate(float(slope))
    )


def _partial_interval(present: np.ndarray, sides: list[FloatArray], documents: LeftOut) -> Interval:
    """Sums of products by document make the correlations without each document one product of
    matrices; the last row is of all documents."""
    tables = []
    for side in sides:
        table = np.zeros(present.shape)
        table[present] = stats.rankdata(side)
        tables.append(table)
    one = present.astype(float)
    columns = [one, *tables, *(a * b for a, b in _products_of(tables))]
    kept = np.vstack([documents.counts, np.ones(len(present))])
    sums = kept @ np.stack([column.sum(axis=1) for column in columns], axis=1)
    n, means = sums[:, 0], [sums[:, 1 + i] / sums[:, 0] for i in range(3)]
    places = {
        pair: 4 + at for at, pair in enumerate([(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)])
    }
    covariance = {(i, j): sums[:, at] / n - means[i] * means[j] for (i, j), at in places.items()}
    with np.errstate(invalid="ignore", divide="ignore"):
        r = {
            (i, j): covariance[i, j] / np.sqrt(covariance[i, i] * covariance[j, j])
            for i, j in covariance
        }
        partial = (r[0, 1] - r[0, 2] * r[1, 2]) / np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
        on_z = np.arctanh(np.clip(partial, -1 + 1e-12, 1 - 1e-12))
    counting = int(present.any(axis=1).sum())
    found = documents.interval(float(on_z[-1]), on_z[:-1], counting=counting)
    return mapped(found, np.tanh)


def _products_of(tables: list[FloatArray]) -> list[tuple[FloatArray, FloatArray]]:
    return [(tables[i], tables[j]) for i in range(3) for j in range(i, 3)]
