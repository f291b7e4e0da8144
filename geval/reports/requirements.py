"""Requirements of a certificate, such as `spearman.summary.low>=0.45`, and whether figures meet
them. Pure: text and numbers in, an outcome with its reason out.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum

from geval.statistics.correlation import COEFFICIENTS, LEVELS
from geval.statistics.null_judges import is_met
from geval.statistics.projection import documents_for
from geval.statistics.thresholds import AFFORDABLE_DOCUMENTS
from geval.texts.numbers import with_decimals

_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_WRITTEN = re.compile(
    r"\s*([a-z_.]+)\s*(?:(>=|<=|>|<)\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*)?",
)
# Requirements that are claims, without a number.
CLAIMS = {
    "alt_test.passed": "the judge passes the alternative annotator test",
    "verdict.stands_in": "the verdict is “Stands in for a rater”",
    "verdict.agrees": "the verdict is “Agrees as required” by an expert's labels, or stands in for"
    " a rater",
    "verdict.spot_checks": "the verdict is “Use with spot checks” or better",
}
NUMBERS = {
    **{
        f"{coefficient}.{level}.{part}": f"{coefficient.capitalize()} with people, {level} level, "
        + {"value": "the estimate", "low": "low end of the 95 % interval"}[part]
        for coefficient in COEFFICIENTS
        for level in LEVELS
        for part in ("value", "low")
    },
    **{
        f"{name}.low": f"pass or fail: {words}, low end of the 95 % interval"
        for name, words in {
            "sensitivity": "share of people's fails that the judge fails",
            "tpr": "the same as sensitivity",
            "specificity": "share of people's passes that the judge passes",
            "tnr": "the same as specificity",
            "precision": "share of the judge's fails that people fail",
            "accuracy": "share of outputs with the same verdict",
            "balanced_accuracy": "mean of sensitivity and specificity",
            "kappa": "Cohen's kappa, on scales of more points weighted kappa",
            "ac1": "Gwet's AC1",
        }.items()
    },
    "alt_test.winning_rate": "share of annotators that the judge wins against",
    "behind.low": "the judge's correlation in a rater's place minus the rater's: the least that its"
    " interval leaves open, such as behind.low>=-0.1",
    "repeat.agreement.low": "share of outputs whose repeated scores are the same, low end of the"
    " 95 % interval",
    "rate.error.high": "pass or fail: how far the judge's pass rate is from people's on the same"
    " outputs, at most: the end of the 95 % interval farther from 0",
    "instruction.most": "points that an instruction in the output moves scores by, at most: the end"
    " of the 95 % interval farther from 0",
    "policy.error.high": "error of what the policy in use keeps, high end on locked documents",
    "policy.coverage.low": "share of answers that the policy in use keeps, low end of the 95 %"
    " interval",
    "scores.share": "share of rated outputs that the judge scored",
    "documents": "documents with ratings and scores",
    "raters": "people who rated",
}
# Of one label: before it stands its name.
LABEL = "label:"
OF_LABELS = {
    "recall.low": "share of people's outputs with the label that the judge gives it",
    "precision.low": "share of the judge's outputs with the label that people give it",
}
# Before a requirement of the outputs with a value of a field.
GROUP = "group:"
OF_PROBES = frozenset({"instruction.most"})
OF_POLICIES = frozenset({"policy.error.high", "policy.coverage.low"})
# Figures that say nothing of whether the judge reads.
COUNTS = frozenset({
    "scores.share", "documents", "raters", "instruction.most", "repeat.agreement.low",
    "rate.error.high",
})  # fmt: skip


class RequirementOutcome(StrEnum):
    """The outcome of a certificate; of several requirements the worst counts: first one that is not
    met, then one that cannot be decided."""

    MET = "met"
    NOT_MET = "not met"
    CANNOT_SAY = "cannot say"


class RequirementError(ValueError):
    """A requirement cannot be read; the message says what can."""


@dataclass(frozen=True)
class Requirement:
    """A figure and its bound; without a relation it is a claim. With a `field` it is of the outputs
    with this value alone; with a `label` it is of this label."""

    figure: str
    relation: str = ""
    bound: float = 0.0
    field: str = ""
    value: str = ""
    label: str = ""

    def __str__(self) -> str:
        of = f"{GROUP}{self.field}={self.value}." if self.field else ""
        of += f"{LABEL}{self.label}." if self.label else ""
        bound = f"{self.relation}{self.bound:g}" if self.relation else ""
        return f"{of}{self.figure}{bound}"


@dataclass(frozen=True)
class RequiredFigure:
    """A measured figure.

    `value` is None where undefined, with a `reason`. `estimate` is the estimate behind an end of an
    interval, and `units` its number of documents; `more` is how many more documents are needed
    before there is a value at all. `nulls` are the same figures of null judges on the same ratings,
    by name: one per draw, None where undefined. `doubt` says why the judge may not read at all;
    empty if it is shown to.
    """

    value: float | None
    reason: str = ""
    estimate: float | None = None
    units: int = 0
    more: int | None = None
    nulls: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    doubt: str = ""


@dataclass(frozen=True)
class Checked:
    """A requirement with its outcome and reason; `more_documents` would allow a decision."""

    requirement: Requirement
    outcome: RequirementOutcome
    value: float | None
    reason: str
    more_documents: int | None = None


def parse_requirement(text: str, *, of_groups: bool = False) -> Requirement:
    """Parse a requirement.

    Args:
        of_groups: `group:FIELD=VALUE.` may stand before it.

    Raises:
        RequirementError: it is not a requirement.
    """
    if not text.lstrip().startswith(GROUP):
        return _parsed(text)
    if not of_groups:
        raise RequirementError(
            f"{text.strip()[:80]!r} is of a group: require it of files, with geval-site check."
        )
    field_name, _, rest = text.strip().removeprefix(GROUP).partition("=")
    for match in re.finditer(r"\.", rest):
        try:
            required = _parsed(rest[match.end() :])
        except RequirementError:
            continue
        return replace(required, field=field_name.strip(), value=rest[: match.start()].strip())
    raise RequirementError(
        f"{text.strip()[:80]!r} is not a requirement of a group. Write the field, its value and a"
        " requirement, such as group:language=es.sensitivity.low>=0.8."
    )


def _parsed(text: str) -> Requirement:
    """Parse a requirement of all outputs, perhaps of one label."""
    stated = text.strip()
    if not stated.startswith(LABEL):
        return _parsed_figure(text, NUMBERS)
    for match in re.finditer(r"\.", stated):
        try:
            required = _parsed_figure(stated[match.end() :], OF_LABELS)
        except RequirementError:
            continue
        if label := stated[len(LABEL) : match.start()].strip():
            return replace(required, label=label)
    raise RequirementError(
        f"{stated[:80]!r} is not a requirement of a label. Write its name, {' or '.join(OF_LABELS)}"
        " and a bound, such as label:refund.recall.low>=0.6."
    )


# Counts, and points of a scale; all other figures are shares or coefficients.
UNBOUNDED = frozenset({"documents", "raters", "instruction.most"})


def _parsed_figure(text: str, numbers: Mapping[str, str]) -> Requirement:
    match = _WRITTEN.fullmatch(text)
    figure, relation, bound = (group or "" for group in match.groups()) if match else ("", "", "")
    if numbers is NUMBERS and figure in CLAIMS and not relation:
        return Requirement(figure)
    is_there = figure in numbers
    if is_there and figure.endswith(".low") and relation in ("<", "<="):
        raise RequirementError(f"{figure} is a lower end: it can be required to be high, with >=.")
    if is_there and figure.endswith((".most", ".high")) and relation in (">", ">="):
        raise RequirementError(f"{figure} is an upper end: it can be required to be low, with <=.")
    if is_there and relation and figure not in UNBOUNDED and abs(float(bound)) > 1:
        raise RequirementError(f"{figure} is at most 1: write 80 % as 0.8, not {bound}.")
    if is_there and relation and math.isfinite(float(bound)):
        return Requirement(figure, relation, float(bound))
    shown = text.strip()[:80]
    if figure in CLAIMS:
        raise RequirementError(f"{figure} is met or not; write it without {relation}.")
    if figure in NUMBERS:
        bound = "<=0.1" if figure.endswith((".most", ".high")) else ">=0.5"
        raise RequirementError(f"{figure} needs a bound, such as {figure}{bound}.")
    of_labels = [f"{LABEL}NAME.{each}" for each in OF_LABELS]
    near = get_close_matches(figure or shown, [*CLAIMS, *NUMBERS, *of_labels], n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise RequirementError(
        f"{shown!r} is not a requirement.{meant} Write a figure, a relation and a number, such as"
        f" spearman.summary.low>=0.45, or one of {', '.join(CLAIMS)}. Figures:"
        f" {', '.join([*_families(), *of_labels])}."
    )


def _families() -> list[str]:
    """Return the names of all figures; those of correlations as one pattern."""
    others = [name for name in NUMBERS if name.partition(".")[0] not in COEFFICIENTS]
    return [f"{'|'.join(COEFFICIENTS)}.{'|'.join(LEVELS)}.value|low", *others]


def refuse_unknown_labels(
    requirements: Sequence[Requirement], criterion: str, labels: Sequence[str]
) -> None:
    """Refuse requirements of labels that a criterion does not have.

    Args:
        labels: of the criterion; none where its scale has an order.

    Raises:
        RequirementError: there is no such label.
    """
    names = {label.lower() for label in labels}
    for label in (each.label for each in requirements if each.label):
        if label.lower() not in names:
            there = (
                f" (there are: {', '.join(labels)})" if labels else ", as its scale has an order"
            )
            raise RequirementError(f"{criterion} has no label {label!r}{there}.")


def check(requirement: Requirement, figure: RequiredFigure) -> Checked:
    """Check whether a figure meets a requirement.

    An interval's end beyond the bound is "not met" only if the estimate is beyond it too; otherwise
    the interval is too wide to decide, and the result says how many more documents would narrow it
    enough, if its width shrinks with the square root of their number.
    """
    if figure.value is None:
        return Checked(requirement, RequirementOutcome.CANNOT_SAY, None, figure.reason, figure.more)
    value = figure.value
    if not requirement.relation:
        if value and (also := _met_by_nulls(figure, bool)):
            return Checked(
                requirement, RequirementOutcome.CANNOT_SAY, value, f"{figure.reason}; {also}"
            )
        outcome = RequirementOutcome.MET if value else RequirementOutcome.NOT_MET
        return Checked(requirement, outcome, value, figure.reason)
    holds = _RELATIONS[requirement.relation]
    if holds(value, requirement.bound):
        if also := _met_by_nulls(figure, lambda of_null: holds(of_null, requirement.bound)):
            return Checked(
                requirement, RequirementOutcome.CANNOT_SAY, value, f"{_stated(value)}; {also}"
            )
        return Checked(requirement, RequirementOutcome.MET, value, _stated(value))
    estimate = figure.estimate
    if estimate is not None and holds(estimate, requirement.bound):
        more = _more_documents(value, estimate, requirement.bound, figure.units)
        shown = with_decimals(estimate, 3)
        reason = f"{_stated(value)}, while the estimate is {shown}: the interval is too wide to say"
        if more is None or more > AFFORDABLE_DOCUMENTS:
            more = None
            reason = (
                f"{_stated(value)}, and the estimate, {shown}, lies on your bound"
                " or hardly beyond it: no affordable number of documents decides this"
            )
        return Checked(requirement, RequirementOutcome.CANNOT_SAY, value, reason, more)
    reason = _stated(value)
    if estimate is not None:
        reason += f", and the estimate itself is {with_decimals(estimate, 3)}"
    return Checked(requirement, RequirementOutcome.NOT_MET, value, reason)


def _met_by_nulls(figure: RequiredFigure, meets: Callable[[float], bool]) -> str:
    """Return which null judges meet a requirement as well, or that the judge may be one, in words;
    empty if neither."""
    also = [
        title
        for title, draws in figure.nulls.items()
        if is_met([value is not None and meets(value) for value in draws])
    ]
    return f"a judge that reads nothing meets it too ({', '.join(also)})" if also else figure.doubt


def _stated(value: float) -> str:
    return f"it is {with_decimals(value, 0 if float(value).is_integer() else 3)}"


def _more_documents(end: float, estimate: float, bound: float, units: int) -> int | None:
    """Return how many more documents would bring an interval's end to the bound; None if no number
    does."""
    if estimate == bound or units < 2:
        return None
    needed = documents_for(abs(estimate - end), documents=units, goal=abs(estimate - bound))
    return None if needed is None else max(1, needed - units)


def overall(checked: list[Checked]) -> RequirementOutcome:
    """Return the outcome of all requirements together."""
    outcomes = {requirement.outcome for requirement in checked}
    for worst in (RequirementOutcome.NOT_MET, RequirementOutcome.CANNOT_SAY):
        if worst in outcomes:
            return worst
    return RequirementOutcome.MET
