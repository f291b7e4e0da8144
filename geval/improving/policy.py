"""The result of `geval.policy`: what a judge decides, what goes to people, and what is promised."""

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BeforeValidator, TypeAdapter

from geval.improving.promises import Promise, PromiseKind, parse_promise
from geval.statistics.risk_control import Point
from geval.statistics.scales import short
from geval.statistics.thresholds import AFFORDABLE_DOCUMENTS, INTERVAL_DOCUMENTS
from geval.texts.numbers import counted, in_percents, money, percents, thin, with_decimals

TOO_FEW = "too few {}s are rated"
# A share of outputs that is printed as 0.
LITTLE = 0.005


@dataclass(frozen=True)
class CurvePoint:
    """The coverage and the error on locked documents of a threshold, for the `policy`, for `random`
    checks, or for a confidence that knows only the `length` or `who wrote it`.

    The first judge keeps `by_first` of the outputs, and the second one the rest of `coverage`.
    `error` is a share of the `outputs` where an error is possible, or (as one person) in points
    that answers are farther from people than one person; each of its ends errs in at most 5 %.
    `remaining` is the share of errors in all outputs, if people are right; None where an error is
    no share. `threshold` is None where all answers are kept, as without a policy.
    """

    confidence: str
    threshold: float | None
    coverage: float
    coverage_low: float
    coverage_high: float
    by_first: float
    error: float | None
    error_low: float | None
    error_high: float | None
    outputs: int
    remaining: float | None

    @classmethod
    def of(
        cls, confidence: str, point: Point, *, rated: int, is_share: bool, drawn: float = 1.0
    ) -> Self:
        """
        Args:
            rated: locked outputs with ratings and answers, kept or not.
            drawn: the share of what the threshold keeps that is kept at random.
        """
        of = point.error
        remaining = drawn * (of.value or 0.0) * of.outputs / max(1, rated) if is_share else None
        return cls(
            confidence,
            point.threshold if math.isfinite(point.threshold) else None,
            drawn * point.coverage,
            drawn * point.coverage_low,
            drawn * point.coverage_high,
            drawn * point.by_first,
            of.value,
            of.low,
            of.high,
            of.outputs,
            remaining,
        )


class OutputDecision(NamedTuple):
    """An output, a judge and its answer (its score, or this on people's scale), whether it passes
    the output, and its confidence, None where missing, and whether it is kept; otherwise people are
    asked."""

    document: str
    system: str
    judge: str
    answer: float | None
    passes: bool | None
    confidence: float | None
    is_kept: bool


def _promise(value: Any) -> Any:
    return parse_promise(value) if isinstance(value, str) else value


@dataclass(frozen=True)
class Policy:
    """Which answers of a judge on a criterion are kept: those with at least some `confidence`;
    where it has less, those of a `second` judge ("" for none). People are asked about the rest.

    `kept` is the point of the curve that is promised; None where nothing can be promised: then
    `reason` says why, or `more_documents` that have to be rated. `fails` are kept answers that fail
    an output, where the promise leaves them out: their error is that people pass it. `mark` and
    `second_mark` are the scores from which each judge passes an output, None on other scales.
    `calibration` are scores and what they are worth on people's scale, where these values are kept;
    `second_calibration` those of the second judge. `training` and `locked` count rated documents,
    or groups of them, as `unit` says; without `is_locked` these were only held out, for one
    question. `curve` has rows for a data frame, as has `outputs`, with each decision. `by_value`
    has what is kept of the locked documents of each value of `field`; `small` values have fewer
    than INTERVAL_DOCUMENTS rated ones, and `valueless` locked outputs no value. `seconds` and
    `price` are those of a rating.
    """

    criterion: str
    judge: str
    second: str
    promise: Annotated[Promise, BeforeValidator(_promise)]
    confidence: str
    kept: CurvePoint | None
    fails: CurvePoint | None
    mark: float | None
    second_mark: float | None
    reason: str
    more_documents: int | None
    calibration: tuple[tuple[float, float], ...]
    second_calibration: tuple[tuple[float, float], ...]
    training: int
    locked: int
    is_locked: bool
    curve: tuple[CurvePoint, ...] = dataclasses.field(repr=False)
    field: str
    by_value: Mapping[str, CurvePoint]
    small: int
    valueless: int
    unit: str
    ratings_per_output: float
    seconds: float | None
    price: float | None
    notes: tuple[str, ...]
    outputs: tuple[OutputDecision, ...] = dataclasses.field(default=(), repr=False)

    @property
    def is_promised(self) -> bool:
        return self.kept is not None

    @property
    def per_1000(self) -> dict[str, float | None]:
        """What 1,000 outputs take: `calls` of the judge and `second_calls`, `outputs` that go to
        people, their `ratings`, `minutes` and `money` (None where unknown). Without a promise all
        go to them."""
        outputs = 1000 * (1 - self.kept.coverage) if self.kept else 1000.0
        ratings = outputs * self.ratings_per_output
        return {
            "calls": 1000 if self.kept else 0,
            "second_calls": 1000 * (1 - self.kept.by_first) if self.kept and self.second else 0,
            "outputs": outputs,
            "ratings": ratings,
            "minutes": None if self.seconds is None else ratings * self.seconds / 60,
            "money": None if self.price is None else ratings * self.price,
        }

    @property
    def question(self) -> str:
        """What was asked: the promise, and the second judge."""
        return f"{self.promise}, then {self.second}" if self.second else str(self.promise)

    @property
    def more_in_words(self) -> str:
        """How many more documents, or groups, have to be rated; empty if that is not why."""
        if self.more_documents is None:
            return ""
        is_least = self.reason == TOO_FEW.format(self.unit)
        return more_to_rate(self.more_documents, self.unit, least=is_least)

    @property
    def headline(self) -> str:
        """The result in a sentence."""
        judges = f"{self.judge}, then {self.second}" if self.second else self.judge
        about = f"{judges} on {self.criterion}"
        if self.kept is not None:
            ends = in_percents(self.kept.coverage_low, self.kept.coverage_high)
            whose = "their" if self.second else "its"
            kept = f"{percents(self.kept.coverage)} {ends}".rstrip()
            return f"{about}: keep {kept} of {whose} answers; {self.promise.sentence}."
        if self.more_documents is not None:
            more = self.more_in_words
            why = f" ({self.reason})" if self.reason else ""
            return f'{about}: cannot promise "{self.promise}" yet; it takes {more}{why}.'
        return f'{about}: cannot promise "{self.promise}": {self.reason}.'

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"  {line}" for line in self._lines())])

    # In a notebook or a shell, a result is read, not its fields.
    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        if self.kept is not None:
            yield f"Error of what is kept: {self.error_of(self.kept)}."
            yield self.rule
            yield f"1,000 outputs take {self._effort()}."
            yield from filter(None, (self.about_fails, self.beside))
        else:
            whole_curve = [each for each in self.curve if each.confidence == "policy"]
            for each in (*whole_curve[:1], *whole_curve[1:][-1:]):
                whose = " of the first judge's" if self.second and each.threshold is None else ""
                if each.error is not None:
                    kept = f"{percents(each.coverage)}{whose}"
                    yield f"Keeping {kept}: error {self.error_of(each)}."
        for value, point in self.by_value.items():
            error = "no error can be shown" if point.error is None else self.error_of(point)
            yield f"{self.field} {value}: keeps {percents(point.coverage)}; error {error}."
        yield from self.not_shown
        yield self.proven_on
        yield from self.notes

    @property
    def not_shown(self) -> Iterator[str]:
        """Which values of the field have no line of their own, as sentences."""
        if self.small:
            yield (
                f"Not shown: {counted(self.small, 'value')} of {self.field} with fewer than"
                f" {INTERVAL_DOCUMENTS} rated {self._locked_word} {self.unit}s."
            )
        if self.valueless:
            yield (
                f"Not shown: {counted(self.valueless, 'output')} without a value of {self.field}."
            )

    @property
    def proven_on(self) -> str:
        """How many documents chose and proved, as a sentence."""
        training = counted(self.training, f"training {self.unit}")
        return f"{training}, {thin(self.locked)} {self._locked_word}."

    @property
    def _locked_word(self) -> str:
        return "locked" if self.is_locked else "held out"

    @property
    def about_fails(self) -> str:
        """What kept answers are outside the promise, as a sentence; empty where none are."""
        if self.fails is None:
            return ""
        shown = "nobody rated these"
        if self.fails.error is not None:
            shown = f"people pass {self.error_of(self.fails)} of these"
        return (
            f"Its fails are outside the promise: of 1,000 outputs it fails"
            f" {thin(1000 * self.fails.coverage)}, and {shown}. Let people check its fails."
        )

    @property
    def rule(self) -> str:
        """Which answers are kept, as a sentence; empty where nothing is promised."""
        if self.kept is None:
            return ""
        return f"{self._which()}{self._marks()}"

    def _which(self) -> str:
        assert self.kept is not None
        if self.kept.threshold is None:
            return "Keep every answer."
        sure = f"{self.confidence}, {with_decimals(self.kept.threshold, 3)} or more"
        if not self.second:
            return f"Keep answers by confidence ({sure}); ask people about the others."
        first = self.kept.by_first
        alone = f" {self.judge} decides next to nothing: ask for a promise by {self.second} alone."
        return (
            f"Keep answers by confidence ({sure}): {percents(first)} are the first judge's. Ask"
            f" {self.second} about the others, keep its answers by the same rule, and ask people"
            f" about the rest.{alone if first < LITTLE else ''}"
        )

    def _marks(self) -> str:
        """From which score each judge passes an output, as sentences; empty on other scales."""
        marks = {self.judge: self.mark} | ({self.second: self.second_mark} if self.second else {})
        return "".join(
            f" {judge} passes from {short(mark)} on."
            for judge, mark in marks.items()
            if mark is not None
        )

    @property
    def remaining(self) -> tuple[float, float, float] | None:
        """The share of errors left in all outputs, with as many checks at random, and without a
        policy, where all answers are kept; None without a promise, and where an error is no
        share."""
        if self.kept is None or self.kept.remaining is None:
            return None
        whole = next(point for point in reversed(self.curve) if point.confidence == "policy")
        everything = whole.remaining or 0.0
        return self.kept.remaining, everything * self.kept.coverage, everything

    @property
    def beside(self) -> str:
        """What is left beside random checks and no policy, as a sentence; empty where nothing can
        be compared."""
        if self.remaining is None:
            return ""
        left, drawn, everything = map(percents, self.remaining)
        return (
            f"{self.promise.error_name} left in all outputs, if people are right: {left}; with as"
            f" many checks at random {drawn}; without a policy {everything}."
        )

    def error_of(self, point: CurvePoint) -> str:
        """Format the error of a point."""
        return error_of(self.promise, point.error or 0.0, point.error_low, point.error_high)

    def _effort(self) -> str:
        effort = {name: amount or 0.0 for name, amount in self.per_1000.items()}
        parts = [f"{counted(round(effort['ratings']), 'rating')}"]
        if self.seconds is not None:
            parts.append(f"{thin(effort['minutes'])} minutes")
        if self.price is not None:
            parts.append(money(effort["money"]))
        calls = f"{thin(effort['calls'])} calls of {self.judge}"
        if self.second:
            calls = f"{calls}, {thin(effort['second_calls'])} of {self.second}"
        return f"{calls}, and {thin(effort['outputs'])} go to people ({', '.join(parts)})"

    def to_dict(self) -> dict[str, Any]:
        """Return everything, with rows for the curve and for all outputs."""
        return asdict(self) | {
            "promise": str(self.promise),
            "headline": self.headline,
            "is_promised": self.is_promised,
            "per_1000": self.per_1000,
            "outputs": [each._asdict() for each in self.outputs],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return what `to_dict` wrote.

        Raises:
            ValueError: it is no such answer.
        """
        return TypeAdapter(cls).validate_python(content)

    def to_json(self) -> str:
        """Return the same as `to_dict`."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


def more_to_rate(count: int, unit: str = "document", *, least: bool = False) -> str:
    """Format how many more documents have to be rated; beyond what anybody rates, only that.

    Args:
        unit: what they are called.
        least: whether so many are needed before anything can be tested.
    """
    if count > AFFORDABLE_DOCUMENTS:
        return f"more than {thin(AFFORDABLE_DOCUMENTS)} more rated {unit}s"
    about = "at least" if least else "about"
    return f"{about} {counted(count, f'more rated {unit}')}"


def error_of(promise: Promise, error: float, low: float | None, high: float | None) -> str:
    """Format an error of kept answers with its interval: a share, or points."""
    if promise.kind != PromiseKind.ONE_PERSON:
        return f"{percents(error)} {in_percents(low, high)}".rstrip()
    shown = ", ".join(with_decimals(end) for end in (low, high) if end is not None)
    brackets = f" [{shown}]" if shown else ""
    return f"{with_decimals(error)}{brackets} points farther from people than one person"
