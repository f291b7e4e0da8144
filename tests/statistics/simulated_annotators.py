"""Simulated annotators of SummEval's outputs, whose severity and competence are known.

Qualities and classes of outputs are those that the recorded experts found, so that outputs of a
document are alike and ratings crowd where they do. Each campaign draws documents and annotators
anew; three annotators rate each output.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.latent_classes import LatentClasses, latent_classes
from geval.statistics.rater_effects import many_facets
from geval.statistics.resampling import Interval
from geval.statistics.types import FloatArray, IntArray

ANNOTATORS, EACH = 6, 3
VALUES = np.arange(1.0, 6.0)
# What the codes of an average annotator add to their logarithms: steps at -1.8, -0.6, 0.6, 1.8.
STEPS = -np.concatenate([[0.0], np.cumsum([-1.8, -0.6, 0.6, 1.8])])
SEVERITY = 0.7


@dataclass(frozen=True, eq=False)
class Corpus:
    """Outputs with the mean of what experts gave; `document` and `human` have shape (outputs,)."""

    document: IntArray
    human: FloatArray

    def drawn(self, documents: int, each: int, rng: np.random.Generator) -> "Corpus":
        """Some documents, drawn with replacement, with some of the outputs of each."""
        known = np.unique(self.document)
        rows = [
            rng.choice(np.flatnonzero(self.document == one), each, replace=False)
            for one in rng.choice(known, documents)
        ]
        return Corpus(np.repeat(np.arange(documents), each), self.human[np.concatenate(rows)])

    @property
    def quality(self) -> FloatArray:
        """In logits."""
        found: FloatArray = 2 * np.log((self.human - 0.75) / (5.25 - self.human))
        return found

    @property
    def outputs(self) -> Outputs:
        order = np.arange(len(self.document))
        return Outputs(self.document, order, int(self.document.max()) + 1, len(order))


# Whether each interval holds the truth.
Held = Iterator[bool]


def severities(corpus: Corpus, documents: int, rng: np.random.Generator) -> Held:
    """Of annotators in one campaign, in logits and in points."""
    part = corpus.drawn(documents, 4, rng)
    severity = rng.normal(0, SEVERITY, ANNOTATORS)
    severity -= severity.mean()
    by_rater = [_probabilities(part.quality - own) for own in severity]
    found = many_facets(part.outputs, _rated(by_rater, rng))
    population = corpus.quality
    average = _probabilities(population) @ VALUES
    for one, own in zip(found.raters, severity, strict=True):
        points = float((average - _probabilities(population - own) @ VALUES).mean())
        yield from _holds(one.logits_interval, own)
        yield from _holds(one.points_interval, points)


def giving(corpus: Corpus, documents: int, rng: np.random.Generator) -> Held:
    """Dawid and Skene's, of annotators who mistake classes for near ones."""
    part = corpus.drawn(documents, 4, rng)
    apart = np.abs(np.subtract.outer(VALUES, VALUES))
    tables = special.softmax(-apart * rng.uniform(1.2, 2.2, (ANNOTATORS, len(VALUES), 1)), axis=2)
    common = np.bincount(_classes(corpus), minlength=len(VALUES)) / len(corpus.human)
    by_rater = [table[_classes(part)] for table in tables]
    found = latent_classes(part.outputs, _rated(by_rater, rng))
    return _competences(found, np.array([np.diag(table) @ common for table in tables]))


def held(
    campaigns: int,
    of_campaign: Callable[[Corpus, int, np.random.Generator], Held],
    corpus: Corpus,
    documents: int,
    rng: np.random.Generator,
) -> list[bool]:
    """Whether each interval that is given holds the truth, over campaigns."""
    return [one for _ in range(campaigns) for one in of_campaign(corpus, documents, rng)]


def _competences(found: LatentClasses, truth: FloatArray) -> Held:
    for one, own in zip(found.raters, truth, strict=True):
        yield from _holds(one.interval, own)


def _holds(interval: Interval, truth: float) -> Held:
    if interval.ends is not None:
        yield interval.ends[0] <= truth <= interval.ends[1]


def _classes(corpus: Corpus) -> IntArray:
    return np.rint(corpus.human).astype(int) - 1


def _probabilities(quality: FloatArray) -> FloatArray:
    """Of each code; shape (outputs, codes)."""
    codes = np.arange(len(VALUES))
    found: FloatArray = special.softmax(np.multiply.outer(quality, codes) + STEPS, axis=1)
    return found


def _rated(by_rater: list[FloatArray], rng: np.random.Generator) -> Ratings:
    """Ratings by some annotators of each output, by each one's probabilities of each value."""
    table = np.array(
        [VALUES[(rng.random((len(p), 1)) > p.cumsum(axis=1)).sum(axis=1)] for p in by_rater]
    )
    order = rng.random(table.shape).argsort(axis=0)
    return Ratings.of_table(np.where(order < EACH, table, np.nan))
