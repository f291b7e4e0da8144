"""Null judges: what judges that do not read the texts would reach on the same ratings.

A claim about a judge is meaningful only where none of these meets it too: the best constant, the
judge's scores shuffled, the length of the texts, and on a pass/fail criterion the majority's
verdict. Four know people's other ratings: those of the same system, of the same document, of the
same group of documents, and of the same person where each output has one rating. None of them sees
a rating of what it predicts. Where one expert labels, one more knows the labels of texts of like
length.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, mean_of, sums
from geval.statistics.thresholds import NULL_CHANCE
from geval.statistics.types import DIGITS, FloatArray, IntArray

NullName = Literal[
    "constant",
    "majority",
    "shuffled",
    "length",
    "like_length",
    "system",
    "document",
    "group",
    "annotator",
]
NULL_NAMES: tuple[NullName, ...] = get_args(NullName)
# Shuffled scores have no correlation by construction, and a document's mean ranks nothing in it:
# they are tests, and no page shows them.
SHOWN_NULLS: tuple[NullName, ...] = (
    "constant", "majority", "length", "system", "group", "annotator"
)  # fmt: skip
# What these know of people's ratings is taken off where a judge is looked at within systems.
KNOWN_WITHIN: tuple[NullName, ...] = ("system", "document")
# Texts of like length by which a rating is predicted: few enough to follow steps.
NEIGHBOURS, WINDOW, MOST_AT_ONCE = 5, 64, 50_000
# The more ratings, the less shuffles differ; this many ratings over all shuffles suffice.
MOST_SHUFFLES, LEAST_SHUFFLES = 20, 4
ENOUGH_RATINGS = 20_000


def is_met(draws: Sequence[bool]) -> bool:
    """Return whether a null judge meets a claim more often than by chance; `draws` says whether
    each of its draws does."""
    return sum(draws) > NULL_CHANCE * len(draws)


def shuffles_of(ratings: int) -> int:
    """Return how often to shuffle scores, by the number of ratings that they are compared with."""
    return int(np.clip(ENOUGH_RATINGS // max(1, ratings), LEAST_SHUFFLES, MOST_SHUFFLES))


def constant_scores(scores: FloatArray, value: float) -> FloatArray:
    """Return a score for each output that the judge scored, always the same; shape (outputs,)."""
    return np.where(np.isnan(scores), np.nan, value)


def shuffled_scores(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the judge's scores in random order; shape (outputs,), NaN where it has none."""
    dealt = scores.copy()
    present = ~np.isnan(scores)
    dealt[present] = rng.permutation(scores[present])
    return dealt


def like_length_scores(outputs: Outputs, human: FloatArray, words: FloatArray) -> FloatArray:
    """Return the mean rating of the NEIGHBOURS texts of other documents whose lengths are nearest;
    shape (outputs,), NaN where too few are rated or the length is not known.

    Args:
        human, words: shape (outputs,), NaN for missing.
    """
    scores = np.full(len(outputs), np.nan)
    document = outputs.clustered.document
    rated = np.flatnonzero(~np.isnan(human + words))
    rated = rated[np.argsort(words[rated], kind="stable")]
    if len(rated) <= WINDOW:
        return scores
    with_length = np.flatnonzero(~np.isnan(words))
    for part in np.array_split(with_length, len(with_length) // MOST_AT_ONCE + 1):
        place = np.searchsorted(words[rated], words[part])
        begin = np.clip(place - WINDOW // 2, 0, len(rated) - WINDOW)
        near = rated[begin[:, None] + np.arange(WINDOW)]
        apart = np.abs(words[near] - words[part, None]).astype(float)
        apart[document[near] == document[part, None]] = np.inf
        nearest = np.argsort(apart, axis=1, kind="stable")[:, :NEIGHBOURS]
        is_there = np.isfinite(np.take_along_axis(apart, nearest, axis=1)).all(axis=1)
        means = human[np.take_along_axis(near, nearest, axis=1)].mean(axis=1)
        scores[part] = np.where(is_there, means, np.nan)
    return np.round(scores, DIGITS)


def length_scores(scores: FloatArray, words: FloatArray) -> FloatArray:
    """Return the judge's scores in the order of length: the longest text gets the highest score.

    Texts of equal length get the mean of their scores.

    Args:
        scores: shape (outputs,), NaN where the judge has none.
        words: shape (outputs,), the length of each text.
    """
    dealt = np.full(len(scores), np.nan)
    present = np.flatnonzero(~np.isnan(scores))
    _lengths, place, count = np.unique(words[present], return_inverse=True, return_counts=True)
    ordered = np.sort(scores[present])
    ends = np.cumsum(count)
    begins = ends - count
    totals = np.append(0.0, np.cumsum(ordered))
    means = (totals[ends] - totals[begins]) / count
    dealt[present] = means[place]
    return dealt


def system_scores(outputs: Outputs, human: FloatArray) -> FloatArray | None:
    """Return who wrote each output, as a score: the mean rating of its system on the other
    documents; shape (outputs,), NaN where there are none. None where one system wrote everything.

    Args:
        human: shape (outputs,), people's mean, NaN for missing.
    """
    if len(np.unique(outputs.system)) < 2:
        return None
    cells = outputs.document * np.int64(outputs.systems) + outputs.system
    return _others_means(outputs.system, cells, human)


def document_scores(outputs: Outputs, human: FloatArray) -> FloatArray:
    """Return what each output answers, as a score: the mean rating of the document's other outputs;
    shape (outputs,), NaN where there are none.

    Args:
        human: shape (outputs,), people's mean, NaN for missing.
    """
    return _others_means(outputs.document, np.arange(len(outputs)), human)


def group_scores(outputs: Outputs, human: FloatArray) -> FloatArray | None:
    """Return what each output is about, as a score: the mean rating of the other documents of its
    group; shape (outputs,), NaN where there are none. None without groups.

    Args:
        human: shape (outputs,), people's mean, NaN for missing.
    """
    if outputs.group is None:
        return None
    return _others_means(outputs.group[outputs.document], outputs.document, human)


def annotator_scores(outputs: Outputs, ratings: Ratings) -> FloatArray | None:
    """Return who rated each output, as a score: the annotator's mean on the other documents; shape
    (outputs,), NaN where there is none. None where an output has two ratings or everything one
    annotator."""
    if ratings.count.max(initial=0) != 1 or ratings.active.sum() < 2:
        return None
    rater, human = np.zeros(len(outputs), dtype=np.int64), np.full(len(outputs), np.nan)
    rater[ratings.output], human[ratings.output] = ratings.rater, ratings.value
    return _others_means(rater, rater * np.int64(outputs.documents) + outputs.document, human)


def _others_means(group: IntArray, part: IntArray, values: FloatArray) -> FloatArray:
    """Return the mean over an output's group without its own part of it; shape (outputs,).

    Args:
        group: shape (outputs,), as `part`, into which groups are divided.
        values: shape (outputs,), NaN for missing.
    """
    present = ~np.isnan(values)
    total, count = np.zeros((2, len(values)))
    for sign, labels in ((1, group), (-1, part)):
        _labels, place = np.unique(labels, return_inverse=True)
        total += sign * sums(place[present], values[present], len(_labels))[place]
        count += sign * sums(place[present], None, len(_labels))[place]
    return np.round(mean_of(total, count), DIGITS)
