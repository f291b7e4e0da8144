"""Outputs and ratings as long arrays: memory grows with their number, not with documents times
systems times annotators."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from geval.statistics.types import DIGITS, FloatArray, IntArray, tie_close_values
from geval.statistics.weighted import weighted_mean

# Weights with a smaller relative difference are equal.
EQUAL = 1e-9
# Pairs within a document are compared in blocks of this size.
BLOCK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Block:
    """Groups (documents, outputs) with the same number of members.

    `groups` has shape (groups,), their indexes; `members` has shape (groups, size), the positions
    of their members.
    """

    groups: IntArray
    members: IntArray

    @property
    def size(self) -> int:
        return int(self.members.shape[1])

    def parts(self) -> Iterator["Block"]:
        """Yield parts whose pairs of members fit in a block."""
        step = max(1, BLOCK_CELLS // (self.size * self.size))
        for start in range(0, len(self.groups), step):
            yield Block(self.groups[start : start + step], self.members[start : start + step])


def sums(group: IntArray, values: FloatArray | None, groups: int) -> FloatArray:
    """Sums of values by group, or counts without them; shape (groups,).

    Args:
        group: shape (members,), the group of each member.
    """
    sums: FloatArray = np.bincount(group, values, minlength=groups).astype(float)
    return sums


def blocks_of(group: IntArray, groups: int) -> tuple[Block, ...]:
    """Arrange members by the size of their group, so that groups of equal size form a table without
    gaps.

    Args:
        group: shape (members,), ascending: the group of each member, out of `groups`.
    """
    size = np.bincount(group, minlength=groups)
    begin = np.cumsum(size) - size
    blocks = []
    for members in np.unique(size[size > 0]).tolist():
        of_size = np.flatnonzero(size == members)
        blocks.append(Block(of_size, begin[of_size][:, None] + np.arange(members)))
    return tuple(blocks)


@dataclass(frozen=True, eq=False)
class Outputs:
    """Which document and which system each output belongs to.

    `document` and `system` have shape (outputs,): indexes, documents ascending. `documents` and
    `systems` are their numbers, including those without outputs. A value for each output (a mean
    rating, a score) is an array of shape (outputs,), NaN where it is missing.

    `weight` has shape (outputs,): the sampling weights, one over an output's probability of being
    rated. None where all are equal. `group` has shape (documents,): the group of each document,
    such as its topic, whose documents are alike and adjacent; None where each is by itself.
    """

    document: IntArray
    system: IntArray
    documents: int
    systems: int
    weight: FloatArray | None = None
    group: IntArray | None = None

    @classmethod
    def full(cls, documents: int, systems: int) -> "Outputs":
        """Create an output for every document and system, in the order of a table's cells."""
        document, system = np.indices((documents, systems)).reshape(2, -1)
        return cls(document, system, documents, systems)

    def __len__(self) -> int:
        return len(self.document)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The outputs, grouped by documents with equal numbers of outputs."""
        return blocks_of(self.document, self.documents)

    @cached_property
    def has_cells(self) -> bool:
        """Whether no system has two outputs in a document, so that outputs form a table."""
        cells = self.document.astype(np.int64) * self.systems + self.system
        return len(np.unique(cells)) == len(cells)

    def part(self, chosen: np.ndarray) -> "Outputs":
        """Select outputs by a mask; documents and systems keep their indexes."""
        if chosen.all():
            return self
        return Outputs(self.document[chosen], self.system[chosen], self.documents, self.systems,
                       None if self.weight is None else self.weight[chosen],
                       self.group)  # fmt: skip

    def weighted(self, weight: FloatArray | None) -> "Outputs":
        """Return the same outputs with sampling weights of shape (outputs,)."""
        if weight is self.weight:
            return self
        return replace(self, weight=weight)

    @property
    def unweighted(self) -> "Outputs":
        """Return the same outputs without weights."""
        return self.weighted(None)

    @cached_property
    def document_weight(self) -> FloatArray | None:
        """The weight of each document: the mean of its outputs' weights, 0 without outputs; shape
        (documents,). None where all are equal."""
        if self.weight is None:
            return None
        count = self.by_document()
        weight = np.where(count > 0, self.by_document(self.weight) / np.maximum(count, 1), 0.0)
        some = weight[count > 0]
        return weight if len(some) and np.ptp(some) > EQUAL * some.max() else None

    @cached_property
    def weight_in_documents(self) -> FloatArray | None:
        """The weights, if they differ within a document; None if whole documents were drawn."""
        if self.weight is None:
            return None
        first = np.full(self.documents, np.nan)
        first[self.document[::-1]] = self.weight[::-1]
        apart = np.abs(self.weight - first[self.document])
        return self.weight if (apart > EQUAL * self.weight).any() else None

    def among(self, documents: np.ndarray, systems: np.ndarray) -> "Outputs":
        """Select the outputs of some documents and systems, which are renumbered.

        Args:
            documents, systems: masks of shape (documents,) and (systems,).
        """
        chosen = documents[self.document] & systems[self.system]
        return Outputs(
            (np.cumsum(documents) - 1)[self.document[chosen]],
            (np.cumsum(systems) - 1)[self.system[chosen]],
            int(documents.sum()),
            int(systems.sum()),
            None if self.weight is None else self.weight[chosen],
            None if self.group is None else self.group[documents],
        )

    @cached_property
    def clustered(self) -> "Outputs":
        """The same outputs with groups in place of documents, for statistics that compare no
        outputs of a document and take documents as independent."""
        if self.group is None:
            return self
        _groups, indexes = np.unique(self.group, return_inverse=True)
        return replace(
            self, document=indexes[self.document], documents=int(indexes.max()) + 1, group=None
        )

    def by_document(self, values: FloatArray | None = None) -> FloatArray:
        """Return sums of values (without values: counts) by document; shape (documents,)."""
        return sums(self.document, values, self.documents)

    def weighing(self, values: FloatArray | None = None) -> FloatArray:
        """Return weighted sums of values by document (without values: sums of weights); like
        `by_document` without weights. Shape (documents,)."""
        if self.weight is None:
            return self.by_document(values)
        return self.by_document(self.weight if values is None else values * self.weight)

    def mean(self, values: FloatArray) -> float:
        """Return the mean over outputs, for weighted samples Hájek's (1971).

        Args:
            values: shape (outputs,), complete, one at least.
        """
        return float(values.mean()) if self.weight is None else weighted_mean(values, self.weight)

    def weights_of_pairs(self, first: IntArray, second: IntArray) -> FloatArray | None:
        """Return the weight of each pair of outputs of a document, one over the probability that
        both are rated; None where all are equal.

        That is the document's weight where whole documents were drawn, and the product of both
        weights where outputs were drawn separately: independently, or nearly so in samples of a
        fixed size.

        Args:
            first, second: shape (pairs,), positions of outputs.
        """
        if self.weight is None:
            return None
        if self.weight_in_documents is None:
            return self.weight[first]
        return self.weight[first] * self.weight[second]

    def documents_with(self, chosen: np.ndarray | None = None) -> np.ndarray:
        """Return which documents have an output in a mask; shape (documents,)."""
        some = self.document if chosen is None else self.document[chosen]
        return np.asarray(np.bincount(some, minlength=self.documents) > 0)

    def documents_ranked(self, values: FloatArray) -> np.ndarray:
        """Return in which documents the outputs' values differ; shape (documents,).

        Args:
            values: shape (outputs,), complete.
        """
        any_of_document = np.zeros(self.documents)
        any_of_document[self.document] = values
        return self.documents_with(values != any_of_document[self.document])

    def by_system(self, values: FloatArray | None = None) -> FloatArray:
        """Return sums of values (without values: counts) by system; shape (systems,)."""
        return sums(self.system, values, self.systems)

    def at(self, document: IntArray, system: IntArray) -> IntArray:
        """Return the positions of outputs by document and system; -1 for one that does not exist.

        Args:
            document, system: shape (n,), indexes; -1 for an unknown one.
        """
        own, sought = (
            d.astype(np.int64) * self.systems + s
            for d, s in ((self.document, self.system), (document, system))
        )
        order = np.argsort(own, kind="stable")
        place = np.minimum(np.searchsorted(own, sought, sorter=order), max(0, len(own) - 1))
        if not len(own):
            return np.full(len(sought), -1)
        is_there = (own[order[place]] == sought) & (document >= 0) & (system >= 0)
        return np.where(is_there, order[place], -1)

    def means_by_system(self, values: FloatArray) -> FloatArray:
        """Return each system's mean, for weighted samples the Hájek mean (1971), the weighted sum
        over the sum of weights; shape (systems,), NaN where it has no outputs.

        Args:
            values: shape (outputs,), complete.
        """
        if self.weight is None:
            return mean_of(self.by_system(values), self.by_system())
        return mean_of(self.by_system(values * self.weight), self.by_system(self.weight))

    def in_sessions(self, *values: FloatArray) -> tuple["Outputs", list[FloatArray]]:
        """Merge outputs to one per document and system, with their mean values; unchanged where
        there is only one each. A document is a session where there are sessions.

        Args:
            values: shape (outputs,) each, complete.
        """
        if self.has_cells:
            return self, list(values)
        cells = self.document.astype(np.int64) * self.systems + self.system
        own, indexes = np.unique(cells, return_inverse=True)
        weight = np.ones(len(self)) if self.weight is None else self.weight
        total, count = sums(indexes, weight, len(own)), sums(indexes, None, len(own))
        means = [
            tie_close_values(sums(indexes, side * weight, len(own)) / total) for side in values
        ]
        document, system = np.divmod(own, self.systems)
        weights = None if self.weight is None else total / count
        return replace(self, document=document, system=system, weight=weights), means

    def table(self, values: FloatArray) -> FloatArray:
        """Return values as a table of shape (documents, systems), NaN for missing outputs."""
        filled = np.full((self.documents, self.systems), np.nan)
        filled[self.document, self.system] = values
        return filled


def complete(outputs: Outputs, *values: FloatArray) -> tuple[Outputs, list[FloatArray]]:
    """Return the outputs for which no value is missing, and their values."""
    present = ~np.isnan(np.sum(values, axis=0))
    if present.all():
        return outputs, list(values)
    return outputs.part(present), [side[present] for side in values]


@dataclass(frozen=True, eq=False)
class Ratings:
    """People's ratings of outputs.

    `output`, `rater` and `value` have shape (ratings,), ordered by output; a rater has at most one
    rating per output. `outputs` and `raters` are their numbers, including those without ratings.
    """

    output: IntArray
    rater: IntArray
    value: FloatArray
    outputs: int
    raters: int

    @classmethod
    def of_table(cls, ratings: FloatArray) -> "Ratings":
        """Create ratings from a table of shape (raters, outputs), NaN for missing."""
        output, rater = np.nonzero(~np.isnan(ratings.T))
        raters, outputs = ratings.shape
        return cls(output, rater, ratings[rater, output], outputs, raters)

    def __len__(self) -> int:
        return len(self.value)

    @cached_property
    def count(self) -> IntArray:
        """The number of ratings of each output; shape (outputs,)."""
        return np.bincount(self.output, minlength=self.outputs)

    @cached_property
    def total(self) -> FloatArray:
        """The sum of each output's ratings; shape (outputs,)."""
        return sums(self.output, self.value, self.outputs)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The ratings, grouped by outputs with equal numbers of ratings."""
        return blocks_of(self.output, self.outputs)

    def means(self) -> FloatArray:
        """Return the mean rating of each output; shape (outputs,), NaN without ratings.

        Means are rounded to 10 decimals, so that equal fractions are equal.
        """
        return np.round(mean_of(self.total, self.count), DIGITS)

    @cached_property
    def others(self) -> FloatArray:
        """For each rating the mean of the other ratings of its output; NaN where there is none."""
        total, count = self.total[self.output], self.count[self.output]
        return np.round(mean_of(total - self.value, count - 1), DIGITS)

    def among(self, outputs: np.ndarray, raters: np.ndarray) -> "Ratings":
        """Select the ratings of some outputs by some raters, which are renumbered.

        Args:
            outputs, raters: masks of shape (outputs,) and (raters,).
        """
        if outputs.all() and raters.all():
            return self
        chosen = outputs[self.output] & raters[self.rater]
        return Ratings(
            (np.cumsum(outputs) - 1)[self.output[chosen]],
            (np.cumsum(raters) - 1)[self.rater[chosen]],
            self.value[chosen],
            int(outputs.sum()),
            int(raters.sum()),
        )

    @property
    def shared(self) -> FloatArray:
        """Return how many outputs each rater rated that others rated too; shape (raters,)."""
        return sums(self.rater[self.count[self.output] > 1], None, self.raters)

    @cached_property
    def pairs(self) -> tuple[int, int]:
        """Return the number of pairs of ratings of the same output by two raters, and how many of
        them are equal."""
        _of, equal = np.unique(np.stack([self.output, self.value]), axis=1, return_counts=True)
        among, same = (int((count * (count - 1) // 2).sum()) for count in (self.count, equal))
        return among, same

    @property
    def active(self) -> np.ndarray:
        """Which raters have a rating; shape (raters,)."""
        return np.bincount(self.rater, minlength=self.raters) > 0

    def of(self, rater: int) -> tuple[IntArray, FloatArray]:
        """Return a rater's outputs and ratings."""
        of_rater = self.rater == rater
        return self.output[of_rater], self.value[of_rater]

    def values_of(self, rater: int) -> FloatArray:
        """One rater's rating of each output; shape (outputs,), NaN where there is none."""
        values = np.full(self.outputs, np.nan)
        output, value = self.of(rater)
        values[output] = value
        return values


def mean_of(total: FloatArray, count: IntArray | FloatArray) -> FloatArray:
    """Divide totals by counts; NaN where the count is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)


def equal_pairs(rows: FloatArray) -> FloatArray:
    """Return how many pairs in each row are equal; shape (rows,).

    Args:
        rows: shape (rows, columns), ascending in each row.
    """
    equal, run = np.zeros(len(rows)), np.zeros(len(rows))
    for column in range(1, rows.shape[1]):
        run = np.where(rows[:, column] == rows[:, column - 1], run + 1, 0.0)
        equal += run
    return equal


def positions(ids: np.ndarray, listed: IntArray) -> IntArray:
    """Return the position of each id among the listed ones; -1 for another id."""
    order = np.argsort(listed, kind="stable")
    indexes = np.searchsorted(listed, ids.astype(np.int64), sorter=order)
    places = (
        order[np.minimum(indexes, len(listed) - 1)] if len(listed) else np.zeros(len(ids), np.int64)
    )
    is_listed = listed[places] == ids if len(listed) else np.zeros(len(ids), dtype=bool)
    return np.where(is_listed, places, -1)
