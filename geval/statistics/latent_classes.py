"""Dawid and Skene's model: ratings as labels of an unknown class of each output, and annotators'
competence with intervals.

Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM
algorithm": outputs have classes of unknown frequency; each annotator has a table of how often they
give each value to outputs of each class. Estimated by EM from the shares of votes. `SMOOTHING`
ratings are added to every cell of a table and to every class, so that a class an annotator never
met says nothing about them.

Values of the scale are unordered categories, and annotators independent given an output's class.
Competence is the share of outputs to which an annotator gives their class; it is not corrected for
chance.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import special

from geval.statistics.arrays import Outputs, Ratings, sums
from geval.statistics.jackknife import TOO_FEW, LeftOut, mapped, no_interval
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import (
    COMPETENCE_OUTPUTS,
    COMPETENCE_RATERS,
    COMPETENCE_SHARED,
    INTERVAL_DOCUMENTS,
    RATING_VALUES,
    SPLIT,
)
from geval.statistics.types import Estimate, FloatArray, IntArray

# Documents are left out in this many groups, as each needs another run of EM.
GROUPS = 20
MOST_ROUNDS, CHANGE = 300, 1e-5
SMOOTHING = 0.1
# Before log-odds are taken, competences are clipped at this distance from 0 and 1, or at the share
# of half a rating where that is less.
EDGE = 1e-3
# With fewer ratings that are (or are not) of the class, leaving out documents moves a competence
# only through smoothing.
LEAST_EITHER = 0.5
FEW_RATERS = (
    f"fewer than {COMPETENCE_RATERS} annotators share {COMPETENCE_SHARED} outputs with others"
)
FEW_OUTPUTS = f"fewer than {COMPETENCE_OUTPUTS} outputs have ratings by two annotators"
FEW_SHARED = f"shares fewer than {COMPETENCE_SHARED} outputs with others"
NEVER_WRONG = "always gives the likely class, so nothing is known of how much competence varies"
NEVER_RIGHT = "gives no sign of knowing a class, so nothing is known of how much competence varies"
ONE_VALUE = "all ratings are the same"
MANY_VALUES = f"ratings take more than {RATING_VALUES} values, too many for categories"


@dataclass(frozen=True, eq=False)
class Labels:
    """Ratings as labels. `item`, `rater` and `code` have shape (ratings,), ordered by item;
    `values` are the categories."""

    item: IntArray
    rater: IntArray
    code: IntArray
    values: FloatArray
    items: int
    raters: int

    @classmethod
    def of(cls, ratings: Ratings) -> "Labels":
        values, code = np.unique(ratings.value, return_inverse=True)
        rated, item = np.unique(ratings.output, return_inverse=True)
        return cls(item, ratings.rater, code, values, len(rated), ratings.raters)

    def only(self, ratings: np.ndarray) -> "Labels":
        """Select ratings by a mask; items are renumbered, categories stay."""
        kept, item = np.unique(self.item[ratings], return_inverse=True)
        return Labels(
            item, self.rater[ratings], self.code[ratings], self.values, len(kept), self.raters
        )

    @property
    def classes(self) -> int:
        return len(self.values)

    @cached_property
    def cell(self) -> IntArray:
        """The rater and code of each rating as a single number."""
        return self.rater * self.classes + self.code

    @cached_property
    def _first(self) -> IntArray:
        return np.searchsorted(self.item, np.arange(self.items))

    def over_items(self, of_rating: FloatArray) -> FloatArray:
        """Sums over the ratings of each item; shape (items, ...) for (ratings, ...)."""
        sums: FloatArray = np.add.reduceat(of_rating, self._first, axis=0)
        return sums

    def counts(self, posterior: FloatArray) -> FloatArray:
        """Return how often each rater gave each code to items of each class; shape (raters, codes,
        classes)."""
        columns = [
            sums(self.cell, posterior[self.item, index], self.raters * self.classes)
            for index in range(self.classes)
        ]
        return np.stack(columns, axis=-1).reshape(self.raters, self.classes, self.classes)

    def majority(self) -> FloatArray:
        """Return the share of each item's ratings that are of each class; shape (items,
        classes)."""
        share = self.over_items(np.eye(self.classes)[self.code])
        majority: FloatArray = share / share.sum(axis=1, keepdims=True)
        return majority


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model: for each item the probability of each class, shape (items, classes); for each
    rater the competence, shape (raters,)."""

    posterior: FloatArray
    competence: FloatArray


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
            renewed = special.softmax(np.log(common) + labels.over_items(logs), axis=-1)
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


@dataclass(frozen=True)
class RaterCompetence:
    """An annotator's competence, with an interval over documents."""

    estimate: Estimate
    interval: Interval

    @classmethod
    def undefined(cls, reason: str) -> "RaterCompetence":
        return cls(Estimate.undefined(reason), no_interval(reason))


@dataclass(frozen=True, eq=False)
class LatentClasses:
    """The model's results for annotators and outputs.

    `raters` are parallel to the raters of the ratings; `expected` has shape (outputs,): the
    posterior mean of the class's value, NaN for an output without ratings; `surest` is the
    probability of its most likely class, and `likeliest` that class's value. `reason` says why
    there is no model.
    """

    raters: tuple[RaterCompetence, ...]
    expected: FloatArray
    surest: FloatArray
    likeliest: FloatArray
    reason: str = field(default="")

    @property
    def split(self) -> IntArray:
        """Return outputs with an unclear class, the least clear first."""
        places = np.flatnonzero(self.surest < SPLIT)
        return places[np.argsort(self.surest[places], kind="stable")]


def latent_classes(
    outputs: Outputs, ratings: Ratings, *, has_intervals: bool = True
) -> LatentClasses:
    """Fit the model to all ratings.

    Args:
        outputs: the outputs, whose documents are the units of the intervals.
        has_intervals: whether to compute intervals of competence, which take most of the time.
    """
    reason = why_not(ratings)
    nowhere = np.full(ratings.outputs, np.nan)
    if reason:
        nobody = (RaterCompetence.undefined(reason),) * ratings.raters
        return LatentClasses(nobody, nowhere, nowhere, nowhere, reason)
    labels = Labels.of(ratings)
    fit = dawid_skene(labels, labels.majority())
    rated = np.flatnonzero(ratings.count > 0)
    expected, surest, likeliest = (nowhere.copy() for _ in range(3))
    expected[rated] = fit.posterior @ labels.values
    surest[rated] = fit.posterior.max(axis=1)
    likeliest[rated] = labels.values[fit.posterior.argmax(axis=1)]
    documents = _groups(outputs, ratings)
    left_out = None
    if has_intervals and documents.groups >= INTERVAL_DOCUMENTS:
        left_out = _left_out(documents.group[outputs.document[ratings.output]], labels, fit)
    wrong = sums(labels.rater, 1 - fit.posterior[labels.item, labels.code], labels.raters)
    enough = ratings.shared >= COMPETENCE_SHARED
    return LatentClasses(
        tuple(
            _rater(fit, left_out, documents, index, outputs, ratings, float(wrong[index]))
            if enough[index]
            else RaterCompetence.undefined(FEW_SHARED)
            for index in range(ratings.raters)
        ),
        expected,
        surest,
        likeliest,
    )


def why_not(ratings: Ratings) -> str:
    """Return why the model cannot be fitted to ratings; empty if they can."""
    values = len(np.unique(ratings.value))
    if np.count_nonzero(ratings.shared >= COMPETENCE_SHARED) < COMPETENCE_RATERS:
        return FEW_RATERS
    if np.count_nonzero(ratings.count > 1) < COMPETENCE_OUTPUTS:
        return FEW_OUTPUTS
    if values < 2:
        return ONE_VALUE
    return MANY_VALUES if values > RATING_VALUES else ""


def _left_out(group: IntArray, labels: Labels, fit: Fit) -> FloatArray:
    """Return competences without each group of documents; shape (groups, raters).

    Args:
        group: shape (ratings,), two groups or more, each with ratings.
    """
    rows = []
    for unit in np.unique(group):
        part = labels.only(group != unit)
        begin = fit.posterior[np.unique(labels.item[group != unit])]
        rows.append(dawid_skene(part, begin).competence)
    return np.array(rows)


def _groups(outputs: Outputs, ratings: Ratings) -> LeftOut:
    """Group the documents with ratings, so that ratings remain without any one group; documents
    without ratings are in the last."""
    is_rated = outputs.documents_with(ratings.count > 0)
    groups = min(int(is_rated.sum()), GROUPS)
    return LeftOut(np.where(is_rated, np.cumsum(is_rated) - 1, groups - 1) % groups, groups)


def _rater(
    fit: Fit,
    left_out: FloatArray | None,
    groups: LeftOut,
    at: int,
    outputs: Outputs,
    ratings: Ratings,
    wrong: float,
) -> RaterCompetence:
    """
    Args:
        wrong: the expected number of the annotator's ratings that are not of the class.
    """
    competence = float(fit.competence[at])
    items, _values = ratings.of(at)
    documents = len(np.unique(outputs.document[items]))
    if left_out is None or documents < INTERVAL_DOCUMENTS:
        few = no_interval(TOO_FEW.format(INTERVAL_DOCUMENTS, "documents"))
        return RaterCompetence(Estimate(competence), few)
    if wrong < LEAST_EITHER:
        return RaterCompetence(Estimate(competence), no_interval(NEVER_WRONG))
    if max(competence, left_out[:, at].max()) * len(items) < LEAST_EITHER:
        return RaterCompetence(Estimate(competence), no_interval(NEVER_RIGHT))
    edge = min(EDGE, LEAST_EITHER / len(items))
    inside = float(np.clip(competence, edge, 1 - edge))
    odds = float(special.logit(inside))
    # By the slope of the log-odds: the jackknife of log-odds from few documents is too wide.
    moved = odds + (left_out[:, at] - competence) / (inside * (1 - inside))
    interval = groups.interval(odds, moved, counting=documents)
    ends = mapped(interval, lambda end: float(special.expit(end))).ends
    if ends is None:
        return RaterCompetence(Estimate(competence), interval)
    # The interval also includes a competence beyond the clipping edges.
    return RaterCompetence(
        Estimate(competence), Interval(min(ends[0], competence), max(ends[1], competence))
    )
