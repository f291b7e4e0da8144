"""Criteria that an output passes or fails: how often a judge's verdict is people's, and what share
of each system's outputs really passes.

A judge's own pass rate mixes true and false passes. With its sensitivity and specificity on the
outputs that people rated, the true rate of a system is (p + specificity - 1) / (sensitivity +
specificity - 1), where p is the share of all its outputs that the judge passes (Rogan and Gladen,
1978). Intervals leave out each document in turn, so they contain the uncertainty of all three and
know that outputs of one document are not independent. Where people rated some outputs with other
probabilities than others, shares are of weighted outputs; the four counts are of outputs as rated.
"""

from dataclasses import dataclass

import numpy as np

from evaluations.statistics.jackknife import LeftOut, counting_by, no_interval, within
from evaluations.statistics.layout import Outputs, complete, mean_of, sums
from evaluations.statistics.pairing import FloatArray
from evaluations.statistics.resampling import Interval
from evaluations.statistics.results import Estimate

# Fewer passes or fails by people say too little about a judge's errors.
LEAST_OF_EACH = 10
# A judge that is hardly better than chance cannot be corrected: all that is known is divided by it.
LEAST_YOUDEN = 0.1
FOLDS = 5
_FEW = (
    f"it takes {LEAST_OF_EACH} outputs that people pass and {LEAST_OF_EACH} that they fail, with"
    " scores"
)
_OTHERWISE = (
    "the judge errs otherwise on this system than on all, as its corrected rate would lie beyond 0"
    " to 1"
)
_CHANCE = "the judge's verdict says too little: sensitivity and specificity sum to less than 1.1"


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
    verdict, threshold = _cross_validated(both, people, scored)
    is_cell = np.stack(
        [people & verdict, ~people & verdict, people & ~verdict, ~people & ~verdict]
    ).astype(float)
    rated_counts = is_cell.sum(axis=1)
    weight = both.weight
    cells = np.stack(
        [both.by_document(cell if weight is None else cell * weight) for cell in is_cell]
    )
    counts = cells.sum(axis=1)
    documents = LeftOut.each(outputs.documents)
    left_out = np.stack([documents.sums(row) for row in cells])
    counting = counting_by(both.documents_with(), both.document_weight)
    passed, failed = rated_counts[0] + rated_counts[2], rated_counts[1] + rated_counts[3]
    enough = min(passed, failed) >= LEAST_OF_EACH

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
        _rates(outputs, judge >= threshold, ~np.isnan(judge), counts, left_out, documents, counting)
        if enough
        else (),
    )


def _cross_validated(
    outputs: Outputs, people: np.ndarray, scores: FloatArray
) -> tuple[np.ndarray, float]:
    """Whether the judge passes each output by the threshold that documents of other folds choose,
    and the one that all documents choose."""
    order = np.flatnonzero(outputs.documents_with())
    fold = np.zeros(outputs.documents, dtype=int)
    fold[order] = np.arange(len(order)) % FOLDS
    of_output = fold[outputs.document]
    verdict = np.zeros(len(scores), dtype=bool)
    for number in range(FOLDS):
        mine = of_output == number
        others = None if outputs.weight is None else outputs.weight[~mine]
        verdict[mine] = scores[mine] >= best_threshold(people[~mine], scores[~mine], others)
    return verdict, best_threshold(people, scores, outputs.weight)


def best_threshold(
    people: np.ndarray, scores: FloatArray, weight: FloatArray | None = None
) -> float:
    """The score from which on outputs pass that makes sensitivity plus specificity greatest
    (Youden, 1950), halfway to the next lower score; the middle one of several.

    Args:
        weight: shape (outputs,), for how many each stands.
    """
    values, place = np.unique(scores, return_inverse=True)
    if len(values) < 2:
        return float(values[0]) if len(values) else 0.0
    own = 1.0 if weight is None else weight
    passed = np.bincount(place, people * own, len(values))
    failed = np.bincount(place, ~people * own, len(values))
    # By threshold below each value but the first: what lies at or above it passes.
    with np.errstate(invalid="ignore", divide="ignore"):
        sensitivity = np.cumsum(passed[::-1])[::-1][1:] / passed.sum()
        specificity = np.cumsum(failed)[:-1] / failed.sum()
    youden = np.nan_to_num(sensitivity) + np.nan_to_num(specificity)
    best = np.flatnonzero(youden >= youden.max() - 1e-12)
    at = int(best[len(best) // 2])
    return float((values[at] + values[at + 1]) / 2)


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
    passes: np.ndarray,
    is_scored: np.ndarray,
    counts: np.ndarray,
    left_out: np.ndarray,
    documents: LeftOut,
    counting: int,
) -> tuple[SystemRate, ...]:
    """The pass rates of all systems; what people rated of any system tells the judge's errors."""
    found = []
    youden = _sensitivity(counts) + _specificity(counts) - 1
    for system in range(outputs.systems):
        mine = (outputs.system == system) & is_scored
        scored, passed = (
            sums(outputs.document[mine], values, outputs.documents)
            for values in (None, passes[mine].astype(float))
        )
        raw = float(mean_of(passed.sum(), scored.sum()))
        if not scored.sum():
            found.append(SystemRate(0, None, _without("the judge scored none of its outputs")))
            continue
        if youden < LEAST_YOUDEN:
            found.append(SystemRate(int(scored.sum()), raw, _without(_CHANCE)))
            continue
        estimate = _corrected(np.asarray(raw), counts)
        each = _corrected(mean_of(documents.sums(passed), documents.sums(scored)), left_out)
        interval = documents.interval(float(estimate), each, counting=counting)
        if interval.ends and (interval.ends[0] > 1 or interval.ends[1] < 0):
            found.append(SystemRate(int(scored.sum()), raw, _without(_OTHERWISE)))
            continue
        interval = within(interval, 0.0, 1.0)
        share = Share(Estimate(float(np.clip(estimate, 0.0, 1.0))), interval)
        found.append(SystemRate(int(scored.sum()), raw, share))
    return tuple(found)


def _corrected(rate: np.ndarray, cells: np.ndarray) -> np.ndarray:
    specificity = _specificity(cells)
    return _ratio(rate + specificity - 1, _sensitivity(cells) + specificity - 1)


def _without(reason: str) -> Share:
    return Share(Estimate.undefined(reason), no_interval(reason))
