"""Labels without an order, such as kinds of failures: how often a judge gives the label of people.
Labels are whole numbers from 0.

Kappa is Cohen's (1960); its interval over documents is that of weighted kappa. Shares have Wilson's
interval. Null judges give the label that is most frequent: of all, of a system's or group's other
texts, of those of like length.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, complete, mean_of
from geval.statistics.jackknife import LeftOut, documents_counting, no_interval
from geval.statistics.null_judges import (
    document_scores,
    group_scores,
    like_length_scores,
    system_scores,
)
from geval.statistics.resampling import Interval
from geval.statistics.scales import Scale
from geval.statistics.shares import ShareEstimate, share_of_outputs
from geval.statistics.thresholds import CONFIDENCE, SCORED_SHARE
from geval.statistics.types import FloatArray, IntArray
from geval.statistics.weighted_kappa import CONSTANT, KappaEstimate, kappa_estimate


@dataclass(frozen=True)
class LabelFigures:
    """A judge's labels beside people's. `counts` has shape (labels, labels): people's label, then
    the judge's. `recall` and `precision` have one share for each label: of people's outputs with
    it, and of the judge's. `majority` is the share of people's most frequent label."""

    counts: tuple[tuple[int, ...], ...]
    kappa: KappaEstimate
    accuracy: ShareEstimate
    recall: tuple[ShareEstimate, ...]
    precision: tuple[ShareEstimate, ...]
    majority: float

    @property
    def outputs(self) -> int:
        return sum(map(sum, self.counts))

    @property
    def by_name(self) -> dict[str, KappaEstimate | ShareEstimate]:
        """The figures of all labels together, by the names that requirements and files give
        them."""
        return {"kappa": self.kappa, "accuracy": self.accuracy}


def label_figures(
    outputs: Outputs, human: FloatArray, judge: FloatArray, labels: int
) -> LabelFigures:
    """Compare a judge's labels with people's.

    Args:
        human, judge: shape (outputs,), NaN for missing.
        labels: how many there are.
    """
    clustered = outputs.clustered
    common, (people, given) = complete(clustered, human, judge)
    counts = np.zeros((labels, labels), dtype=np.int64)
    np.add.at(counts, (people.astype(int), given.astype(int)), 1)
    same = people == given

    def shares(side: FloatArray) -> tuple[ShareEstimate, ...]:
        among = (side == label for label in range(labels))
        return tuple(share_of_outputs(common, same & of_it, of_it) for of_it in among)

    everything = np.ones(len(common), dtype=bool)
    return LabelFigures(
        tuple(map(tuple, counts.tolist())),
        label_kappa(outputs, human, judge, labels),
        share_of_outputs(common, same, everything),
        shares(people),
        shares(given),
        float(counts.sum(axis=1).max() / max(1, len(common))),
    )


def label_kappa(
    outputs: Outputs, human: FloatArray, judge: FloatArray, labels: int
) -> KappaEstimate:
    """Return Cohen's kappa of the outputs that have both labels."""
    common, (people, given) = complete(outputs, human, judge)
    documents = LeftOut.of(outputs.documents, outputs.group)
    values = kappas(common, people, given, documents, labels)
    return kappa_estimate(common, *values, documents)


def label_kappa_lead(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    other: FloatArray,
    labels: int,
    *,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the interval over documents of how much higher a judge's kappa is than another's, over
    the outputs that have all labels."""
    common, (people, first, second) = complete(outputs, human, judge, other)
    documents = LeftOut.of(outputs.documents, outputs.group)
    own, own_left_out = kappas(common, people, first, documents, labels)
    its, its_left_out = kappas(common, people, second, documents, labels)
    if not np.isfinite(own - its):
        return no_interval(CONSTANT)
    return documents.interval(
        own - its,
        own_left_out - its_left_out,
        counting=documents_counting(common),
        confidence=confidence,
    )


def kappas(
    common: Outputs, people: FloatArray, given: FloatArray, documents: LeftOut, labels: int
) -> tuple[float, FloatArray]:
    """Return Cohen's kappa of two sides of complete labels, and with each document or group left
    out, shape (groups,); NaN where undefined."""
    cells = labels * labels
    part = documents.group[common.document] * cells
    index = (part + people * labels + given).astype(np.int64)
    weight = np.ones(len(common)) if common.weight is None else common.weight
    tables = np.bincount(index, weight, documents.groups * cells)
    tables = tables.reshape(documents.groups, labels, labels)
    total = tables.sum(axis=0)
    return float(_kappa(total)), _kappa(total - tables)


def _kappa(tables: FloatArray) -> FloatArray:
    """Compute Cohen's kappa of tables of shape (…, labels, labels); 0 where both sides always give
    one label is undefined."""
    total = tables.sum(axis=(-2, -1))
    agreed = mean_of(np.trace(tables, axis1=-2, axis2=-1), total)
    chance = mean_of((tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1), total**2)
    return np.asarray(mean_of(agreed - chance, np.where(chance < 1 - 1e-12, 1 - chance, 0.0)))


def label_numbers(values: FloatArray, scale: Scale) -> FloatArray:
    """Return labels as whole numbers from 0, from points of their scale."""
    return np.round((values - scale.lowest) / scale.step)


def are_labels(values: FloatArray, scale: Scale) -> bool:
    """Return whether values are labels, apart from missing ones, if the scale has no order."""
    return scale.is_ordered or bool(np.isin(values[~np.isnan(values)], scale.points).all())


def most_frequent_point(ratings: Ratings, scale: Scale) -> FloatArray:
    """Return the point of a scale without an order that most people gave each output, as
    `most_frequent_label`."""
    numbers = replace(ratings, value=label_numbers(ratings.value, scale))
    return scale.lowest + scale.step * most_frequent_label(numbers, len(scale.points))


def most_frequent_label(ratings: Ratings, labels: int) -> FloatArray:
    """Return the label that most people gave each output; shape (outputs,), NaN where there is none
    or two are as frequent."""
    votes = np.zeros((ratings.outputs, labels))
    np.add.at(votes, (ratings.output, ratings.value.astype(int)), 1)
    most = votes.max(axis=1)
    is_clear = (most > 0) & ((votes == most[:, None]).sum(axis=1) == 1)
    return np.where(is_clear, votes.argmax(axis=1).astype(float), np.nan)


def confused_by_people(ratings: Ratings, labels: int) -> IntArray:
    """Return how often two people gave an output two labels; shape (labels, labels), symmetric,
    with equal labels on the diagonal."""
    votes = np.zeros((ratings.outputs, labels), dtype=np.int64)
    np.add.at(votes, (ratings.output, ratings.value.astype(int)), 1)
    pairs = votes.T @ votes
    # A person is no pair with themselves, and pairs of equal labels are counted once.
    equal = ((votes * (votes - 1)) // 2).sum(axis=0)
    np.fill_diagonal(pairs, equal)
    return np.asarray(pairs)


def null_labels(
    outputs: Outputs, human: FloatArray, words: FloatArray, labels: int
) -> dict[str, FloatArray]:
    """Return the labels of judges that read nothing, by name; each of shape (outputs,), NaN where
    it has none.

    Args:
        human, words: shape (outputs,), NaN for missing.
    """
    ways: Mapping[str, Callable[[FloatArray], FloatArray | None]] = {
        "who wrote it": lambda indicator: system_scores(outputs, indicator),
        "texts of like length": lambda indicator: like_length_scores(outputs, indicator, words),
        "the document alone": lambda indicator: document_scores(outputs, indicator),
        "the group alone": lambda indicator: group_scores(outputs, indicator),
    }
    missing = np.isnan(human)
    judged = {}
    for name, way in ways.items():
        # The share of each label among the others' outputs.
        shares = [
            way(np.where(missing, np.nan, (human == label).astype(float)))
            for label in range(labels)
        ]
        present = [share for share in shares if share is not None]
        if not present:
            continue
        table = np.stack(present)
        is_there = ~np.isnan(table).any(axis=0)
        if is_there.any():
            label = np.nan_to_num(table).argmax(axis=0).astype(float)
            judged[name] = np.where(is_there, label, np.nan)
    return judged


def missing_as_wrong_labels(human: FloatArray, judge: FloatArray, labels: int) -> FloatArray | None:
    """Return the judge's labels, with a wrong one where a labelled output has none; None where
    enough of people's outputs have one."""
    labelled, missing = ~np.isnan(human), np.isnan(judge)
    if (labelled & ~missing).sum() >= SCORED_SHARE * labelled.sum():
        return None
    return np.where(missing & labelled, (human + 1) % labels, judge)
