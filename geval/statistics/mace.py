"""MACE: with which probability an annotator knows what to give, where the others guess.

Hovy, Berg-Kirkpatrick, Vaswani and Hovy (2013), "Learning whom to trust with MACE": each output has
a class. An annotator gives that class if they know (with probability theta, the annotator's
competence), and otherwise a value by a habit of their own, such as always the middle one. It is
estimated by EM with the smoothing of the authors' program, 0.01 over the number of classes, from
the shares of votes.

The authors take all classes as equally likely. Ratings of good systems crowd at one end of a scale;
there the assumption takes agreement for chance (on SummEval's consistency, where 90 % of ratings
are 5, competence came out at 0.1). So how common classes are is estimated as well, as Dawid and
Skene do, with twenty outputs added whose classes are distributed as the ratings are: without these,
a value in the middle of an ordinal scale can vanish as a class and be explained by habits alone.

Its competence is corrected for chance: 0 for somebody whose ratings say nothing of the output, 1
for one who always gives its class. Few parameters (classes for each annotator) suffice, so it
holds with fewer ratings than Dawid and Skene's model. It takes ratings that are near as wrong as
those that are far; an annotator who is strict throughout counts as less competent.
"""

from dataclasses import dataclass

import numpy as np

from geval.statistics.latent_classes import CHANGE, MOST_ROUNDS, Fit, Labels, normalized
from geval.statistics.layout import sums
from geval.statistics.thresholds import MACE_OTHERS, MACE_PREVAILS
from geval.statistics.types import FloatArray

# So many outputs are added. Their number does not grow with the others, as competence on crowded
# ratings would be too low however many there are.
LIKE_VOTES = 20


@dataclass(frozen=True, eq=False)
class _Annotators:
    """`knows` has shape (raters,), `habit` (raters, classes)."""

    knows: FloatArray
    habit: FloatArray


def mace(labels: Labels, begin: FloatArray, *, is_even: bool = False) -> Fit:
    """Posterior classes and competences.

    Args:
        begin: shape (items, classes), probabilities of classes to begin with.
        is_even: take all classes as equally likely, as in the paper.
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
    """For which raters one class prevails, too few of whose ratings are of outputs of others;
    shape (raters,)."""
    commonest = posterior.sum(axis=0).argmax()
    others = sums(labels.rater, 1 - posterior[labels.item, commonest], labels.raters)
    ratings = sums(labels.rater, None, labels.raters)
    prevails: np.ndarray = (others < MACE_OTHERS) & (others < ratings * MACE_PREVAILS)
    return prevails


def _begun(labels: Labels, begin: FloatArray) -> _Annotators:
    """Annotators know as often as they agree with the classes to begin with."""
    given = labels.counts(begin)
    right = np.trace(given, axis1=1, axis2=2)
    return _maximized(labels, right, given.sum(axis=2))


def _round(
    labels: Labels, annotators: _Annotators, common: FloatArray
) -> tuple[FloatArray, _Annotators]:
    """The classes by what is known of annotators, and annotators by these classes; `common` says
    how common each class is, up to a factor."""
    classes = labels.classes
    guessed = ((1 - annotators.knows)[:, None] * annotators.habit).reshape(-1)[labels.cell]
    knowing = annotators.knows[labels.rater]
    logs = np.repeat(np.log(guessed)[:, None], classes, axis=1)
    ratings = np.arange(len(labels.item))
    logs[ratings, labels.code] = np.log(guessed + knowing)
    posterior = normalized(np.log(common) + labels.over_items(logs))
    # Who gave the class has known it in this share of cases.
    knew = posterior[labels.item, labels.code] * knowing / (guessed + knowing)
    by_rater = sums(labels.rater, knew, labels.raters)
    by_habit = sums(labels.cell, 1 - knew, labels.raters * classes)
    return posterior, _maximized(labels, by_rater, by_habit.reshape(labels.raters, classes))


def _maximized(labels: Labels, knew: FloatArray, guessed: FloatArray) -> _Annotators:
    """Annotators by how often they knew, shape (raters,), and guessed each, (raters, classes)."""
    smoothing = 0.01 / labels.classes
    unknown = guessed.sum(axis=1)
    knows = (knew + smoothing) / (knew + unknown + 2 * smoothing)
    habit = (guessed + smoothing) / (unknown + labels.classes * smoothing)[:, None]
    return _Annotators(knows, habit)
