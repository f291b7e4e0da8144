"""`geval.policy`: which outputs a judge may decide, which go to people, and what error remains."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np

from geval.improving.confidence import Confidence, JudgeScores, choose_confidence
from geval.improving.improving import criterion_in, judge_in, judge_named, refuse_unnamed
from geval.improving.lock_file import LockFile, draw_lock, lock_file
from geval.improving.policy import CurvePoint, OutputDecision, Policy
from geval.improving.promises import Promise, PromiseLosses, losses_of, parse_promise
from geval.improving.proving import LookResult
from geval.measuring.gathering import Criterion, Gathered, ImportedJudge, gathered
from geval.measuring.inputs import InputError, Source
from geval.measuring.measurement import Measurement
from geval.measuring.measuring import Ends, read_source
from geval.measuring.reading import Ask, Naming, as_names, nobody
from geval.reports.human_scores import HumanScores
from geval.reports.samples import about_proof
from geval.statistics.arrays import Outputs
from geval.statistics.held_out_test import confidence_of
from geval.statistics.locked_rule import SHARE, can_lock_groups
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
    AFFORDABLE_DOCUMENTS,
    LOCKED_DOCUMENTS,
    TRAINING_DOCUMENTS,
)
from geval.statistics.types import FloatArray

ASKED_ONCE = (
    "This holds for one question: each further one about the same documents may err, too. locked="
    " (--locked) counts them."
)
NOTHING_VARIES = "the judge gives every output the same score"
NULL_AS_GOOD = "answers that only know who wrote an output are not shown to be worse"
NOT_GOOD_ENOUGH = "over all rated documents its error is too high at every confidence"
TOO_NEAR = "its error is so near to the promise that no affordable number of documents shows it"


def policy(
    source: Source,
    *,
    promise: str,
    human: str | list[str] | None = None,
    judge: str | None = None,
    second: str | list[str] | None = None,
    criterion: str | None = None,
    document: str | None = None,
    system: str | None = None,
    group: str | None = None,
    scale: Ends | Mapping[str, Ends] | None = None,
    locked: str | PathLike[str] | None = None,
    seconds: float | None = None,
    price: float | None = None,
    sheet: str = "",
    ask: Ask = nobody,
) -> Policy:
    """Return from which confidence on a judge's answers are kept, and what is promised of them.

    A measure of confidence and the thresholds are chosen on training documents, and the promise is
    proven on locked ones (`geval.statistics.risk_control`). No model is called.

    Args:
        source: as for `measure`; or a result of `measure` or `evaluate`.
        promise: "as one person" (needs two raters per output), "within 0.5" (any number of points),
            or "few false passes" (criteria that outputs pass or fail): of the outputs that it keeps
            and passes, people fail at most 5 %.
        human: the columns with people's ratings, or the people who count.
        judge: the judge whose answers are kept; by default the only one.
        second: other judges, whose agreement is tried as confidence; by default all in the source.
        criterion, document, system, group, scale, sheet, ask: as for `measure`.
        locked: the file of `improve` with the locked documents; counts this question as a look.
            Without it, the documents' names determine which 40 % are locked.
        seconds, price: of one rating by a person.

    Raises:
        InputError: something cannot be read, or must be given; the message says what.
        ImproveError: all looks at the locked documents are used.

    >>> import geval
    >>> table = [
    ...     {"id": n, "judge": n % 3 > 0, "human": n % 3 > 0, "length": n % 7} for n in range(400)
    ... ]
    >>> result = geval.policy(table, promise="few false passes", human="human", judge="judge",
    ...                       document="id")
    >>> result.is_promised, result.kept.coverage
    (True, 1.0)
    """
    wanted = parse_promise(promise)
    for name, value in (("seconds", seconds), ("price", price)):
        if value is not None and not 0 <= value < np.inf:
            raise InputError(f"The {name} of a rating is 0 or more, not {value}.")
    measured = getattr(source, "with_others", source)
    if isinstance(measured, Measurement):
        if human or document or system or group or scale or sheet:
            raise InputError("These outputs are measured already: name their columns there.")
        parts = measured.gathered
        judge = judge or getattr(source, "judge", None)
    else:
        named = (*as_names(judge), *as_names(second)) if second or human else ()
        naming = Naming(
            as_names(human), tuple(dict.fromkeys(named)), criterion or "", document or "",
            system or "", group=group or "",
        )  # fmt: skip
        content = read_source(
            source, naming, scale=scale, sheet=sheet, ask=ask, every_judge=not second,
            by_column=True,
        )  # fmt: skip
        parts = gathered(content.rows, content.scales)
    about, today = criterion_in(parts, criterion or ""), judge_in(parts, judge or "")
    others = [judge_named(parts.judges, name) for name in as_names(second)] or parts.judges
    data = parts.data
    if (about.pk, today.pk) not in data.judges:
        raise InputError(f"{today.name} has no scores on {about.name}.")
    by_group = can_lock_groups(data.unit_names, data.groups if data.are_groups_given else ())
    if locked is None:
        lock = draw_lock(Path(), data.names_of_units, by_group=by_group, share=SHARE, looks=1)
    else:
        refuse_unnamed(parts, document)
        lock = lock_file(Path(locked), data.names_of_units, by_group=by_group).kept()
    question = _Question(parts, about, today, others, wanted, lock, _distributions(source, today))
    result = question.answer(seconds, price, (ASKED_ONCE,) if locked is None else ())
    if locked is not None and result.curve:
        _take_look(question, result)
    return result


def _distributions(
    source: Source, judge: ImportedJudge
) -> dict[tuple[str, str], Mapping[float, float]]:
    """Return the distributions of an evaluation's scores, by document and system; empty for
    another source."""
    if not hasattr(source, "with_others") or source.judge != judge.name:
        return {}
    return {(each.document, each.system): each.distribution for each in source.scores}


@dataclass(frozen=True, eq=False)
class _Question:
    """A judge on a criterion, a promise, and which documents are locked. `evaluated` are
    distributions of scores by document and system, next to those of replies in files."""

    parts: Gathered
    criterion: Criterion
    judge: ImportedJudge
    others: Sequence[ImportedJudge]
    promise: Promise
    lock: LockFile
    evaluated: Mapping[tuple[str, str], Mapping[float, float]]

    @property
    def human(self) -> HumanScores:
        return self.parts.data.humans[self.criterion.pk]

    @property
    def scores(self) -> FloatArray:
        """The judge's, shape (outputs,), NaN for missing."""
        return self.parts.data.judges[self.criterion.pk, self.judge.pk]

    @cached_property
    def outputs(self) -> Outputs:
        return self.parts.data.units.weighted(self.human.weight)

    @cached_property
    def locked(self) -> np.ndarray:
        """The outputs of locked documents, as a mask."""
        return self.parts.data.locked_units(self.lock.among)[self.outputs.document]

    @cached_property
    def losses(self) -> PromiseLosses:
        return losses_of(
            self.promise, self.human, self.scores, outputs=self.outputs, training=~self.locked,
            scale=self.criterion.scale,
        )  # fmt: skip

    @cached_property
    def confidence(self) -> Confidence:
        """The chosen one; the same for all answers where nothing tells them apart."""
        data, about, scale = self.parts.data, self.criterion.pk, self.criterion.scale
        read = self.parts.distributions.get((about, self.judge.pk), {})
        judged = JudgeScores(
            scores=self.scores,
            distributions=[
                self.evaluated.get(data.name_of(output)) if self.evaluated else read.get(output)
                for output in range(len(self.scores))
            ],
            others={
                each.name: data.judges[about, each.pk]
                for each in self.others
                if each != self.judge and (about, each.pk) in data.judges
            },
            ends=(scale.lowest, scale.highest),
            reach=self.promise.distance or scale.step / 2,
            mark=self.losses.mark,
            doubt=self.losses.doubt,
            cluster=self.outputs.clustered.document,
            training=~self.locked,
        )
        nothing = Confidence("", np.where(np.isnan(self.scores), np.nan, 0.0))
        return choose_confidence(judged) or nothing

    @cached_property
    def rated(self) -> tuple[int, int]:
        """How many training and locked documents, or groups, have ratings and scores."""
        rated, units = ~np.isnan(self.losses.doubt), self.outputs.clustered
        training, locked = (
            int(units.documents_with(rated & side).sum()) for side in (~self.locked, self.locked)
        )
        return training, locked

    def stakes(self, confidence: FloatArray) -> Stakes:
        losses = self.losses
        return Stakes(
            self.outputs, np.where(np.isnan(self.scores), np.nan, confidence), losses.loss,
            losses.null, losses.null_confidence, ~self.locked, self.locked, self.promise.bound,
        )  # fmt: skip

    def answer(self, seconds: float | None, price: float | None, notes: tuple[str, ...]) -> Policy:
        stakes, counts = self.stakes(self.confidence.values), self.human.ratings.count
        error = 1 - confidence_of(self.lock.looks_allowed, 1)
        controlled, reason, more = Controlled(), NOTHING_VARIES, self._lacking()
        if more:
            reason = "too few documents are rated"
        elif len(np.unique(self.scores[~np.isnan(self.scores)])) > 1:
            controlled = control(stakes, error=error)
            reason, more = self._why_not(controlled, error)
        at, calibration = controlled.proven, self.losses.calibration
        kept = None if at is None else self._named("policy", controlled.curve[at])
        return Policy(
            criterion=self.criterion.name,
            judge=self.judge.name,
            promise=self.promise,
            confidence=self.confidence.name,
            kept=kept,
            reason=reason,
            more_documents=more,
            calibration=calibration.pairs if calibration else (),
            training=self.rated[0],
            locked=self.rated[1],
            curve=tuple(self._curve(controlled)),
            outputs=tuple(self._decisions(kept)),
            ratings_per_output=float(counts[counts > 0].mean()) if counts.any() else 1.0,
            seconds=seconds,
            price=price,
            notes=(*about_proof(self.human), *notes),
        )

    def _lacking(self) -> int | None:
        """Return how many more documents have to be rated before anything can be tested."""
        (training, locked), share = self.rated, self.lock.share
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
            pairs = zip(controlled.rehearsed, controlled.curve, strict=True)
            errors = [max(_error(point) for point in pair) for pair in pairs]
            is_good = min(errors) < (self.promise.bound or 0.0)
            return NULL_AS_GOOD if is_good else NOT_GOOD_ENOUGH, None
        more = max(1, int(np.ceil(needed / self.lock.share)) - sum(self.rated))
        return (TOO_NEAR, None) if more > AFFORDABLE_DOCUMENTS else ("", more)

    def _named(self, name: str, point: Point, coverage: float | None = None) -> CurvePoint:
        rated = int((self.locked & ~np.isnan(self.losses.doubt)).sum())
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
        nulls = {"length": -self.parts.data.words}
        if self.parts.data.outputs.systems > 1:
            nulls["who wrote it"] = self.losses.confidence_by_system
        for name, values in nulls.items():
            stakes = self.stakes(values)
            for threshold in thresholds_of(stakes.confidence[stakes.training])[:-1]:
                yield self._named(name, point_at(stakes, threshold, stakes.locked))

    def _decisions(self, kept: CurvePoint | None) -> Iterator[OutputDecision]:
        least = -np.inf if kept is None or kept.threshold is None else kept.threshold
        sides = (self.losses.answers, self.confidence.values)
        for output, (answer, sure) in enumerate(zip(*sides, strict=True)):
            yield OutputDecision(
                *self.parts.data.name_of(output),
                None if np.isnan(answer) else float(answer),
                None if np.isnan(sure) else float(sure),
                kept is not None and not np.isnan(answer) and bool(sure >= least),
            )


def _error(point: Point) -> float:
    return np.inf if point.error.value is None else point.error.value


def _take_look(question: _Question, result: Policy) -> None:
    """Count this question in the lock's file; asking it again does not.

    Raises:
        ImproveError: all looks are used.
    """
    about = {"judge": result.judge, "criterion": result.criterion, "change": "policy",
             "title": str(result.promise)}  # fmt: skip
    values = np.stack([question.losses.loss, question.scores, question.locked], axis=1).round(9)
    names = map(question.parts.data.name_of, range(len(values)))
    lines = sorted(f"{name}{row.tolist()}" for name, row in zip(names, values, strict=True))
    digest = hashlib.sha256("\0".join([*about.values(), result.confidence, *lines]).encode())
    kept = result.kept
    look = LookResult(
        measure="policy", outcome="kept" if kept else "cannot promise", documents=result.locked,
        value=kept.error if kept else None, today=None, gain=kept.coverage if kept else None,
        low=kept.error_low if kept else None, high=kept.error_high if kept else None,
        confidence=confidence_of(question.lock.looks_allowed, 1), reason=result.reason,
        ranked=None, constant=None,
    )  # fmt: skip
    question.lock.look(digest.hexdigest(), about, lambda: look)
