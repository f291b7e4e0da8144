"""MACE: a model of annotators who either know an output's class or guess.

Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), "Learning whom to trust with MACE": each output has
a class. An annotator gives that class if they know (with probability theta, the annotator's
competence), and otherwise a value by their own habit, such as always the middle one. It is
estimated by EM with the smoothing of the authors' program, 0.01 over the number of classes, from
the shares of votes.

The authors assume equally likely classes. Ratings of good systems cluster at one end of a scale;
there the assumption mistakes agreement for chance (on SummEval's consistency, where 90 % of ratings
are 5, competence came out at 0.1). So class frequencies are estimated as well, as in Dawid and
Skene's model, with twenty added outputs whose classes are distributed like the ratings: without
these, a value in the middle of an ordinal scale can vanish as a class and be explained by habits
alone.

Its competence is corrected for chance: 0 for an annotator whose ratings say nothing about the
output, 1 for one who always gives its class. It has few parameters (one per class and annotator),
so it needs fewer ratings than Dawid and Skene's model. Close ratings count as wrong as distant
ones; a consistently strict annotator counts as less competent.
"""

from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import sums
from geval.statistics.latent_classes import CHANGE, MOST_ROUNDS, Fit, Labels, normalized
from geval.statistics.thresholds import MACE_OTHERS, MACE_PREVAILS
from geval.statistics.types import FloatArray

# The number of added outputs. It does not grow with the data, as competence on clustered ratings
# would then be too low for any amount of data.
LIKE_VOTES = 20


@dataclass(frozen=True, eq=False)
class _Annotators:
    """`knows` has shape (raters,), `habit` (raters, classes)."""

    knows: FloatArray
    habit: FloatArray


def mace(labels: Labels, begin: FloatArray, *, is_even: bool = False) -> Fit:
    """Fit the model; return posterior classes and competences.

    Args:
        begin: shape (items, classes), initial probabilities of classes.
        is_even: assume equally likely classes, as in the paper.
    """
    votes = sums(labels.code, None, labels.classes) / len(labels.code)
    added = votes * LIKE_VOTES / labels.items
    posterior, annotators = begin, _begun(labels, begin)
    for _ in range(MOST_ROUNDS):
        common = np.ones(labels.classes) if is_even else posterior.mean(axis=0) + added
        renewed, annotators = _round(labels, annotators, common)
        change = np.abs(renewed - posterior).max()
        posterior = renewed
        if change < CHANGE:
            break
    return Fit(posterior, annotators.knows, _prevails(labels, posterior))


def _prevails(labels: Labels, posterior: FloatArray) -> np.ndarray:
    """Return for which raters one class prevails, so that too few of their ratings are of outputs
    of other classes; shape (raters,)."""
    commonest = posterior.sum(axis=0).argmax()
    others = sums(labels.rater, 1 - posterior[labels.item, commonest], labels.raters)
    ratings = sums(labels.rater, None, labels.raters)
    prevails: np.ndarray = (others < MACE_OTHERS) & (others < ratings * MACE_PREVAILS)
    return prevails


def _begun(labels: Labels, begin: FloatArray) -> _Annotators:
    """Initialise annotators: they know as often as they agree with the initial classes."""
    given = labels.counts(begin)
    right = np.trace(given, axis1=1, axis2=2)
    return _maximized(labels, right, given.sum(axis=2))


def _round(
    labels: Labels, annotators: _Annotators, common: FloatArray
) -> tuple[FloatArray, _Annotators]:
    """Run a round of EM: classes from annotators, then annotators from these classes; `common` is
    proportional to the classes' frequencies."""
    classes = labels.classes
    guessed = ((1 - annotators.knows)[:, None] * annotators.habit).reshape(-1)[labels.cell]
    knowing = annotators.knows[labels.rater]
    logs = np.repeat(np.log(guessed)[:, None], classes, axis=1)
    ratings = np.arange(len(labels.item))
    logs[ratings, labels.code] = np.log(guessed + knowing)
    posterior = normalized(np.log(common) + labels.over_items(logs))
    # The share of cases in which an annotator who gave the class knew it.
    knew = posterior[labels.item, labels.code] * knowing / (guessed + knowing)
    by_rater = sums(labels.rater, knew, labels.raters)
    by_habit = sums(labels.cell, 1 - knew, labels.raters * classes)
    return posterior, _maximized(labels, by_rater, by_habit.reshape(labels.raters, classes))


def _maximized(labels: Labels, knew: FloatArray, guessed: FloatArray) -> _Annotators:
    """Estimate annotators from how often they knew, shape (raters,), and guessed each class,
    (raters, classes)."""
    smoothing = 0.01 / labels.classes
    unknown = guessed.sum(axis=1)
    knows = (knew + smoothing) / (knew + unknown + 2 * smoothing)
    habit = (guessed + smoothing) / (unknown + labels.classes * smoothing)[:, None]
    return _Annotators(knows, habit)
