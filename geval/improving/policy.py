"""The result of `geval.policy`: what a judge decides, what goes to people, and what is promised."""

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from geval.improving.promises import Promise, PromiseKind, parse_promise
from geval.statistics.risk_control import Point
from geval.statistics.scales import short
from geval.statistics.thresholds import AFFORDABLE_DOCUMENTS, INTERVAL_DOCUMENTS
from geval.texts.numbers import counted, money, thin, with_decimals

TOO_FEW = "too few {}s are rated"
# A share of outputs that is printed as 0.
LITTLE = 0.005
# What answers that were stored earlier do not have.
LATER: Mapping[str, Any] = {
    "second": "", "kept_by_first": None, "second_calibration": (), "mark": None,
    "second_mark": None, "unit": "document", "valueless": 0,
}  # fmt: skip


@dataclass(frozen=True)
class CurvePoint:
    """The coverage and the error on locked documents of a threshold, for the `policy`, for `random`
    checks, or for a confidence that knows only the `length` or `who wrote it`.

    `error` is a share of the `outputs` where an error is possible, or (as one person) in points
    that answers are farther from people than one person; each of its ends errs in at most 5 %.
    `remaining` is the share of errors in all outputs, if people are right; None where an error is
    no share. `threshold` is None where all answers are kept.
    """

    confidence: str
    threshold: float | None
    coverage: float
    coverage_low: float
    coverage_high: float
    error: float | None
    error_low: float | None
    error_high: float | None
    outputs: int
    remaining: float | None

    @classmethod
    def of(
        cls, confidence: str, point: Point, *, coverage: float | None, rated: int, is_share: bool
    ) -> Self:
        """
        Args:
            coverage: where only so much is kept, drawn at random.
            rated: locked outputs with ratings and answers, kept or not.
        """
        threshold = point.threshold if math.isfinite(point.threshold) else None
        of, drawn = point.error, 1.0 if coverage is None else coverage
        remaining = drawn * (of.value or 0.0) * of.outputs / max(1, rated) if is_share else None
        return cls(
            confidence, threshold, point.coverage if coverage is None else coverage,
            point.coverage_low, point.coverage_high, of.value, of.low, of.high, of.outputs,
            remaining,
        )  # fmt: skip


@dataclass(frozen=True)
class KeptFails:
    """Kept answers that fail an output, of which few false passes promises nothing: their `share`
    of locked outputs, and the share of them that people pass, with its interval, by the rated
    `outputs` (None without)."""

    share: float
    wrong: float | None
    low: float | None
    high: float | None
    outputs: int

    @property
    def sentence(self) -> str:
        count = thin(1000 * self.share)
        if self.wrong is None:
            shown = "nobody rated these"
        else:
            shown = f"people pass {percents(self.wrong)} {ends_of_share(self.low, self.high)}"
            shown = f"{shown.rstrip()} of these"
        return (
            f"Its fails are outside the promise: of 1,000 outputs it fails {count}, and {shown}."
            " Let people check its fails."
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


@dataclass(frozen=True)
class Policy:
    """Which answers of a judge on a criterion are kept: those with at least some `confidence`;
    where it has less, those of a `second` judge ("" for none). People are asked about the rest.

    `kept` is the point of the curve that is promised, `kept_by_first` the share of outputs that the
    first judge decides; None where nothing can be promised: then `reason` says why, or
    `more_documents` that have to be rated. `fails` are kept answers that the promise leaves out;
    None where it has none. `mark` and `second_mark` are the scores from which each judge passes an
    output, None on other scales. `calibration` are scores and what they are worth on people's
    scale, where these values are kept; `second_calibration` those of the second judge. `training`
    and `locked` count rated documents, or groups of them; without `is_locked` these were only held
    out, for one question. `curve` has rows for a data frame, as has `outputs`, with each decision.
    `unit` is what these are called, "document" or "group".
    `by_value` has what is kept of the locked documents of each value of `field`; `small` values
    have fewer than INTERVAL_DOCUMENTS rated ones, and `valueless` locked outputs no value.
    `seconds` and `price` are those of a rating.
    """

    criterion: str
    judge: str
    second: str
    promise: Promise
    confidence: str
    kept: CurvePoint | None
    kept_by_first: float | None
    fails: KeptFails | None
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
    outputs: tuple[OutputDecision, ...] = dataclasses.field(repr=False)
    ratings_per_output: float
    seconds: float | None
    price: float | None
    notes: tuple[str, ...]

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
        asks_second = self.second and self.kept_by_first is not None
        return {
            "calls": 1000 if self.kept else 0,
            "second_calls": 1000 * (1 - (self.kept_by_first or 0.0)) if asks_second else 0,
            "outputs": outputs,
            "ratings": ratings,
            "minutes": None if self.seconds is None else ratings * self.seconds / 60,
            "money": None if self.price is None else ratings * self.price,
        }

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
            ends = self.kept.coverage_low, self.kept.coverage_high
            whose = "their" if self.second else "its"
            kept = f"{percents(self.kept.coverage)} {ends_of_share(*ends)}".rstrip()
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
            yield f"Of 1,000 outputs, {self._effort()}."
            if self.fails is not None:
                yield self.fails.sentence
            if left := self.remaining:
                yield (
                    f"{self.promise.error_name} left in all outputs, if people are right:"
                    f" {percents(left[0])}; with as many checks at random {percents(left[1])}."
                )
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
        if self.small:
            yield (
                f"Not shown: {counted(self.small, 'value')} of {self.field} with fewer than"
                f" {INTERVAL_DOCUMENTS} rated {locked_word(self.is_locked)} {self.unit}s."
            )
        if self.valueless:
            yield (
                f"Not shown: {counted(self.valueless, 'output')} without a value of {self.field}."
            )
        training = counted(self.training, f"training {self.unit}")
        yield f"{training}, {self.locked} {locked_word(self.is_locked)}."
        yield from self.notes

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
        first = self.kept_by_first or 0.0
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
    def remaining(self) -> tuple[float, float] | None:
        """The share of errors left in all outputs, and with as many checks at random; None without
        a promise, and where an error is no share."""
        if self.kept is None or self.kept.remaining is None:
            return None
        whole = next(point for point in reversed(self.curve) if point.confidence == "policy")
        return self.kept.remaining, (whole.remaining or 0.0) * self.kept.coverage

    def error_of(self, point: CurvePoint) -> str:
        """Format the error of a point."""
        return error_of(self.promise, point.error or 0.0, point.error_low, point.error_high)

    def _effort(self) -> str:
        effort = self.per_1000
        outputs, ratings = (thin(effort[name] or 0.0) for name in ("outputs", "ratings"))
        parts = [f"{outputs} go to people ({ratings} ratings"]
        if self.second:
            second = thin(effort["second_calls"] or 0.0)
            parts = [f"{second} go to {self.second}, and {parts[0]}"]
        if (minutes := effort["minutes"]) is not None:
            parts.append(f"{thin(minutes)} minutes")
        if (amount := effort["money"]) is not None:
            parts.append(money(amount))
        return f"{', '.join(parts)})"

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
        """Return what `to_dict` wrote, without outputs."""
        kept, fails, points = content["kept"], content["fails"], content["by_value"]
        read: dict[str, Any] = {
            "promise": parse_promise(content["promise"]),
            "kept": kept and CurvePoint(**kept),
            "fails": fails and KeptFails(**fails),
            "curve": tuple(CurvePoint(**row) for row in content["curve"]),
            "by_value": {value: CurvePoint(**row) for value, row in points.items()},
            "outputs": (),
        }
        names = {each.name for each in dataclasses.fields(cls)} - read.keys()
        return cls(**read, **{name: {**LATER, **content}[name] for name in names})

    def to_json(self) -> str:
        """Return the same as `to_dict`."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


def locked_word(is_locked: bool) -> str:
    """Return what documents are called that prove a promise."""
    return "locked" if is_locked else "held out"


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


def percents(share: float) -> str:
    """Format a share in percents, with a decimal where it is small."""
    return f"{100 * share:.{1 if share < 0.1 else 0}f} %"


def ends_of_share(low: float | None, high: float | None) -> str:
    """Format an interval of shares; empty where there is none."""
    if low is None or high is None or low == high:
        return ""
    return f"[{percents(low)}, {percents(high)}]"


def error_of(promise: Promise, error: float, low: float | None, high: float | None) -> str:
    """Format an error of kept answers with its interval: a share, or points."""
    if promise.kind != PromiseKind.ONE_PERSON:
        return f"{percents(error)} {ends_of_share(low, high)}".rstrip()
    shown = ", ".join(with_decimals(end) for end in (low, high) if end is not None)
    brackets = f" [{shown}]" if shown else ""
    return f"{with_decimals(error)}{brackets} points farther from people than one person"
