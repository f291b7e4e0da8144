"""Criteria that an output passes or fails: how often a judge's verdict is people's, and what share
of each system's outputs really passes.

A judge's own pass rate mixes true and false passes. With its sensitivity and specificity on the
outputs that people rated, the true rate of a system is (p + specificity - 1) / (sensitivity +
specificity - 1), where p is the share of all its outputs that the judge passes (Rogan and Gladen,
1978). Intervals leave out each document in turn and choose the thresholds anew without it, so they
contain the uncertainty of all of them and know that outputs of one document are not independent.
Where people rated some outputs with other probabilities than others, shares are of weighted
outputs; the four counts are of outputs as rated.
"""

from dataclasses import dataclass

import numpy as np

from evaluations.statistics.jackknife import LeftOut, counting_by, no_interval, within
from evaluations.statistics.layout import Outputs, complete, mean_of, sums
from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.resampling import Interval
from evaluations.statistics.results import Estimate
from evaluations.thresholds import PASS_FAIL_OUTPUTS, PASS_FAIL_YOUDEN

FOLDS = 5
_FEW = (
    f"it takes {PASS_FAIL_OUTPUTS} outputs that people pass and {PASS_FAIL_OUTPUTS} that they fail,"
    " with scores"
)
_OTHERWISE = (
    "the judge errs otherwise on this system than on all, as its corrected rate would lie beyond 0"
    " to 1"
)
_CHANCE = (
    "the judge's verdict says too little: sensitivity and specificity sum to less than"
    f" {1 + PASS_FAIL_YOUDEN:g}"
)


@dataclass(frozen=True)
class Share:
    """A share with its interval."""

    estimate: Estimate
    interval: Interval


@dataclass(frozen=True)
class SystemRate:
    """A system's pass rate as the judge gives it over all `outputs`, and corrected."""

    outputs: int
    judged: float | None
    corrected: Share


@dataclass(frozen=True)
class PassFail:
    """A judge on a criterion with two points.

    An output passes if its score is at least `threshold`. The four counts are over outputs with
    people's verdict (a mean of half of the scale or more passes), each judged with the threshold
    that documents of other folds chose. `kappa` is Cohen's, `ac1` Gwet's (2008).
    """

    threshold: float
    both_pass: int
    false_pass: int
    false_fail: int
    both_fail: int
    sensitivity: Share
    specificity: Share
    kappa: Share
    ac1: Share
    systems: tuple[SystemRate, ...]

    @property
    def shares(self) -> tuple[Share, ...]:
        """Sensitivity, specificity, kappa and AC1."""
        return self.sensitivity, self.specificity, self.kappa, self.ac1

    @property
    def outputs(self) -> int:
        return self.both_pass + self.false_pass + self.false_fail + self.both_fail


def pass_fail(
    outputs: Outputs, human: FloatArray, judge: FloatArray, *, middle: float
) -> PassFail | None:
    """How a judge passes and fails; None where nobody rated what it scored.

    Args:
        human, judge: shape (outputs,), NaN for missing.
        middle: of the scale; people pass an output from there on.
    """
    both, (rated, scored) = complete(outputs, human, judge)
    if not len(both):
        return None
    people = rated >= middle
    documents = LeftOut.each(outputs.documents)
    fitted = _cross_validated(both, people, scored, documents)
    verdict, threshold = fitted.verdict, fitted.threshold
    is_cell = np.stack(
        [people & verdict, ~people & verdict, people & ~verdict, ~people & ~verdict]
    ).astype(float)
    rated_counts = is_cell.sum(axis=1)
    weight = both.weight
    cells = np.stack(
        [both.by_document(cell if weight is None else cell * weight) for cell in is_cell]
    )
    counts, left_out = cells.sum(axis=1), fitted.left_out
    counting = counting_by(both.documents_with(), both.document_weight)
    passed, failed = rated_counts[0] + rated_counts[2], rated_counts[1] + rated_counts[3]
    enough = min(passed, failed) >= PASS_FAIL_OUTPUTS

    def share(of: np.ndarray, each: np.ndarray, low: float = 0.0) -> Share:
        if not enough:
            return Share(Estimate.undefined(_FEW), no_interval(_FEW))
        found = documents.interval(float(of), each, counting=counting)
        return Share(Estimate(float(of)), within(found, low, 1.0))

    return PassFail(
        threshold,
        int(rated_counts[0]),
        int(rated_counts[1]),
        int(rated_counts[2]),
        int(rated_counts[3]),
        share(_sensitivity(counts), _sensitivity(left_out)),
        share(_specificity(counts), _specificity(left_out)),
        share(_kappa(counts), _kappa(left_out), -1.0),
        share(_ac1(counts), _ac1(left_out), -1.0),
        _rates(outputs, judge, fitted, counts, documents, counting) if enough else (),
    )


@dataclass(frozen=True, eq=False)
class _Fitted:
    """Verdicts by thresholds that documents of other folds chose.

    `verdict` has shape (outputs,); `threshold` is the one that all documents choose. Without each
    group of documents, all thresholds chosen anew: `left_out` are the four counts, shape
    (4, groups), and `thresholds` those that all other documents choose, shape (groups,).
    """

    verdict: np.ndarray
    threshold: float
    left_out: FloatArray
    thresholds: FloatArray


def _cross_validated(
    outputs: Outputs, people: np.ndarray, scores: FloatArray, documents: LeftOut
) -> _Fitted:
    order = np.flatnonzero(outputs.documents_with())
    fold = np.zeros(outputs.documents, dtype=int)
    fold[order] = np.arange(len(order)) % FOLDS
    of_output = fold[outputs.document]
    values, place = np.unique(scores, return_inverse=True)
    own = np.ones(len(scores)) if outputs.weight is None else outputs.weight

    def tables(chosen: np.ndarray) -> FloatArray:
        """Of some outputs, how many people pass and fail at each value, by fold; shape
        (FOLDS, 2, values)."""
        at = (of_output[chosen] * 2 + ~people[chosen]) * len(values) + place[chosen]
        return sums(at, own[chosen], FOLDS * 2 * len(values)).reshape(FOLDS, 2, len(values))

    everything = tables(np.arange(len(scores)))
    verdict = np.zeros(len(scores), dtype=bool)
    for number in range(FOLDS):
        mine = of_output == number
        verdict[mine] = place[mine] > _best_cut(*(everything.sum(axis=0) - everything[number]))
    group = documents.group[outputs.document]
    ordered = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=documents.groups))
    left_out, thresholds = np.zeros((4, documents.groups)), np.zeros(documents.groups)
    for at, members in enumerate(np.split(ordered, ends[:-1])):
        kept = everything - tables(members)
        together = kept.sum(axis=0)
        thresholds[at] = _threshold_at(values, _best_cut(*together))
        for mine in kept:
            cut = _best_cut(*(together - mine)) + 1
            (passed, failed), (low_passed, low_failed) = (
                mine[:, cut:].sum(axis=1), mine[:, :cut].sum(axis=1)
            )  # fmt: skip
            left_out[:, at] += (passed, failed, low_passed, low_failed)
    return _Fitted(
        verdict, _threshold_at(values, _best_cut(*everything.sum(axis=0))), left_out, thresholds
    )


def best_threshold(
    people: np.ndarray, scores: FloatArray, weight: FloatArray | None = None
) -> float:
    """The score from which on outputs pass that makes sensitivity plus specificity greatest
    (Youden, 1950), halfway to the next lower score; the middle one of several.

    Args:
        weight: shape (outputs,), for how many each stands.
    """
    values, place = np.unique(scores, return_inverse=True)
    own = np.ones(len(scores)) if weight is None else weight
    passed = sums(place, people * own, len(values))
    failed = sums(place, ~people * own, len(values))
    return _threshold_at(values, _best_cut(passed, failed))


def _threshold_at(values: FloatArray, cut: int) -> float:
    """Halfway between the value of a cut and the next; below all values for -1."""
    if cut < 0:
        return float(values[0]) if len(values) else 0.0
    return float((values[cut] + values[cut + 1]) / 2)


def _best_cut(passed: FloatArray, failed: FloatArray) -> int:
    """The position of the value up to which outputs fail, -1 where there is but one value.

    Args:
        passed, failed: shape (values,), how many outputs people pass and fail at each value.
    """
    if len(passed) < 2:
        return -1
    # By threshold below each value but the first: what lies at or above it passes.
    with np.errstate(invalid="ignore", divide="ignore"):
        sensitivity = np.cumsum(passed[::-1])[::-1][1:] / passed.sum()
        specificity = np.cumsum(failed)[:-1] / failed.sum()
    youden = np.nan_to_num(sensitivity) + np.nan_to_num(specificity)
    best = np.flatnonzero(youden >= youden.max() - 1e-12)
    return int(best[len(best) // 2])


def _ratio(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(upper / lower)


def _sensitivity(cells: np.ndarray) -> np.ndarray:
    """Of counts in shape (4, ...): both pass, false pass, false fail, both fail."""
    return _ratio(cells[0], cells[0] + cells[2])


def _specificity(cells: np.ndarray) -> np.ndarray:
    return _ratio(cells[3], cells[1] + cells[3])


def _kappa(cells: np.ndarray) -> np.ndarray:
    """Cohen (1960)."""
    total = cells.sum(axis=0)
    agreed = _ratio(cells[0] + cells[3], total)
    judge, people = _ratio(cells[0] + cells[1], total), _ratio(cells[0] + cells[2], total)
    chance = judge * people + (1 - judge) * (1 - people)
    return _ratio(agreed - chance, 1 - chance)


def _ac1(cells: np.ndarray) -> np.ndarray:
    """Gwet (2008)."""
    total = cells.sum(axis=0)
    agreed = _ratio(cells[0] + cells[3], total)
    passing = _ratio(2 * cells[0] + cells[1] + cells[2], 2 * total)
    chance = 2 * passing * (1 - passing)
    return _ratio(agreed - chance, 1 - chance)


def _rates(
    outputs: Outputs,
    scores: FloatArray,
    fitted: _Fitted,
    counts: np.ndarray,
    documents: LeftOut,
    counting: int,
) -> tuple[SystemRate, ...]:
    """The pass rates of all systems; what people rated of any system tells the judge's errors."""
    found = []
    youden = _sensitivity(counts) + _specificity(counts) - 1
    for system in range(outputs.systems):
        mine = (outputs.system == system) & ~np.isnan(scores)
        own, group = scores[mine], documents.group[outputs.document[mine]]
        raw = float((own >= fitted.threshold).mean()) if len(own) else np.nan
        if not len(own):
            found.append(SystemRate(0, None, _without("the judge scored none of its outputs")))
            continue
        if youden < PASS_FAIL_YOUDEN:
            found.append(SystemRate(len(own), raw, _without(_CHANCE)))
            continue
        estimate = _corrected(np.asarray(raw), counts)
        passing = np.array(
            [
                ((own >= threshold) & (group != at)).sum()
                for at, threshold in enumerate(fitted.thresholds)
            ]
        )
        kept = len(own) - np.bincount(group, minlength=documents.groups)
        each = _corrected(mean_of(passing, kept), fitted.left_out)
        interval = documents.interval(float(estimate), each, counting=counting)
        if interval.ends and (interval.ends[0] > 1 or interval.ends[1] < 0):
            found.append(SystemRate(len(own), raw, _without(_OTHERWISE)))
            continue
        interval = within(interval, 0.0, 1.0)
        share = Share(Estimate(float(np.clip(estimate, 0.0, 1.0))), interval)
        found.append(SystemRate(len(own), raw, share))
    return tuple(found)


def _corrected(rate: np.ndarray, cells: np.ndarray) -> np.ndarray:
    specificity = _specificity(cells)
    return _ratio(rate + specificity - 1, _sensitivity(cells) + specificity - 1)


def _without(reason: str) -> Share:
    return Share(Estimate.undefined(reason), no_interval(reason))
