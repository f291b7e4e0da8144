"""A single value per output from the ratings of several people, one of them by Dawid and Skene's
model.

Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM
algorithm": outputs have classes of unknown frequency; each annotator has a table of how often they
give each value to outputs of each class. Estimated by EM from the shares of votes. `SMOOTHING`
ratings are added to every cell of a table and to every class, so that a class an annotator never
met says nothing about them.

Unlike MACE it models a strict annotator (who gives 3 where the class is 4), and needs more ratings,
as each annotator has classes times (classes - 1) parameters. Competence is the share of outputs to
which an annotator gives their class; it is not corrected for chance.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.latent_classes import (
    CHANGE,
    MOST_ROUNDS,
    Fit,
    Labels,
    latent_classes,
    normalized,
)
from geval.statistics.mace import mace
from geval.statistics.rater_effects import many_facets
from geval.statistics.types import FloatArray

SMOOTHING = 0.1
# "adjudicated" is the only one that does not follow from ratings alone (reports/human_scores.py).
HumanScore = Literal["mean", "median", "severity-adjusted", "dawid-skene", "mace", "adjudicated"]
# Rounded to this many decimals, results of iterations do not depend on the machine.
STABLE = 4
NO_RATINGS = "no ratings of single people are known, only means"


@dataclass(frozen=True, eq=False)
class Consensus:
    """`values` has shape (outputs,), NaN for an output that has none; `reason` says why no output
    has one."""

    values: FloatArray
    reason: str = ""


def consensus(kind: HumanScore, outputs: Outputs, ratings: Ratings) -> Consensus:
    """Compute the human score of each output.

    Mean and median summarise the ratings. Ratings adjusted for severity are what an average
    annotator would give, which matters where annotators rated different outputs. In Dawid and
    Skene's model and in MACE each rating counts by how far its annotator can be trusted, and the
    score is the posterior mean of the class.
    """
    if not len(ratings):
        return Consensus(np.full(ratings.outputs, np.nan), NO_RATINGS)
    if kind == "median":
        return Consensus(_medians(ratings))
    if kind == "severity-adjusted":
        facets = many_facets(outputs, ratings, has_intervals=False)
        return Consensus(np.round(facets.adjusted, STABLE), facets.reason)
    if kind in ("mean", "adjudicated"):
        return Consensus(ratings.means())
    model = dawid_skene if kind == "dawid-skene" else mace
    model_fit = latent_classes(outputs, ratings, model, has_intervals=False)
    return Consensus(np.round(model_fit.expected, STABLE), model_fit.reason)


def _medians(ratings: Ratings) -> FloatArray:
    medians = np.full(ratings.outputs, np.nan)
    for block in ratings.blocks:
        medians[block.groups] = np.median(ratings.value[block.members], axis=1)
    return medians


def dawid_skene(labels: Labels, begin: FloatArray, *, smoothing: float = SMOOTHING) -> Fit:
    """Fit Dawid and Skene's model; return posterior classes and competences.

    Args:
        begin: shape (items, classes), initial probabilities of classes.
        smoothing: how many ratings are added to each cell.
    """
    posterior = begin
    for _ in range(MOST_ROUNDS):
        common, table = _maximized(labels, posterior, smoothing)
        with np.errstate(divide="ignore"):
            logs = np.log(table).reshape(-1, labels.classes)[labels.cell]
            renewed = normalized(np.log(common) + labels.over_items(logs))
        change = np.abs(renewed - posterior).max()
        posterior = renewed
        if change < CHANGE:
            break
    common, table = _maximized(labels, posterior, smoothing)
    right = np.diagonal(table, axis1=1, axis2=2)
    return Fit(posterior, right @ common)


def _maximized(
    labels: Labels, posterior: FloatArray, smoothing: float
) -> tuple[FloatArray, FloatArray]:
    """Return the frequency of each class, shape (classes,), and the probability with which each
    rater gives each code to each class, shape (raters, codes, classes)."""
    common = posterior.sum(axis=0) + smoothing
    given = labels.counts(posterior) + smoothing
    total = given.sum(axis=1, keepdims=True)
    table = np.divide(given, total, out=np.zeros_like(given), where=total > 0)
    return common / common.sum(), table
