"""Choose and order a campaign's items. Pure and seeded, so that the plan is reproducible.

Outputs come as parallel integer arrays of shape (outputs,): their ids, documents and systems.
"""

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class PlannedOutputs:
    """The outputs to choose from; all arrays have shape (outputs,).

    `sessions` are equal for documents that are turns of one session, and `turns` are their order in
    it; without them every document is a separate session.
    """

    ids: IntArray
    documents: IntArray
    systems: IntArray
    sessions: IntArray | None = None
    turns: IntArray | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def at(self, indices: IntArray) -> "PlannedOutputs":
        return PlannedOutputs(
            self.ids[indices],
            self.documents[indices],
            self.systems[indices],
            None if self.sessions is None else self.sessions[indices],
            None if self.turns is None else self.turns[indices],
        )


@dataclass(frozen=True)
class PlannedItem:
    """Outputs of one document that are rated or compared at a time."""

    document: int
    outputs: tuple[int, ...]


# Which outputs


def stratified_sample(
    outputs: PlannedOutputs, size: int, rng: np.random.Generator
) -> PlannedOutputs:
    """Draw equally many outputs of each system: numbers differ by at most one while a system has
    outputs left."""
    shuffled = rng.permutation(len(outputs))
    rank = _rank_within(outputs.systems[shuffled])
    order = np.lexsort((rng.random(len(outputs)), rank))
    return outputs.at(np.sort(shuffled[order][:size]))


def highest(outputs: PlannedOutputs, values: FloatArray, size: int) -> PlannedOutputs:
    """Return the outputs with the highest values (shape (outputs,), NaN counts as lowest), in their
    original order."""
    order = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")
    return outputs.at(np.sort(order[:size]))


# Order


def by_document(outputs: PlannedOutputs, rng: np.random.Generator) -> PlannedOutputs:
    """Order documents at random, each with its outputs together in random order; turns of a session
    stay in sequence."""
    together = outputs.documents if outputs.sessions is None else outputs.sessions
    _, number = np.unique(together, return_inverse=True)
    place = rng.permutation(number.max() + 1)[number] if len(outputs) else number
    turns = np.zeros_like(place) if outputs.turns is None else outputs.turns
    return outputs.at(np.lexsort((rng.random(len(outputs)), outputs.documents, turns, place)))


def systems_in_turn(outputs: PlannedOutputs, rng: np.random.Generator) -> PlannedOutputs:
    """Order outputs in random rounds with each system once, so that every stretch is balanced."""
    shuffled = rng.permutation(len(outputs))
    rounds = _rank_within(outputs.systems[shuffled])
    return outputs.at(shuffled[np.lexsort((rng.random(len(outputs)), rounds))])


def _rank_within(groups: IntArray) -> IntArray:
    """Return for each element how many of the same group precede it."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = (
        np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        if len(groups)
        else np.array([], dtype=np.int64)
    )
    lengths = np.diff(np.r_[starts, len(groups)])
    ranks = np.empty(len(groups), dtype=np.int64)
    ranks[order] = np.arange(len(groups)) - np.repeat(starts, lengths)
    return ranks


# Pairs and groups


def pairs_connected_early(
    outputs: PlannedOutputs, rng: np.random.Generator
) -> Iterator[PlannedItem]:
    """Yield all pairs of outputs of a document, in rounds in which each pair of systems occurs
    once.

    A round follows a ring of systems (neighbours first, then systems two apart, and so on), so that
    the graph of comparisons is connected after n - 1 comparisons of n systems, and stays balanced
    after that.
    """
    by_system: dict[int, dict[int, int]] = defaultdict(dict)
    for pk, document, system in zip(outputs.ids, outputs.documents, outputs.systems, strict=True):
        by_system[int(system)][int(document)] = int(pk)
    waiting = []
    for first, second in _ring([int(system) for system in rng.permutation(sorted(by_system))]):
        shared = sorted(by_system[first].keys() & by_system[second].keys())
        waiting.append((first, second, [shared[index] for index in rng.permutation(len(shared))]))
    for turn in itertools.count():
        some = False
        for first, second, documents in waiting:
            if turn < len(documents):
                some = True
                document = documents[turn]
                yield PlannedItem(
                    document, (by_system[first][document], by_system[second][document])
                )
        if not some:
            return


def pairs_by_document(outputs: PlannedOutputs, rng: np.random.Generator) -> Iterator[PlannedItem]:
    """Yield all pairs of outputs, document by document in random order, neighbours on a shuffled
    ring first."""
    for document, ids in _by_document(outputs, rng):
        for first, second in _ring(ids):
            yield PlannedItem(document, (first, second))


def groups(outputs: PlannedOutputs, size: int, rng: np.random.Generator) -> Iterator[PlannedItem]:
    """Groups of `size` outputs of a document, in random combinations; the last is filled up from
    the others."""
    for document, ids in _by_document(outputs, rng):
        for start in range(0, len(ids), size):
            members = ids[start : start + size]
            if len(members) < size:
                others = [pk for pk in ids if pk not in members]
                members = members + others[: size - len(members)]
            if len(members) > 1:
                yield PlannedItem(document, tuple(members))


def _ring(members: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield every pair once: neighbours on the ring, then members two apart, and so on."""
    count = len(members)
    for apart in range(1, count // 2 + 1):
        for index in range(count if apart * 2 != count else apart):
            if count > 1 and (count > 2 or index == 0):
                yield members[index], members[(index + apart) % count]


def _by_document(
    outputs: PlannedOutputs, rng: np.random.Generator
) -> Iterator[tuple[int, list[int]]]:
    ordered = by_document(outputs, rng)
    pairs = zip(ordered.documents, ordered.ids, strict=True)
    for document, members in itertools.groupby(pairs, key=lambda pair: int(pair[0])):
        yield document, [int(pk) for _, pk in members]


# For one annotator


def shown_order(outputs: Sequence[int], *, seed: int, item: int, annotator: int) -> list[int]:
    """Return the order (for a pair: the sides) in which an annotator sees the outputs of an
    item."""
    order = list(outputs)
    random.Random(f"{seed}:{item}:{annotator}").shuffle(order)  # noqa: S311 (a design, not a secret)
    return order


def checks_due(handed: int, more: int, percent: int) -> int:
    """Return how many checks to add to the next `more` ordinary items, so that checks are `percent`
    of all assigned items.

    Args:
        handed: the number of ordinary items assigned to this annotator so far.
    """
    if percent <= 0:
        return 0
    per_ordinary = percent / (100 - percent)
    return int((handed + more) * per_ordinary + 1e-9) - int(handed * per_ordinary + 1e-9)
