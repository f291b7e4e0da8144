"""Search for a better judge among existing scores: another judge, a panel, a calibration map.
Everything is learned from training documents only."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geval.evaluators.formula import CriterionFormula, Member
from geval.improving.changes import NO_ORDER, FreeChange, Measure, is_better
from geval.improving.ground import Arm, Ground, TooFewRatingsError
from geval.statistics.arrays import complete
from geval.statistics.calibration import Isotonic, cross_validated_error, isotonic
from geval.statistics.held_out_test import documents_for, smallest_gain
from geval.statistics.panel import Arms, Chosen, choose, effective_votes
from geval.statistics.selection import FOLDS, select
from geval.statistics.thresholds import LOCKED_DOCUMENTS, TRAINING_DOCUMENTS
from geval.statistics.types import FloatArray, IntArray
from geval.texts.sentences import listed

# Fixed and stated, so that a search can be repeated.
SEED = 0
BEST = "the best of all on training"
# A vote is of so many judges: an odd number, and more seldom vote better than they cost.
VOTES = 3
# By how much a flat map is made to rise over the range of scores, as a share of the ratings' range.
RISE = 1e-4


@dataclass(frozen=True)
class FoundChange:
    """A change that may be better than today's judge.

    It is a formula, or on a site a wording: the id of a proposal. `today` and `candidate` are
    values on training documents, the candidate's by cross-validation; `gain` is positive for an
    improvement in either measure. `constant` is the best constant's distance, where distance is
    measured.
    """

    change: str
    title: str
    formula: CriterionFormula | None
    today: float
    candidate: float
    documents: int
    measure: str = Measure.RANK
    description: str = ""
    proposal: int | None = None
    constant: float | None = None

    @property
    def gain(self) -> float:
        gain = self.candidate - self.today
        return -gain if self.measure == Measure.DISTANCE else gain

    @property
    def is_better_on_training(self) -> bool:
        """Whether it gains on training documents; a map must beat the best constant as well."""
        return is_better(self.training())

    def training(self) -> dict[str, Any]:
        """Return the training results, as stored in a site's row and in JSON."""
        return {
            "today": self.today,
            "candidate": self.candidate,
            "gain": self.gain,
            "documents": self.documents,
            **({} if self.constant is None else {"constant": self.constant}),
        }


@dataclass(frozen=True)
class Power:
    """What the locked documents can show: the smallest gain that is proven in 80 % of cases,
    and how many documents a gain of `wanted` needs."""

    smallest: float
    wanted: float
    documents: int


@dataclass(frozen=True)
class Searched:
    """The changes that a search proposes, best first, and the data behind it."""

    candidates: list[FoundChange]
    training: int
    locked: int
    today: float | None
    left_out: dict[str, str] = field(default_factory=dict)


def search(ground: Ground, changes: Sequence[str]) -> Searched:
    """Try changes of a judge on training documents.

    Raises:
        TooFewRatingsError: too few documents were rated.
    """
    check_size(ground)
    if ground.measure == Measure.KAPPA:
        changes = [change for change in changes if change not in NO_ORDER]
    tried = [better for change in changes for better in _TRIED[FreeChange(change)](ground)]
    return Searched(
        sorted(tried, key=lambda each: (each.measure == Measure.DISTANCE, -each.gain)),
        len(ground.training),
        len(ground.locked),
        _mean(ground.merit_of_today),
        ground.left_out,
    )


def check_size(ground: Ground) -> None:
    """Refuse data that is too small for a reliable search, or for a proof."""
    missing = []
    for what, count, least in (
        ("training", len(ground.training), TRAINING_DOCUMENTS),
        ("locked", len(ground.locked), LOCKED_DOCUMENTS),
    ):
        if count < least:
            missing.append(f"{count} of {least} {what} documents")
    if missing:
        raise TooFewRatingsError(
            f"On {ground.criterion.name} too few documents have ratings and"
            f" {ground.judge.label}'s scores: {' and '.join(missing)}. Rate more documents,"
            " locked ones too."
        )


def power(ground: Ground, *, confidence: float, wanted: float = 0.05) -> Power | None:
    """Return what can be proven, estimated from the differences of other judges' merit to today's
    by document; None without other judges."""
    differences = [
        spread
        for arm in ground.arms
        if arm.judge != ground.judge and (spread := _spread(ground, arm)) is not None
    ]
    if not differences:
        return None
    spread = float(np.median(differences))
    needed = documents_for(spread, wanted, confidence=confidence)
    # A weighted sample needs more documents than one with equal weights.
    more = len(ground.locked) / max(1, ground.counting)
    return Power(
        smallest_gain(spread, ground.counting, confidence=confidence),
        wanted,
        math.ceil(round(needed * more, 9)),
    )


def _spread(ground: Ground, arm: Arm) -> float | None:
    apart = ground.merit(ground.training, arm.scores) - ground.merit_of_today
    defined = apart[~np.isnan(apart)]
    return float(defined.std(ddof=1)) if len(defined) > 2 and np.ptp(defined) else None


def _choice(ground: Ground) -> list[FoundChange]:
    """Return the single judge that ranks best, if it is another one."""
    if not ground.arms:
        return []
    if ground.measure != Measure.RANK:
        return _choice_of_verdicts(ground)
    arms, documents = ground.learnable
    chosen = choose(arms, documents, seed=SEED, ridges=(None,))
    arm = ground.arms[chosen.formula.members[0]]
    if np.array_equal(arm.scores, ground.today, equal_nan=True):
        return []
    formula = _on_scale(arms, ground, chosen)
    return [_found(ground, FreeChange.CHOICE, arm.name, formula, chosen.by_document, BEST)]


def _choice_of_verdicts(ground: Ground) -> list[FoundChange]:
    """Return the single judge with the best verdicts or labels, if it is another one."""
    arms = ground.arms
    selected = select(_merits(ground, [arm.scores for arm in arms]), seed=SEED)
    best = arms[selected.best]
    if np.array_equal(best.scores, ground.today, equal_nan=True):
        return []
    formula = CriterionFormula(
        members=(Member(judge=best.judge.name, criterion=best.criterion, weight=1.0),),
        intercept=0.0,
        points=_step(ground, best.scores, ground.threshold(best.scores)),
    )
    return [_found(ground, FreeChange.CHOICE, best.name, formula, selected.by_document, BEST)]


def _vote(ground: Ground) -> list[FoundChange]:
    """Return the vote of the VOTES judges with the best verdicts, chosen without the documents on
    which it is measured."""
    points = ground.criterion.scale.points
    arms = [arm for arm in ground.arms if np.isin(arm.scores[~np.isnan(arm.scores)], points).all()]
    by_judge = list({arm.judge: arm for arm in reversed(arms)}.values())
    if len(by_judge) < VOTES:
        return []
    scores = np.stack([arm.scores for arm in by_judge])
    merits = _merits(ground, scores)

    def best(of: np.ndarray) -> IntArray:
        return np.argsort(-of.mean(axis=1), kind="stable")[:VOTES]

    held_out = np.empty(merits.shape[1])
    order = np.random.default_rng(SEED).permutation(len(held_out))
    for fold in np.array_split(order, min(FOLDS, len(order))):
        shares = scores[best(np.delete(merits, fold, axis=1))].mean(axis=0)
        voted = np.where(shares >= ground.middle, points[1], points[0])
        held_out[fold] = _merits(ground, [np.where(np.isnan(shares), np.nan, voted)])[0, fold]
    chosen = best(merits)
    members = [by_judge[index] for index in chosen]
    formula = CriterionFormula(
        members=tuple(
            Member(judge=arm.judge.name, criterion=arm.criterion, weight=1 / VOTES)
            for arm in members
        ),
        intercept=0.0,
        points=_step(ground, scores[chosen].mean(axis=0), ground.middle),
    )
    about = f"the vote of {listed([arm.name for arm in members])}"
    return [_found(ground, FreeChange.PANEL, f"Vote of {VOTES} judges", formula, held_out, about)]


def _merits(ground: Ground, scores: Sequence[FloatArray] | FloatArray) -> FloatArray:
    """Return the merits of scores in training documents that tell something; shape (scores,
    documents)."""
    merits = np.stack([ground.merit(ground.training, each) for each in scores])
    return merits[:, ~np.isnan(merits[0])]


def _step(ground: Ground, scores: FloatArray, threshold: float) -> tuple[tuple[float, float], ...]:
    """Return the map from scores to verdicts, which pass from a threshold on; none where they are
    verdicts."""
    points = ground.criterion.scale.points
    values = np.unique(scores[~np.isnan(scores)])
    if np.isin(values, points).all():
        return ()
    passes = values >= threshold
    ends = [*values[~passes][-1:], *values[passes][:1]]
    if len(ends) < 2:
        return ((float(ends[0]), points[int(passes[0])]),)
    return ((float(ends[0]), points[0]), (float(ends[1]), points[1]))


def _panel(ground: Ground) -> list[FoundChange]:
    if ground.is_pass_fail:
        return _vote(ground)
    if len(ground.arms) < 2:
        return []
    arms, documents = ground.learnable
    chosen = choose(arms, documents, seed=SEED)
    members = chosen.formula.members
    if len(members) < 2:
        return []  # the best single judge won: that is a choice
    votes = effective_votes(arms, members)
    worth = "" if votes is None else f", as good as {votes:.1f} independent ones"
    judges = {ground.arms[index].judge.name for index in members}
    about = f"{len(members)} scores of {len(judges)} judges{worth}"
    formula = _on_scale(arms, ground, chosen)
    title = f"Panel of {len(judges)}"
    return [_found(ground, FreeChange.PANEL, title, formula, chosen.by_document, about)]


def _found(
    ground: Ground,
    change: FreeChange,
    title: str,
    formula: CriterionFormula,
    by_document: FloatArray,
    description: str,
) -> FoundChange:
    return FoundChange(
        change,
        title,
        formula,
        _mean(ground.merit_of_today) or 0.0,
        _mean(by_document) or 0.0,
        int((~np.isnan(by_document)).sum()),
        measure=ground.measure,
        description=description,
    )


def _on_scale(arms: Arms, ground: Ground, chosen: Chosen) -> CriterionFormula:
    """Map a panel's sum to the ratings' scale by a least-squares line, which keeps the order."""
    members = chosen.formula.members
    total = chosen.formula.of(arms.scores)
    slope, intercept = (
        np.polyfit(total, arms.human, 1) if np.ptp(total) else (0.0, float(arms.human.mean()))
    )
    if slope <= 0:  # the learned order is never reversed
        slope, intercept = 1.0, 0.0
    return CriterionFormula(
        members=tuple(
            Member(
                judge=ground.arms[index].judge.name,
                criterion=ground.arms[index].criterion,
                weight=float(slope * chosen.formula.weights[index]),
            )
            for index in members
        ),
        intercept=float(intercept),
    )


def _calibration(ground: Ground) -> list[FoundChange]:
    """Fit the monotonic map that brings today's scores closest to people's."""
    outputs, (human, scores) = ground.on(ground.training, ground.human, ground.today)
    outputs, (human, scores) = complete(outputs, human, scores)
    error = cross_validated_error(outputs, human, scores, rng=np.random.default_rng(SEED))
    if error is None or not np.ptp(scores):
        return []
    formula = CriterionFormula(
        members=(Member(judge=ground.judge.name, criterion=ground.criterion.name, weight=1.0),),
        intercept=0.0,
        points=_points(isotonic(scores, human), float(np.ptp(human)) or 1.0),
    )
    return [
        FoundChange(
            FreeChange.CALIBRATION,
            "Calibration map",
            formula,
            error.before,
            error.after,
            int(outputs.documents_with().sum()),
            measure=Measure.DISTANCE,
            description="brings scores nearer to people's, and keeps their order",
            constant=error.constant,
        )
    ]


def _points(fitted: Isotonic, ratings: float) -> tuple[tuple[float, float], ...]:
    """Return the map's corners, made to rise slightly where it is flat, and extended to the range
    of scores: so it ranks exactly like the scores.

    Args:
        ratings: the range of people's ratings, which defines the slight rise.
    """
    x, y = fitted.x, fitted.fit
    inner = np.flatnonzero((np.diff(y)[:-1] != 0) | (np.diff(y)[1:] != 0)) + 1
    kept = [0, *inner.tolist(), len(x) - 1]
    width = float(x[-1] - x[0])
    xs = np.array([x[0] - width, *x[kept], x[-1] + width])
    ys = np.array([y[0], *y[kept], y[-1]]) + RISE * ratings * (xs - x[0]) / width
    return tuple(zip(xs.tolist(), ys.tolist(), strict=True))


_TRIED: dict[FreeChange, Callable[[Ground], list[FoundChange]]] = {
    FreeChange.CHOICE: _choice,
    FreeChange.PANEL: _panel,
    FreeChange.CALIBRATION: _calibration,
}


def _mean(values: FloatArray) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None
