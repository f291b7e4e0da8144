"""A question whether a policy can promise something, of a report's data: the same for files and for
the projects of a site."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from geval.improving.confidence import ConfidenceRule, JudgeScores, choose_confidence
from geval.improving.policy import TOO_FEW, CurvePoint, OutputDecision, Policy
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
class AskedJudge:
    """A judge, and the distributions of its scores, by the output's position."""

    judge: JudgeLike
    distributions: Mapping[int, Mapping[float, float]]


@dataclass(frozen=True, eq=False)
class KeptAnswers:
    """A judge's answers: scores and confidence of shape (outputs,), NaN for missing, how the
    confidence was chosen, and what they lose."""

    scores: FloatArray
    losses: PromiseLosses
    rule: ConfidenceRule
    confidence: FloatArray


@dataclass(frozen=True, eq=False)
class PolicyQuestion:
    """A judge on a criterion, and a promise.

    Args:
        second: the judge that is asked where the first is not sure enough, if any.
        locked: the outputs of locked documents, as a mask; a `share` of documents, which so many
            looks may see. Without looks they are only held out, for this question.
        field: by whose values the promise is shown; these have shape (outputs,), "" for none.
    """

    data: ReportData
    criterion: CriterionLike
    first: AskedJudge
    second: AskedJudge | None
    promise: Promise
    locked: np.ndarray
    share: float
    looks: int | None
    field: str = ""
    of_field: Sequence[str] = ()

    @property
    def human(self) -> HumanScores:
        return self.data.humans[self.criterion.pk]

    @cached_property
    def outputs(self) -> Outputs:
        return self.data.units.weighted(self.human.weight)

    @cached_property
    def answers(self) -> KeptAnswers:
        """The first judge's."""
        return self._answers_of(self.first, {})

    @cached_property
    def seconds(self) -> KeptAnswers | None:
        """The second judge's; its agreement with the first is a measure of its confidence."""
        if self.second is None:
            return None
        return self._answers_of(self.second, {self.first.judge.label: self.answers.scores})

    def _answers_of(self, asked: AskedJudge, others: Mapping[str, FloatArray]) -> KeptAnswers:
        scale = self.criterion.scale
        scores = self.data.judges[self.criterion.pk, asked.judge.pk]
        losses = losses_of(
            self.promise, self.human, scores, outputs=self.outputs, training=~self.locked,
            scale=scale,
        )  # fmt: skip
        judged = JudgeScores(
            scores=scores,
            distributions=[asked.distributions.get(at) for at in range(len(scores))],
            others=others,
            ends=(scale.lowest, scale.highest),
            reach=self.promise.distance or scale.step / 2,
            mark=losses.mark,
            doubt=losses.doubt,
            cluster=self.outputs.clustered.document,
            training=~self.locked,
        )
        rule = choose_confidence(judged, comparable=self.second is not None)
        confidence = np.where(np.isnan(scores), np.nan, rule.values_of(judged))
        return KeptAnswers(scores, losses, rule, confidence)

    @property
    def _rated(self) -> np.ndarray:
        """The outputs with ratings and the first judge's scores, as a mask."""
        return ~np.isnan(self.answers.losses.doubt)

    @cached_property
    def rated(self) -> tuple[int, int]:
        """How many training and locked documents, or groups, have ratings and scores."""
        rated, units = self._rated, self.outputs.clustered
        training, locked = (
            int(units.documents_with(rated & side).sum()) for side in (~self.locked, self.locked)
        )
        return training, locked

    @property
    def digest(self) -> str:
        """A digest of everything that the answer depends on, apart from `field`."""
        sides = [side for side in (self.answers, self.seconds) if side is not None]
        columns = [column for side in sides for column in (side.losses.loss, side.scores)]
        values = np.stack([*columns, self.locked], axis=1).round(9)
        names = map(self.data.name_of, range(len(values)))
        lines = sorted(f"{name}{row.tolist()}" for name, row in zip(names, values, strict=True))
        judges = [asked.judge.label for asked in (self.first, self.second) if asked is not None]
        about = (*judges, self.criterion.name, "policy", str(self.promise))
        rules = [side.rule.name for side in sides]
        return hashlib.sha256("\0".join([*about, *rules, *lines]).encode()).hexdigest()

    def stakes(self) -> Stakes:
        seconds = self.seconds
        second = None if seconds is None else (seconds.confidence, seconds.losses.loss)
        return replace(self._stakes(self.answers.confidence), second=second)

    def _stakes(self, confidence: FloatArray) -> Stakes:
        """Return what the first judge's answers lose, kept by some confidence."""
        losses = self.answers.losses
        return Stakes(
            self.outputs, np.where(np.isnan(self.answers.scores), np.nan, confidence), losses.loss,
            losses.null, losses.null_confidence, ~self.locked, self.locked, self.promise.bound,
        )  # fmt: skip

    def answer(self, seconds: float | None, price: float | None, notes: tuple[str, ...]) -> Policy:
        stakes, counts = self.stakes(), self.human.ratings.count
        error = 1 - confidence_of(self.looks or 1, 1)
        controlled, reason, more = Controlled(), NOTHING_VARIES, self._lacking()
        if more:
            reason = TOO_FEW.format(self._unit)
        elif self._varies:
            controlled = control(stakes, error=error)
            reason, more = self._why_not(controlled, error)
        at = controlled.proven
        kept = None if at is None else self._point(controlled.curve[at])
        by_value, small, valueless = self._by_value(stakes, kept)
        return Policy(
            criterion=self.criterion.name,
            judge=self.first.judge.label,
            second=self.second.judge.label if self.second else "",
            promise=self.promise,
            confidence=self.answers.rule.name,
            kept=kept,
            fails=self._fails(stakes, kept),
            mark=self.answers.losses.mark,
            second_mark=self.seconds.losses.mark if self.seconds else None,
            reason=reason,
            more_documents=more,
            calibration=_pairs(self.answers),
            second_calibration=_pairs(self.seconds),
            training=self.rated[0],
            locked=self.rated[1],
            is_locked=self.looks is not None,
            curve=tuple(self._curve(controlled)),
            field=self.field,
            by_value=by_value,
            small=small,
            valueless=valueless,
            unit=self._unit,
            outputs=tuple(self._decisions(kept)),
            ratings_per_output=float(counts[counts > 0].mean()) if counts.any() else 1.0,
            seconds=seconds,
            price=price,
            notes=(*about_proof(self.human), *notes),
        )

    @property
    def _varies(self) -> bool:
        sides = [side.scores for side in (self.answers, self.seconds) if side is not None]
        return any(len(np.unique(scores[~np.isnan(scores)])) > 1 for scores in sides)

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

    def _point(
        self,
        point: Point,
        name: str = "policy",
        *,
        drawn: float = 1.0,
        among: np.ndarray | None = None,
    ) -> CurvePoint:
        part = self.locked if among is None else among
        return CurvePoint.of(
            name,
            point,
            rated=int((part & self._rated).sum()),
            is_share=self.promise.bound is not None,
            drawn=drawn,
        )

    def _curve(self, controlled: Controlled) -> Iterator[CurvePoint]:
        """Yield the policy's points, and those of confidences that know nothing."""
        yield from map(self._point, controlled.curve)
        if not controlled.curve:
            return
        for point in controlled.curve[:-1]:
            yield self._point(controlled.curve[-1], "random", drawn=point.coverage)
        nulls = {"length": -self.data.words}
        if self.data.outputs.systems > 1:
            nulls["who wrote it"] = self.answers.losses.confidence_by_system
        for name, values in nulls.items():
            stakes = self._stakes(values)
            for threshold in thresholds_of(stakes.confidence[stakes.training])[:-1]:
                yield self._point(point_at(stakes, threshold, stakes.locked), name)

    def _by_value(
        self, stakes: Stakes, kept: CurvePoint | None
    ) -> tuple[dict[str, CurvePoint], int, int]:
        """Return what is kept of the locked documents of each value, those with most first; of how
        many values there are too few rated ones; and how many outputs have no value.

        Raises:
            PolicyError: too many values have enough of them.
        """
        if kept is None or not self.field:
            return {}, 0, 0
        of_field = np.array(self.of_field, dtype=object)
        parts = {
            value: stakes.locked & (of_field == value) for value in dict.fromkeys(self.of_field)
        }
        valueless = int(parts.pop("", np.zeros(0)).sum())
        units, rated = self.outputs.clustered, self._rated
        counts = {each: int(units.documents_with(parts[each] & rated).sum()) for each in parts}
        shown = [each for each in parts if counts[each] >= INTERVAL_DOCUMENTS]
        if len(shown) > MOST_VALUES:
            raise PolicyError(
                f"{self.field} has {len(shown)} values; a promise is shown by a field with at most"
                f" {MOST_VALUES}."
            )
        by_value = {
            each: self._point(point_at(stakes, _least(kept), parts[each]), among=parts[each])
            for each in sorted(shown, key=lambda each: -counts[each])
        }
        return by_value, len(counts) - len(shown), valueless

    @property
    def _unit(self) -> str:
        return "document" if self.outputs.group is None else "group"

    def _fails(self, stakes: Stakes, kept: CurvePoint | None) -> CurvePoint | None:
        """Return kept answers that fail an output, and how many of these people pass; None where
        there are none, or the promise is about them, too."""
        if kept is None or self.promise.kind != PromiseKind.FALSE_PASSES:
            return None
        least, sides = _least(kept), [self.answers, self.seconds or self.answers]
        is_first = self.answers.confidence >= least
        fails = np.where(
            is_first, *(each.scores < (each.losses.mark or 0.0) for each in sides)
        ).astype(bool)
        doubt = np.where(is_first, *(each.losses.doubt for each in sides))
        at = stakes.at(least)
        # What passes is never kept, so that only fails are counted.
        sure = np.where(fails | np.isnan(at.confidence), at.confidence, -np.inf)
        failed = replace(at, confidence=sure, loss=np.where(fails, doubt, np.nan))
        point = self._point(
            point_at(failed, max(least, float(np.nanmin(at.confidence))), at.locked), "fails"
        )
        firsts = failed.locked & is_first & fails
        by_first = float(firsts.sum() / max(1, (at.locked & ~np.isnan(at.confidence)).sum()))
        return replace(point, by_first=by_first) if point.coverage else None

    def _decisions(self, kept: CurvePoint | None) -> Iterator[OutputDecision]:
        """Yield a decision for each output: of those that go to people, with the first judge's
        answer."""
        least = _least(kept)
        sides = [(self.first.judge.label, self.answers)]
        if self.second is not None and self.seconds is not None:
            sides.append((self.second.judge.label, self.seconds))
        for output in range(len(self.outputs)):
            sure = (each for each in sides if each[1].confidence[output] >= least)
            judge, side = next(sure, None) or sides[0]
            answer, confidence = side.losses.answers[output], side.confidence[output]
            yield OutputDecision(
                *self.data.name_of(output),
                judge,
                None if np.isnan(answer) else float(answer),
                None
                if side.losses.mark is None or np.isnan(side.scores[output])
                else bool(side.scores[output] >= side.losses.mark),
                None if np.isnan(confidence) else float(confidence),
                kept is not None and bool(confidence >= least),
            )


def _least(kept: CurvePoint | None) -> float:
    """Return the threshold of what is kept."""
    return -np.inf if kept is None or kept.threshold is None else kept.threshold


def _pairs(answers: KeptAnswers | None) -> tuple[tuple[float, float], ...]:
    """Return the scores of a judge with what they are worth on people's scale."""
    calibration = answers and answers.losses.calibration
    return calibration.pairs if calibration else ()


def _error(point: Point) -> float:
    return np.inf if point.error.value is None else point.error.value
