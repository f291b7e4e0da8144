"""Sampling weights of rated outputs: one over the probability with which each was chosen.

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

from geval.reports.human_scores import HumanScores
from geval.statistics.arrays import EQUAL, positions
from geval.statistics.sampling import in_any
from geval.statistics.types import FloatArray, IntArray


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
