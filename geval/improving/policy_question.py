"""A question whether a policy can promise something, of a report's data: the same for files and for
the projects of a site."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from geval.improving.confidence import ConfidenceRule, JudgeScores, choose_confidence
from geval.improving.policy import CurvePoint, KeptFails, OutputDecision, Policy
from geval.improving.promises import (
    PolicyError,
    Promise,
    PromiseKind,
    PromiseLosses,
    losses_of,
)
from geval.reports.by_field import MOST_VALUES
from geval.reports.data import ReportData
from geval.reports.human_scores import HumanScores
from geval.reports.samples import about_proof
from geval.statistics.arrays import Outputs
from geval.statistics.held_out_test import confidence_of
from geval.statistics.risk_control import (
    Controlled,
    Point,
    Stakes,
    control,
    documents_to_prove,
    point_at,
    thresholds_of,
)
from geval.statistics.thresholds import (
    INTERVAL_DOCUMENTS,
    LOCKED_DOCUMENTS,
    TRAINING_DOCUMENTS,
)
from geval.statistics.types import FloatArray
from geval.texts.subjects import CriterionLike, JudgeLike

NOTHING_VARIES = "the judge gives every output the same score, so more ratings would not help"
NULL_AS_GOOD = "answers that only know who wrote an output are not shown to be worse"
NOT_GOOD_ENOUGH = "its error is too high at every confidence, so more ratings would not help"
TOO_NEAR = "its error is too near the promise to be shown"


@dataclass(frozen=True, eq=False)
class PolicyQuestion:
    """A judge on a criterion, and a promise.

    Args:
        others: judges whose agreement is tried as confidence.
        locked: the outputs of locked documents, as a mask; a `share` of documents, which so many
            looks may see. Without looks they are only held out, for this question.
        distributions: of scores, by the output's position.
        field: by whose values the promise is shown; these have shape (outputs,), "" for none.
    """

    data: ReportData
    criterion: CriterionLike
    judge: JudgeLike
    others: Sequence[JudgeLike]
    promise: Promise
    locked: np.ndarray
    share: float
    looks: int | None
    distributions: Mapping[int, Mapping[float, float]]
    field: str = ""
    of_field: Sequence[str] = ()

    @property
    def human(self) -> HumanScores:
        return self.data.humans[self.criterion.pk]

    @property
    def scores(self) -> FloatArray:
        """The judge's, shape (outputs,), NaN for missing."""
        return self.data.judges[self.criterion.pk, self.judge.pk]

    @cached_property
    def outputs(self) -> Outputs:
        return self.data.units.weighted(self.human.weight)

    @cached_property
    def losses(self) -> PromiseLosses:
        return losses_of(
            self.promise, self.human, self.scores, outputs=self.outputs, training=~self.locked,
            scale=self.criterion.scale,
        )  # fmt: skip

    @cached_property
    def _judged(self) -> JudgeScores:
        data, about, scale = self.data, self.criterion.pk, self.criterion.scale
        return JudgeScores(
            scores=self.scores,
            distributions=[self.distributions.get(at) for at in range(len(self.scores))],
            others={
                each.label: data.judges[about, each.pk]
                for each in self.others
                if each.pk != self.judge.pk and (about, each.pk) in data.judges
            },
            ends=(scale.lowest, scale.highest),
            reach=self.promise.distance or scale.step / 2,
            mark=self.losses.mark,
            doubt=self.losses.doubt,
            cluster=self.outputs.clustered.document,
            training=~self.locked,
        )

    @cached_property
    def rule(self) -> ConfidenceRule:
        """The chosen confidence."""
        return choose_confidence(self._judged)

    @cached_property
    def confidence(self) -> FloatArray:
        """Of each output, shape (outputs,)."""
        return self.rule.values_of(self._judged)

    @cached_property
    def rated(self) -> tuple[int, int]:
        """How many training and locked documents, or groups, have ratings and scores."""
        rated, units = ~np.isnan(self.losses.doubt), self.outputs.clustered
        training, locked = (
            int(units.documents_with(rated & side).sum()) for side in (~self.locked, self.locked)
        )
        return training, locked

    @property
    def digest(self) -> str:
        """A digest of everything that the answer depends on, apart from `field`."""
        values = np.stack([self.losses.loss, self.scores, self.locked], axis=1).round(9)
        names = map(self.data.name_of, range(len(values)))
        lines = sorted(f"{name}{row.tolist()}" for name, row in zip(names, values, strict=True))
        about = (self.judge.label, self.criterion.name, "policy", str(self.promise), self.rule.name)
        return hashlib.sha256("\0".join([*about, *lines]).encode()).hexdigest()

    def stakes(self, confidence: FloatArray) -> Stakes:
        losses = self.losses
        return Stakes(
            self.outputs, np.where(np.isnan(self.scores), np.nan, confidence), losses.loss,
            losses.null, losses.null_confidence, ~self.locked, self.locked, self.promise.bound,
        )  # fmt: skip

    def answer(self, seconds: float | None, price: float | None, notes: tuple[str, ...]) -> Policy:
        stakes, counts = self.stakes(self.confidence), self.human.ratings.count
        error = 1 - confidence_of(self.looks or 1, 1)
        controlled, reason, more = Controlled(), NOTHING_VARIES, self._lacking()
        if more:
            reason = "too few documents are rated"
        elif len(np.unique(self.scores[~np.isnan(self.scores)])) > 1:
            controlled = control(stakes, error=error)
            reason, more = self._why_not(controlled, error)
        at, calibration = controlled.proven, self.losses.calibration
        kept = None if at is None else self._named("policy", controlled.curve[at])
        by_value, small = self._by_value(stakes, kept)
        return Policy(
            criterion=self.criterion.name,
            judge=self.judge.label,
            promise=self.promise,
            confidence=self.rule.name,
            kept=kept,
            fails=self._fails(stakes, kept),
            reason=reason,
            more_documents=more,
            calibration=calibration.pairs if calibration else (),
            training=self.rated[0],
            locked=self.rated[1],
            is_locked=self.looks is not None,
            curve=tuple(self._curve(controlled)),
            field=self.field,
            by_value=by_value,
            small=small,
            outputs=tuple(self._decisions(kept)),
            ratings_per_output=float(counts[counts > 0].mean()) if counts.any() else 1.0,
            seconds=seconds,
            price=price,
            notes=(*about_proof(self.human), *notes),
        )

    def _lacking(self) -> int | None:
        """Return how many more documents have to be rated before anything can be tested."""
        (training, locked), share = self.rated, self.share
        least = max(
            (TRAINING_DOCUMENTS - training) / (1 - share), (LOCKED_DOCUMENTS - locked) / share
        )
        return int(np.ceil(least)) if least > 0 else None

    def _why_not(self, controlled: Controlled, error: float) -> tuple[str, int | None]:
        """Return why nothing is promised, and how many more rated documents would change that."""
        if controlled.proven is not None:
            return "", None
        if controlled.is_null_as_good:
            return NULL_AS_GOOD, None
        needed = documents_to_prove(controlled, self.promise.bound, rated=self.rated, error=error)
        if needed is None:
            least = min(map(_error, controlled.curve), default=np.inf)
            return (NULL_AS_GOOD if least < (self.promise.bound or 0.0) else NOT_GOOD_ENOUGH), None
        return TOO_NEAR, max(1, int(np.ceil(needed / self.share)) - sum(self.rated))

    def _named(
        self,
        name: str,
        point: Point,
        coverage: float | None = None,
        of: np.ndarray | None = None,
    ) -> CurvePoint:
        part = self.locked if of is None else of
        rated = int((part & ~np.isnan(self.losses.doubt)).sum())
        return CurvePoint.of(
            name, point, coverage=coverage, rated=rated, is_share=self.promise.bound is not None
        )

    def _curve(self, controlled: Controlled) -> Iterator[CurvePoint]:
        """Yield the policy's points, and those of confidences that know nothing."""
        for point in controlled.curve:
            yield self._named("policy", point)
        if not controlled.curve:
            return
        for point in controlled.curve[:-1]:
            yield self._named("random", controlled.curve[-1], point.coverage)
        nulls = {"length": -self.data.words}
        if self.data.outputs.systems > 1:
            nulls["who wrote it"] = self.losses.confidence_by_system
        for name, values in nulls.items():
            stakes = self.stakes(values)
            for threshold in thresholds_of(stakes.confidence[stakes.training])[:-1]:
                yield self._named(name, point_at(stakes, threshold, stakes.locked))

    def _by_value(
        self, stakes: Stakes, kept: CurvePoint | None
    ) -> tuple[dict[str, CurvePoint], int]:
        """Return what is kept of the locked documents of each value, those with most first, and of
        how many values there are too few rated ones.

        Raises:
            PolicyError: too many values have enough of them.
        """
        if kept is None or not self.field:
            return {}, 0
        threshold = -np.inf if kept.threshold is None else kept.threshold
        of_field, rated = np.array(self.of_field, dtype=object), ~np.isnan(self.losses.doubt)
        parts = {
            value: stakes.locked & (of_field == value)
            for value in dict.fromkeys(self.of_field)
            if value
        }
        counts = {
            value: int(self.outputs.clustered.documents_with(part & rated).sum())
            for value, part in parts.items()
        }
        shown = sorted(
            (value for value in counts if counts[value] >= INTERVAL_DOCUMENTS),
            key=lambda value: -counts[value],
        )
        if len(shown) > MOST_VALUES:
            raise PolicyError(
                f"{self.field} has {len(shown)} values; a promise is shown by a field with at most"
                f" {MOST_VALUES}."
            )
        by_value = {
            value: self._named("policy", point_at(stakes, threshold, parts[value]), of=parts[value])
            for value in shown
        }
        return by_value, len(counts) - len(shown)

    def _fails(self, stakes: Stakes, kept: CurvePoint | None) -> KeptFails | None:
        """Return how many outputs kept answers fail, and how many of these people pass; None where
        the promise is about fails, too."""
        mark = self.losses.mark
        if kept is None or mark is None or self.promise.kind != PromiseKind.FALSE_PASSES:
            return None
        fails = self.scores < mark
        threshold = -np.inf if kept.threshold is None else kept.threshold
        loss = np.where(fails, self.losses.doubt, np.nan)
        error = point_at(replace(stakes, loss=loss), threshold, stakes.locked).error
        answered = stakes.locked & ~np.isnan(stakes.confidence)
        is_kept = answered & fails & (stakes.confidence >= threshold)
        share = float(is_kept.sum() / max(1, answered.sum()))
        return KeptFails(share, error.value, error.low, error.high, error.outputs)

    def _decisions(self, kept: CurvePoint | None) -> Iterator[OutputDecision]:
        least = -np.inf if kept is None or kept.threshold is None else kept.threshold
        sides = (self.losses.answers, self.confidence)
        for output, (answer, sure) in enumerate(zip(*sides, strict=True)):
            yield OutputDecision(
                *self.data.name_of(output),
                None if np.isnan(answer) else float(answer),
                None if np.isnan(sure) else float(sure),
                kept is not None and not np.isnan(answer) and bool(sure >= least),
            )


def _error(point: Point) -> float:
    return np.inf if point.error.value is None else point.error.value
