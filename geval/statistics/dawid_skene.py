"""Dawid and Skene's model: the likely class of each output, given how each annotator confuses
classes.

Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM
algorithm": outputs have classes of unknown frequency; each annotator has a table of how often they
give each value to outputs of each class. Estimated by EM from the shares of votes. `SMOOTHING`
ratings are added to every cell of a table and to every class, so that a class an annotator never
met says nothing about them.

Unlike MACE it models a strict annotator (who gives 3 where the class is 4), and needs more ratings,
as each annotator has classes times (classes - 1) parameters. Competence is the share of outputs to
which an annotator gives their class; it is not corrected for chance.
"""

import numpy as np

from geval.statistics.latent_classes import CHANGE, MOST_ROUNDS, Fit, Labels, normalized
from geval.statistics.types import FloatArray

SMOOTHING = 0.1


def dawid_skene(labels: Labels, begin: FloatArray, *, smoothing: float = SMOOTHING) -> Fit:
    """Fit the model; return posterior classes and competences.

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
