"""A single value per output from the ratings of several people."""

from typing import Literal

import numpy as np

from geval.statistics.arrays import Ratings
from geval.statistics.latent_classes import latent_classes
from geval.statistics.rater_effects import adjusted_ratings
from geval.statistics.types import Consensus, FloatArray

# "adjudicated" is the only one that does not follow from ratings alone (reports/human_scores.py).
HumanScore = Literal["mean", "median", "severity-adjusted", "dawid-skene", "adjudicated"]
# Rounded to this many decimals, results of iterations do not depend on the machine.
STABLE = 4
NO_RATINGS = "no ratings of single people are known, only means"


def consensus(kind: HumanScore, ratings: Ratings) -> Consensus:
    """Compute the human score of each output.

    Mean and median summarise the ratings. Ratings adjusted for severity are what an average
    annotator would give, which matters where annotators rated different outputs. In Dawid and
    Skene's model each rating counts by how far its annotator can be trusted, and the score is the
    posterior mean of the class.
    """
    if not len(ratings):
        return Consensus(np.full(ratings.outputs, np.nan), NO_RATINGS)
    if kind == "median":
        return Consensus(_medians(ratings))
    if kind == "severity-adjusted":
        adjusted = adjusted_ratings(ratings)
        return Consensus(np.round(adjusted.values, STABLE), adjusted.reason)
    if kind in ("mean", "adjudicated"):
        return Consensus(ratings.means())
    model_fit = latent_classes(ratings)
    return Consensus(np.round(model_fit.expected, STABLE), model_fit.reason)


def _medians(ratings: Ratings) -> FloatArray:
    medians = np.full(ratings.outputs, np.nan)
    for block in ratings.blocks:
        medians[block.groups] = np.median(ratings.value[block.members], axis=1)
    return medians
