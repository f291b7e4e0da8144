"""Criteria that an output passes or fails: how often a judge's verdict matches people's, and the
true pass rate of each system.

The class to find is "fail", or "pass" on a scale that says so: sensitivity is the share of fails
that the judge finds, specificity the share of passes that it keeps. A judge's own pass rate mixes
true and false passes. Among the outputs that it passes, and among those that it fails, people's
labels tell the share of true passes; both together, by how many it passes and fails, are the
system's true rate (a post-stratified estimate: Cochran, 1977).

Shares have Wilson's interval (1927) at their effective number of outputs, which documents whose
outputs are alike make smaller (Kish, 1965), with Student's t over documents. Where a judge gives
other scores than the two points, its threshold is chosen as well: resamples of documents choose it
anew, as the jackknife is too narrow for such discontinuous choices. Their standard error goes into
the effective number, and for kappa into Student's t interval. Where outputs were rated with
different probabilities, shares are weighted; the four counts are not.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, complete, mean_of, sums
from geval.statistics.beside_raters import BesideRater, beside_raters
from geval.statistics.jackknife import (
    ALL_THE_SAME,
    TOO_FEW,
    counting_by,
    mapped,
    no_interval,
    t_interval,
    t_quantile,
    within,
)
from geval.statistics.paired_labels import difference_of_pairs
from geval.statistics.resampling import Interval
from geval.statistics.scales import Scale
from geval.statistics.shares import (
    ShareEstimate,
    ends_of_sum,
    sample_of,
    share_of_outputs,
    without_share,
)
from geval.statistics.thresholds import (
    INTERVAL_DOCUMENTS,
    PASS_FAIL_OUTPUTS,
    SCORED_SHARE,
)
from geval.statistics.types import Estimate, FloatArray, IntArray

# As in `selection.py`.
FOLDS = 5
# The standard error over so many draws is known to 5 %.
DRAWS = 200
# The most numbers in memory at once, so that large projects fit.
MOST_AT_ONCE = 4_000_000
_FEW = (
    f"it takes {PASS_FAIL_OUTPUTS} outputs that people pass and {PASS_FAIL_OUTPUTS} that they fail,"
    " with scores"
)
NO_LABELS = "people labelled none of its outputs that the judge {}"


@dataclass(frozen=True)
class SystemRate:
    """A system's pass rate by the judge over all `outputs`, and corrected by people's labels of
    `labelled` ones, drawn at random; `more` labels would halve its interval, None where labels
    cannot."""

    outputs: int
    judged: float | None
    corrected: ShareEstimate
    labelled: int = 0
    more: int | None = None


@dataclass(frozen=True)
class Majority:
    """A judge that reads nothing: it passes all outputs if people pass most of them, otherwise
    none. Its kappa is 0; its AC1 is high where nearly all have the same verdict."""

    passes: bool
    share: float
    ac1: float
    kappa: float = 0.0
    finds_passes: bool = False

    @property
    def sensitivity(self) -> float:
        return float(self.passes == self.finds_passes)

    @property
    def specificity(self) -> float:
        return float(self.passes != self.finds_passes)


@dataclass(frozen=True)
class PassFail:
    """A judge on a criterion with two points.

    An output passes if its score is at least `threshold`. The four counts are over outputs with
    people's verdict (a mean of half of the scale or more passes), each judged with the threshold
    that documents of other folds chose. Where the class to find is "pass" (`finds_passes`),
    `sensitivity` is the share of passes that are found, and `specificity` that of fails that are
    kept. `precision` is the share of what the judge finds that people find, too, `balanced` the
    mean of sensitivity and specificity, with its value in each resample of documents, shape
    (draws,). `kappa` is Cohen's, `ac1` Gwet's (2008). `majority` is what the majority's verdict
    would reach on the same outputs. `rate_error` is the judge's pass rate less people's on these.
    `beside` compares what it finds, and what it keeps, with a rater in whose place it is; None
    where people are not the bar. `is_mark_chosen` says that scores are no verdicts, so that
    people's chose the threshold.
    """

    threshold: float
    both_pass: int
    false_pass: int
    false_fail: int
    both_fail: int
    sensitivity: ShareEstimate
    specificity: ShareEstimate
    kappa: ShareEstimate
    ac1: ShareEstimate
    precision: ShareEstimate
    accuracy: ShareEstimate
    balanced: ShareEstimate
    systems: tuple[SystemRate, ...]
    majority: Majority
    rate_error: ShareEstimate
    redrawn: FloatArray = field(repr=False, compare=False)
    finds_passes: bool = False
    beside: tuple[BesideRater, BesideRater] | None = None
    is_mark_chosen: bool = False

    @property
    def fails(self) -> int:
        """The number of outputs that people fail."""
        return self.false_pass + self.both_fail

    @property
    def passes(self) -> int:
        """The number of outputs that people pass."""
        return self.both_pass + self.false_fail

    @property
    def sides(self) -> tuple[tuple[ShareEstimate, str, int], tuple[ShareEstimate, str, int]]:
        """What the judge finds and what it keeps: each share, of what kind, and how many of it
        there are."""
        kinds = [("fail", self.fails), ("pass", self.passes)]
        finds, keeps = reversed(kinds) if self.finds_passes else kinds
        return (self.sensitivity, *finds), (self.specificity, *keeps)

    @property
    def missed(self) -> int:
        """The number of outputs of the class to find that the judge does not find."""
        return self.false_fail if self.finds_passes else self.false_pass

    @property
    def precision_and_accuracy(self) -> tuple[ShareEstimate, ShareEstimate]:
        return self.precision, self.accuracy

    @property
    def by_name(self) -> dict[str, ShareEstimate]:
        """All shares and indices, by the names that requirements and files give them."""
        return {
            "sensitivity": self.sensitivity,
            "specificity": self.specificity,
            "precision": self.precision,
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced,
            "kappa": self.kappa,
            "ac1": self.ac1,
        }

    @property
    def beside_majority(self) -> tuple[tuple[ShareEstimate, bool], ...]:
        """Sensitivity, specificity, kappa and AC1, each with whether it must not be claimed because
        it is not shown to exceed the majority's. The majority has a sensitivity of 1 and a
        specificity of 0, or the reverse, so these are compared together, by kappa and AC1."""
        compared = ((self.kappa, self.majority.kappa), (self.ac1, self.majority.ac1))
        return (
            (self.sensitivity, False),
            (self.specificity, False),
            *((share, _is_not_above(share, value)) for share, value in compared),
        )

    @property
    def outputs(self) -> int:
        return self.both_pass + self.false_pass + self.false_fail + self.both_fail


def _is_not_above(share: ShareEstimate, value: float) -> bool:
    ends = share.interval.ends
    return ends is not None and ends[0] <= value


def missing_as_wrong(human: FloatArray, judge: FloatArray, scale: Scale) -> FloatArray | None:
    """Return the judge's scores, with the wrong verdict where a rated output has none; shape
    (outputs,). None where enough of the fails and of the passes have scores."""
    fails = human < sum(scale.points) / 2
    passes, missing = ~np.isnan(human) & ~fails, np.isnan(judge)
    if missing.all() or all(
        (kind & ~missing).sum() >= SCORED_SHARE * kind.sum() for kind in (fails, passes)
    ):
        return None
    lowest, highest = float(np.nanmin(judge)), float(np.nanmax(judge))
    if np.isin(judge[~missing], scale.points).all():
        lowest, highest = scale.lowest, scale.highest
    return np.where(missing & fails, highest, np.where(missing & passes, lowest, judge))


def majority_of(
    people: np.ndarray, weight: FloatArray | None = None, *, finds_passes: bool = False
) -> Majority:
    """Return people's verdict on most outputs; "pass" if as many pass as fail.

    Args:
        people: shape (outputs,), at least one output: whether people pass it.
        weight: shape (outputs,), the sampling weights.
    """
    weights = np.ones(len(people)) if weight is None else weight
    passed, failed = float(weights[people].sum()), float(weights[~people].sum())
    passes = passed >= failed
    cells = np.array([passed, failed, 0, 0] if passes else [0, 0, passed, failed])
    share = max(passed, failed) / (passed + failed)
    return Majority(passes, share, float(_ac1(cells)), finds_passes=finds_passes)


def pass_fail(
    outputs: Outputs,
    human: FloatArray,
    judge: FloatArray,
    scale: Scale,
    ratings: Ratings | None = None,
) -> PassFail | None:
    """Compare a judge's verdicts with people's; None if the scale does not have two points, or no
    output has both a rating and a score. Outputs of a group count as those of one document.

    Args:
        human, judge: shape (outputs,), NaN for missing.
        ratings: those of people who are the bar; None where they are not.
    """
    unit = "documents" if outputs.group is None else "groups of documents"
    outputs = outputs.clustered
    common, (rated, scored) = complete(outputs, human, judge)
    if len(scale.points) != 2 or not len(common):
        return None
    # From the middle of the scale on, people pass an output.
    middle = sum(scale.points) / 2
    people = rated >= middle
    is_given = bool(np.isin(scored, scale.points).all())
    fitted = _cross_validated(common, people, scored, middle if is_given else None, unit)
    verdict, counts, redrawn = fitted.verdict, fitted.counts, fitted.redrawn
    both_pass, false_pass, false_fail, both_fail = (
        int(cell.sum())
        for cell in (people & verdict, ~people & verdict, people & ~verdict, ~people & ~verdict)
    )
    counting = counting_by(common.documents_with(), common.document_weight)
    enough = min(both_pass + false_fail, false_pass + both_fail) >= PASS_FAIL_OUTPUTS

    kappa = without_share(_FEW)
    if enough:
        value = float(_kappa(counts))
        interval = fitted.interval(value, _kappa(redrawn), counting)
        kappa = ShareEstimate(Estimate(value), within(interval, -1.0, 1.0))

    def share(hits: np.ndarray, among: np.ndarray, ratio: np.ndarray) -> ShareEstimate:
        return fitted.share(common, hits & among, among, ratio) if enough else without_share(_FEW)

    found = share(~verdict, ~people, _sensitivity(redrawn))
    kept = share(verdict, people, _specificity(redrawn))
    precise = share(~people, ~verdict, _ratio(redrawn[3], redrawn[2] + redrawn[3]))
    finds_passes = scale.finds_highest
    beside = None
    if ratings is not None:
        of_all = np.full(len(outputs), np.nan)
        of_all[~np.isnan(human + judge)] = verdict
        beside = beside_raters(outputs, ratings, of_all, middle)
    if finds_passes:
        found, kept = kept, found
        precise = share(people, verdict, _ratio(redrawn[0], redrawn[0] + redrawn[1]))
        beside = beside and (beside[1], beside[0])
    accuracy = share(people == verdict, np.ones_like(people), _accuracy(redrawn))
    return PassFail(
        fitted.threshold,
        both_pass,
        false_pass,
        false_fail,
        both_fail,
        found,
        kept,
        kappa,
        _ac1_of(accuracy, counts, redrawn) if enough else without_share(_FEW),
        precise,
        accuracy,
        _balanced_of(found, kept),
        _rates(outputs, human, judge, middle, fitted.threshold),
        majority_of(people, common.weight, finds_passes=finds_passes),
        _rate_error(common, verdict, people, accuracy) if enough else without_share(_FEW),
        np.asarray((_sensitivity(redrawn) + _specificity(redrawn)) / 2),
        finds_passes,
        beside,
        fitted.is_chosen,
    )


def _rate_error(
    outputs: Outputs, verdict: np.ndarray, people: np.ndarray, accuracy: ShareEstimate
) -> ShareEstimate:
    """Return how much more of the outputs a judge passes than people do; masks of shape
    (outputs,). Few documents with several outputs, of which the accuracy has no interval, have none
    here either: it held in 99 % of simulations."""
    apart = verdict.astype(float) - people
    why_not = accuracy.interval.reason
    interval = no_interval(why_not) if why_not else difference_of_pairs(outputs, apart)
    return ShareEstimate(Estimate(float(apart.mean())), interval, len(apart))


def lead_of(first: PassFail, second: PassFail) -> Interval:
    """Return the interval of the difference in balanced accuracy of two judges of the same outputs,
    from their own intervals and the correlation of their resamples, which are the same."""
    apart = np.array([first.redrawn, second.redrawn])
    if not np.isfinite(apart).all():
        return no_interval("some draws of documents have no value")
    varies = apart.std(axis=1).all()
    together = float(np.corrcoef(apart)[0, 1]) if varies else 0.0
    return _combined((first.balanced, 1.0), (second.balanced, -1.0), together)


def _combined(
    first: tuple[ShareEstimate, float], second: tuple[ShareEstimate, float], together: float = 0.0
) -> Interval:
    """Return the interval of a weighted sum of two shares from their own intervals and
    correlation."""
    (share, weight), (other, by) = first, second
    values = share.estimate.value, other.estimate.value
    ends, others = share.interval.ends, other.interval.ends
    if values[0] is None or values[1] is None or ends is None or others is None:
        return share.interval if ends is None else other.interval
    return Interval(*ends_of_sum((values[0], ends, weight), (values[1], others, by), together))


@dataclass(frozen=True, eq=False)
class _Fitted:
    """Verdicts by thresholds that documents of other folds chose.

    `verdict` has shape (outputs,); `threshold` is chosen by all documents. `counts` are the four
    counts, shape (4,), and `redrawn` the same of each resample of documents with all thresholds
    chosen anew, shape (4, draws). `is_chosen` says that thresholds were chosen,
    and `unit` what documents are: groups of them, where there are any.
    """

    verdict: np.ndarray
    threshold: float
    counts: FloatArray
    redrawn: FloatArray
    is_chosen: bool
    unit: str

    def interval(self, estimate: float, redrawn: FloatArray, counting: int) -> Interval:
        """Return the interval of a value over documents.

        Args:
            redrawn: shape (draws,), the value of each resample; NaN where undefined.
            counting: how many documents enter the value.
        """
        if why_not := _why_none(redrawn, counting, self.unit):
            return no_interval(why_not)
        # The variance over resamples is too small by 1 / counting, as for a mean.
        variance = float(redrawn.var()) * counting / (counting - 1)
        if not variance:
            return no_interval(ALL_THE_SAME.format("document"))
        return t_interval(estimate, variance, counting - 1)

    def share(
        self, outputs: Outputs, hits: np.ndarray, among: np.ndarray, redrawn: FloatArray
    ) -> ShareEstimate:
        """Return a share of outputs, as `share_of_outputs`."""
        chosen = redrawn if self.is_chosen else None
        return share_of_outputs(outputs, hits, among, redrawn=chosen, unit=self.unit)


def _why_none(redrawn: FloatArray, counting: int, unit: str) -> str:
    """Return why resamples give no interval; empty if they do."""
    if counting < INTERVAL_DOCUMENTS:
        return TOO_FEW.format(INTERVAL_DOCUMENTS, unit)
    return "" if np.isfinite(redrawn).all() else "some draws of documents have no value"


def _cross_validated(
    outputs: Outputs, people: np.ndarray, scores: FloatArray, given: float | None, unit: str
) -> _Fitted:
    """
    Args:
        given: the threshold of scores that are verdicts already; None to choose thresholds.
    """
    there = np.flatnonzero(outputs.documents_with())
    fold = np.zeros(outputs.documents, dtype=int)
    fold[there] = np.arange(len(there)) % FOLDS
    of_output = fold[outputs.document]
    values, place = np.unique(scores, return_inverse=True)
    weights = np.ones(len(scores)) if outputs.weight is None else outputs.weight
    indexes = (of_output * 2 + ~people) * len(values) + place

    def judged(times: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the four counts of resamples, and each fold's cut.

        Args:
            times: shape (draws, documents), how often each document is in a resample.
        """
        draws, size = len(times), FOLDS * 2 * len(values)
        where = np.arange(draws)[:, None] * size + indexes
        counted = sums(where.ravel(), (weights * times[:, outputs.document]).ravel(), draws * size)
        tables = counted.reshape(draws, FOLDS, 2, len(values))
        others = tables.sum(axis=1, keepdims=True) - tables
        cuts = _best_cuts(others[:, :, 0], others[:, :, 1])
        if given is not None:
            cuts = np.full_like(cuts, (values < given).sum() - 1)
        passes = (np.arange(len(values)) > cuts[..., None])[:, :, None]
        counts = [(tables * side).sum(axis=(1, 3)) for side in (passes, ~passes)]
        return np.hstack(counts).T, cuts

    counts, (cuts,) = judged(np.ones((1, outputs.documents)))
    rng = np.random.default_rng(0)  # the same data have the same interval
    drawn = np.zeros((DRAWS, outputs.documents))
    drawn[:, there] = rng.multinomial(len(there), np.full(len(there), 1 / len(there)), DRAWS)
    at_once = max(1, MOST_AT_ONCE // max(len(scores), FOLDS * 2 * len(values)))
    parts = [judged(drawn[first : first + at_once]) for first in range(0, DRAWS, at_once)]
    return _Fitted(
        place > cuts[of_output],
        best_threshold(people, scores, outputs.weight) if given is None else given,
        counts[:, 0],
        np.hstack([redrawn for redrawn, _ in parts]),
        given is None,
        unit,
    )


def best_threshold(
    people: np.ndarray, scores: FloatArray, weight: FloatArray | None = None
) -> float:
    """Return the pass threshold that maximises sensitivity plus specificity (Youden, 1950), halfway
    to the next lower score; the middle one of several.

    Args:
        weight: shape (outputs,), the sampling weights.
    """
    values, place = np.unique(scores, return_inverse=True)
    weights = np.ones(len(scores)) if weight is None else weight
    passed = sums(place, people * weights, len(values))
    failed = sums(place, ~people * weights, len(values))
    return _threshold_at(values, int(_best_cuts(passed, failed)))


def _threshold_at(values: FloatArray, cut: int | np.integer[Any]) -> float:
    """Return the midpoint between the value of a cut and the next; below all values for -1."""
    if cut < 0:
        return float(values[0]) if len(values) else 0.0
    return float((values[cut] + values[cut + 1]) / 2)


def _best_cuts(passed: FloatArray, failed: FloatArray) -> IntArray:
    """Return the position of the value up to which outputs fail, -1 where there is only one value;
    shape (...).

    Args:
        passed, failed: shape (..., values), how many outputs people pass and fail at each value.
    """
    if passed.shape[-1] < 2:
        return np.full(passed.shape[:-1], -1)
    # For a threshold below each value but the first: outputs at or above it pass.
    at_least = np.cumsum(passed[..., ::-1], axis=-1)[..., ::-1]
    below = np.cumsum(failed, axis=-1)
    sensitivity = mean_of(at_least[..., 1:], at_least[..., :1])
    specificity = mean_of(below[..., :-1], below[..., -1:])
    youden = np.nan_to_num(sensitivity) + np.nan_to_num(specificity)
    best = youden >= youden.max(axis=-1, keepdims=True) - 1e-12
    middle = best.sum(axis=-1, keepdims=True) // 2 + 1
    return np.asarray(np.argmax(np.cumsum(best, axis=-1) == middle, axis=-1))


def _ratio(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(upper / lower)


def _sensitivity(cells: np.ndarray) -> np.ndarray:
    """Compute the share of fails that are found from counts of shape (4, ...): both pass, false
    pass, false fail, both fail."""
    return _ratio(cells[3], cells[1] + cells[3])


def _specificity(cells: np.ndarray) -> np.ndarray:
    return _ratio(cells[0], cells[0] + cells[2])


def _accuracy(cells: np.ndarray) -> np.ndarray:
    return _ratio(cells[0] + cells[3], cells.sum(axis=0))


def _kappa(cells: np.ndarray) -> np.ndarray:
    """Cohen (1960)."""
    total, agreed = cells.sum(axis=0), _accuracy(cells)
    judge, people = _ratio(cells[0] + cells[1], total), _ratio(cells[0] + cells[2], total)
    chance = judge * people + (1 - judge) * (1 - people)
    return _ratio(agreed - chance, 1 - chance)


def _ac1(cells: np.ndarray) -> np.ndarray:
    """Gwet (2008)."""
    passing = _ratio(2 * cells[0] + cells[1] + cells[2], 2 * cells.sum(axis=0))
    chance = 2 * passing * (1 - passing)
    return _ratio(_accuracy(cells) - chance, 1 - chance)


def _ac1_of(accuracy: ShareEstimate, counts: np.ndarray, redrawn: np.ndarray) -> ShareEstimate:
    """Return AC1 with the interval of accuracy, stretched by how much more resamples of it vary."""
    value, agreed = float(_ac1(counts)), float(_accuracy(counts))
    stretch = float(mean_of(_ac1(redrawn).std(), _accuracy(redrawn).std()))
    if not math.isfinite(stretch):
        return ShareEstimate(Estimate(value), no_interval(ALL_THE_SAME.format("document")))
    interval = mapped(accuracy.interval, lambda end: value + (end - agreed) * stretch)
    return ShareEstimate(Estimate(value), within(interval, -1.0, 1.0))


def _balanced_of(sensitivity: ShareEstimate, specificity: ShareEstimate) -> ShareEstimate:
    values = sensitivity.estimate.value, specificity.estimate.value
    if values[0] is None or values[1] is None:
        return without_share(sensitivity.estimate.reason or specificity.estimate.reason)
    interval = _combined((sensitivity, 0.5), (specificity, 0.5))
    return ShareEstimate(Estimate((values[0] + values[1]) / 2), interval)


def _rates(
    outputs: Outputs, human: FloatArray, judge: FloatArray, middle: float, threshold: float
) -> tuple[SystemRate, ...]:
    """Return the pass rates of all systems."""
    scored = ~np.isnan(judge)
    passes, people = judge >= threshold, human >= middle
    return tuple(
        _rate_of(outputs.part(mask), people[mask], np.isnan(human[mask]), passes[mask])
        for mask in (scored & (outputs.system == system) for system in range(outputs.systems))
    )


def _rate_of(
    outputs: Outputs, people: np.ndarray, unlabelled: np.ndarray, passes: np.ndarray
) -> SystemRate:
    """Return a system's pass rate; masks have shape (outputs,)."""
    count, labelled = len(outputs), int((~unlabelled).sum())
    if not count:
        return SystemRate(0, None, without_share("the judge scored none of its outputs"))
    judged = float(passes.mean())
    shares, parts = [judged, 1 - judged], []
    for share, verdict in zip(shares, (passes, ~passes), strict=True):
        of_these = verdict & ~unlabelled
        if not share:
            continue
        if not of_these.any():
            kind = "passes" if verdict is passes else "fails"
            return SystemRate(count, judged, without_share(NO_LABELS.format(kind)), labelled)
        sample = sample_of(outputs, people & of_these, of_these)
        parts.append((share, sample.share, *sample.ends))
    estimate = sum(share * value for share, value, _low, _high in parts)
    # What the judge passes is a share of a sample, too.
    apart = parts[0][1] - parts[-1][1]
    of_judge = (t_quantile(math.inf) * apart) ** 2 * judged * (1 - judged) / count
    below, above = (
        math.sqrt(sum((part[0] * (part[1] - part[end])) ** 2 for part in parts) + of_judge)
        for end in (2, 3)
    )
    wider = _wider_by_clusters(outputs, people, unlabelled, passes)
    interval = within(Interval(estimate - wider * below, estimate + wider * above), 0.0, 1.0)
    # The squared half-width by labels alone, as it is and as it would have to be.
    of_labels = ((below + above) / 2) ** 2 - of_judge
    wanted = ((below + above) / 4) ** 2 - of_judge
    more = math.ceil(labelled * (of_labels / wanted - 1)) if wanted > 0 else None
    if more is not None and more > count - labelled:
        more = None
    corrected = ShareEstimate(Estimate(estimate), interval)
    return SystemRate(count, judged, corrected, labelled, more)


def _wider_by_clusters(
    outputs: Outputs, people: np.ndarray, unlabelled: np.ndarray, passes: np.ndarray
) -> float:
    """Return by how much a rate's interval is wider as outputs of a document or group are alike, in
    the judge's verdicts and in labels; by the variance of a linear approximation."""
    influence = np.zeros(len(outputs))
    for verdict in (passes, ~passes):
        of_these = verdict & ~unlabelled
        if of_these.any():
            share = people[of_these].mean()
            influence += share * verdict / len(outputs)
            influence[of_these] += verdict.mean() * (people[of_these] - share) / of_these.sum()
    influence -= influence.mean()
    alone = float((influence**2).sum())
    clusters = np.unique(outputs.document).size
    if clusters == len(outputs) or clusters < 2 or not alone:
        return 1.0
    together = float((outputs.by_document(influence) ** 2).sum()) * clusters / (clusters - 1)
    labelled = np.unique(outputs.document[~unlabelled]).size
    by_t = t_quantile(max(1, labelled - 1)) / t_quantile(math.inf)
    return by_t * math.sqrt(max(1.0, together / alone))
