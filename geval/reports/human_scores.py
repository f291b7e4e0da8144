"""People's ratings on one criterion as arrays, with the human score of each output and its sampling
weight: one over the probability with which the output was chosen.

An output counts by its weight where all its ratings on a criterion are from campaigns that drew
their outputs with known probabilities. The probability of being in at least one of several is that
of samples drawn independently, each multiplied by the share of its items that have an answer: items
are assigned in random order, so that these are a random part of it.

Ratings from elsewhere (files, campaigns over all outputs) are a census of what they cover: an
output with one has weight 1, unless a file states its probability. Together with a campaign's
sample they have weight 1 even then: given what the file covers, the sample represents the rest.
Outputs that campaigns took from the top of a list have no probability and no weight, nor have those
that a file says were not drawn (a stated probability of 0).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from geval.statistics.arrays import EQUAL, Ratings, positions
from geval.statistics.sampling import in_any
from geval.statistics.scales import NO_POINT
from geval.statistics.types import Consensus, FloatArray, IntArray, tie_close_values

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
    (outputs,), adjudicators' decisions, NaN where there is none and NO_POINT for "n/a"; None
    if they decided nothing. `said_na` has shape (answers, 2), the indexes of outputs and ids of
    annotators of answers "n/a", which are no ratings; None where nobody gave one.
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
    said_na: IntArray | None = None

    @property
    def not_applicable(self) -> IntArray | None:
        """How many people answered "n/a" about each output, shape (outputs,); None where nobody
        did."""
        if self.said_na is None:
            return None
        return np.bincount(self.said_na[:, 0], minlength=len(self.mean))

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
            said_na=self._na_among(outputs, annotators),
        )

    def _na_among(self, outputs: np.ndarray, annotators: frozenset[int]) -> IntArray | None:
        if self.said_na is None:
            return None
        output, annotator = self.said_na.T
        chosen = outputs[output] & (not annotators or np.isin(annotator, [*annotators]))
        new_index = np.cumsum(outputs) - 1
        return np.column_stack((new_index[output[chosen]], annotator[chosen]))

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
        decided = np.where(self.decided == NO_POINT, np.nan, self.decided)
        return Consensus(np.where(np.isnan(self.decided), self.mean, decided))

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
    ratings = Ratings(
        output[order], rater[order], tie_close_values(score[order]), outputs, len(raters)
    )
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


@dataclass(frozen=True)
class Sampled:
    """How a criterion's outputs were sampled; each array has shape (outputs,): the probability with
    which a rated output was chosen, 1 for a census and 0 where there is none; `top` is a mask of
    outputs that only campaigns without a design chose."""

    probability: FloatArray
    top: np.ndarray

    def weight(self, mean: FloatArray) -> FloatArray | None:
        """Return the weights of rated outputs, 0 for the others; None where all are equal.

        Args:
            mean: shape (outputs,), NaN for unrated outputs.
        """
        rated = ~np.isnan(mean)
        if not rated.any():
            return None
        probability = np.where(rated & (self.probability > 0), self.probability, 1.0)
        weight = np.where(rated, 1 / probability, 0.0)
        kept = weight[rated]
        return weight if np.ptp(kept) > EQUAL * kept.max() else None

    def weighing(self, human: HumanScores) -> HumanScores:
        """Return the ratings with the outputs' weights. Outputs that only a campaign without a
        design chose lose their mean where others have one: on SummEval's consistency, gpt-4o has a
        rho of 0.53 over all outputs, and of 0.69 over the fifth on which judges differ most."""
        others = ~np.isnan(human.mean) & ~self.top
        has_both = others.any() and self.top.any()
        mean = np.where(self.top, np.nan, human.mean) if has_both else human.mean
        return replace(human, mean=mean, weight=self.weight(mean), top=self.top)


@dataclass(frozen=True, eq=False)
class ChoosingCampaign:
    """A campaign that chose some outputs. `asked` has shape (answers, 2): output and annotator;
    `probability` has shape (frame, 2), each output that could be chosen and its probability; None
    without a design. `answered` is the share of its items that have an answer."""

    criteria: frozenset[int]
    asked: FloatArray
    answered: float
    probability: FloatArray | None

    def at(self, outputs: IntArray) -> FloatArray:
        """Return the probability with which each output was chosen and answered; shape
        (outputs,)."""
        assert self.probability is not None
        probabilities = np.zeros(len(outputs))
        indexes = positions(self.probability[:, 0], outputs)
        probabilities[indexes[indexes >= 0]] = self.probability[indexes >= 0, 1]
        return probabilities * self.answered


def sampling_by_criterion(
    humans: Mapping[int, HumanScores],
    campaigns: Sequence[ChoosingCampaign],
    stated: Mapping[int, tuple[FloatArray, FloatArray]],
    *,
    outputs: IntArray,
) -> dict[int, Sampled]:
    """Return how outputs were sampled, by criterion id; empty where nothing was.

    Args:
        humans: the ratings, by criterion id.
        stated: outputs and the probabilities that files state for them, shape (stated,) each, by
            criterion id.
        outputs: shape (outputs,), the ids of the outputs of `humans`, ascending.
    """
    if not campaigns and not stated:
        return {}
    sampled = {}
    for criterion, human in humans.items():
        on_it = [campaign for campaign in campaigns if criterion in campaign.criteria]
        by_draw = [campaign for campaign in on_it if campaign.probability is not None]
        by_top = [campaign for campaign in on_it if campaign.probability is None]
        in_draws, in_tops, elsewhere = _rating_origins(human, by_draw, by_top, outputs)
        probability = np.where(elsewhere, 1.0, 0.0)
        only_drawn = in_draws & ~elsewhere
        if by_draw:
            together = in_any(*(campaign.at(outputs) for campaign in by_draw))
            probability[only_drawn] = together[only_drawn]
        top = in_tops & ~in_draws & ~elsewhere
        if criterion in stated:
            output, probabilities = stated[criterion]
            indexes = positions(output, outputs)
            indexes, probabilities = indexes[indexes >= 0], probabilities[indexes >= 0]
            if not by_draw:
                probability[indexes] = probabilities
            top[indexes[probabilities == 0]] = True
        sampled[criterion] = Sampled(probability, top)
    return sampled


def _rating_origins(
    human: HumanScores,
    draws: list[ChoosingCampaign],
    tops: list[ChoosingCampaign],
    outputs: IntArray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which outputs have ratings from samples, from campaigns without a design, and from
    elsewhere (including stated means); shape (outputs,) each."""
    ratings = human.ratings
    annotators = np.array(human.annotator_ids, dtype=np.int64)
    cells = ratings.output.astype(np.int64) * max(1, len(annotators)) + ratings.rater
    asked = []
    for campaigns in (draws, tops):
        rows = np.concatenate([campaign.asked for campaign in campaigns] or [np.empty((0, 2))])
        at_output, at_rater = positions(rows[:, 0], outputs), positions(rows[:, 1], annotators)
        of_data = (at_output >= 0) & (at_rater >= 0)
        keys = at_output[of_data] * np.int64(max(1, len(annotators))) + at_rater[of_data]
        asked.append(np.isin(cells, keys))
    in_draws, in_tops, elsewhere = (np.zeros(len(outputs), dtype=bool) for _ in range(3))
    in_draws[ratings.output[asked[0]]] = True
    in_tops[ratings.output[asked[1]]] = True
    elsewhere[ratings.output[~(asked[0] | asked[1])]] = True
    elsewhere |= ~np.isnan(human.mean) & (ratings.count == 0)
    return in_draws, in_tops, elsewhere
