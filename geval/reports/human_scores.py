"""People's ratings on one criterion as arrays, with the human score of each output."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from geval.statistics.arrays import Ratings
from geval.statistics.consensus import Consensus
from geval.statistics.types import FloatArray, IntArray, rounded

NO_DECISIONS = "adjudicators have decided nothing"


@dataclass(frozen=True)
class HumanScores:
    """People's ratings on one criterion.

    `ratings` are those of individual people; `mean` has shape (outputs,) and is the human score of
    each output: the mean rating, or a release's stated mean where no individual rated, unless
    another score was chosen (`scored`). `reason` says why no output has the chosen score, and
    `unscored` counts rated outputs without it. `in_sight` counts ratings made while LLM scores were
    visible. `annotator_ids` are parallel to `annotators`, the raters of `ratings`. `weight` has
    shape (outputs,), the sampling weights, None where all are equal; `decided` has shape
    (outputs,), adjudicators' decisions, NaN where there is none; None if they decided nothing.
    `top` is a mask of outputs that only campaigns without a design chose.
    """

    annotators: tuple[str, ...]
    ratings: Ratings
    mean: FloatArray
    in_sight: int
    annotator_ids: tuple[int, ...] = ()
    weight: FloatArray | None = None
    top: np.ndarray | None = None
    reason: str = ""
    unscored: int = 0
    decided: FloatArray | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether rated outputs have different sampling weights."""
        return self.weight is not None and bool(self.weight.any())

    @property
    def counts_picked(self) -> bool:
        """Whether outputs that campaigns chose without a design count, because there are no
        others."""
        return self.top is not None and bool((self.top & ~np.isnan(self.mean)).any())

    def among(self, outputs: np.ndarray, annotators: frozenset[int]) -> "HumanScores":
        """Select the ratings of some outputs by some annotators (all if none are named); means are
        of these annotators.

        Args:
            outputs: a mask of shape (outputs,).
        """
        wanted = [not annotators or pk in annotators for pk in self.annotator_ids]
        ratings = self.ratings.among(outputs, np.array(wanted, dtype=bool))
        kept = [index for index, is_wanted in enumerate(wanted) if is_wanted]
        mean = self.mean[outputs]
        if annotators:
            mean = np.where(np.isnan(mean) & self._is_left_out(outputs), np.nan, ratings.means())
        part = of_active(
            ratings,
            [(self.annotator_ids[index], self.annotators[index]) for index in kept],
            mean,
            self.in_sight,
        )
        return replace(
            part,
            weight=None if self.weight is None else self.weight[outputs],
            top=None if self.top is None else self.top[outputs],
            decided=None if self.decided is None else self.decided[outputs],
        )

    def scored(self, consensus: Consensus) -> "HumanScores":
        """Return ratings with another kind of human score. Outputs without a mean, because
        campaigns took them from the top of a list, stay without a score."""
        rated = ~np.isnan(self.mean)
        mean = np.where(rated, consensus.values, np.nan)
        unscored = int(np.count_nonzero(rated & np.isnan(mean)))
        return replace(self, mean=mean, reason=consensus.reason, unscored=unscored)

    def adjudicated(self) -> Consensus:
        """Return adjudicators' decisions, and the mean of ratings where there are none."""
        if self.decided is None or np.isnan(self.decided).all():
            return Consensus(np.full(len(self.mean), np.nan), NO_DECISIONS)
        return Consensus(np.where(np.isnan(self.decided), self.mean, self.decided))

    def _is_left_out(self, outputs: np.ndarray) -> np.ndarray:
        """Return which outputs have no mean, as their ratings are not representative of others."""
        return np.zeros(int(outputs.sum()), dtype=bool) if self.top is None else self.top[outputs]


@dataclass(frozen=True)
class Rater:
    """A rater: a person, or (`is_mean`) a release's mean over several."""

    pk: int
    name: str
    is_mean: bool = False


def human_scores_of(
    output: IntArray,
    rater: IntArray,
    score: FloatArray,
    *,
    outputs: int,
    raters: Sequence[Rater],
    in_sight: int = 0,
) -> HumanScores:
    """Return the ratings of a criterion.

    Args:
        output, rater, score: shape (ratings,), indexes of outputs and of `raters`, and the ratings;
            a rater has at most one rating per output.
        in_sight: how many ratings were made while LLM scores were visible.
    """
    order = np.argsort(output * np.int64(len(raters)) + rater)
    ratings = Ratings(output[order], rater[order], rounded(score[order]), outputs, len(raters))
    is_person = np.array([not rater.is_mean for rater in raters], dtype=bool)
    everything = np.ones(outputs, dtype=bool)
    by_person = ratings.among(everything, is_person)
    mean = by_person.means()
    if not is_person.all():
        stated = ratings.among(everything, ~is_person).means()
        mean = np.where(np.isnan(mean), stated, mean)
    persons = [(rater.pk, rater.name) for rater in raters if not rater.is_mean]
    return of_active(by_person, persons, mean, in_sight)


def of_active(
    ratings: Ratings, annotators: list[tuple[int, str]], mean: FloatArray, in_sight: int
) -> HumanScores:
    """Select only annotators with ratings; `annotators` are ids and names."""
    active = ratings.active
    kept = [annotator for annotator, is_active in zip(annotators, active, strict=True) if is_active]
    return HumanScores(
        annotators=tuple(name for _pk, name in kept),
        ratings=ratings.among(np.ones(ratings.outputs, dtype=bool), active),
        mean=mean,
        in_sight=in_sight,
        annotator_ids=tuple(pk for pk, _name in kept),
    )
