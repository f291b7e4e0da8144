"""A judge by a field of documents, such as their language: its verdict and figures on the documents
of each value, and on which values it is shown to do worse or better than on the others. Pure.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from geval.reports.at_a_glance import ShareLine, share_line
from geval.reports.data import ReportData
from geval.reports.label_results import labels_result
from geval.reports.options import ReportOptions
from geval.reports.report import CriterionResult, JudgeResult, Records, criterion_result
from geval.reports.verdicts.expert import FOUND_AND_KEPT
from geval.reports.verdicts.verdict import Verdict
from geval.reports.words import caution
from geval.statistics.jackknife import no_interval, t_quantile
from geval.statistics.resampling import Interval
from geval.statistics.shares import WithEnds, ends_of_sum
from geval.statistics.significance import holm
from geval.statistics.thresholds import (
    CONFIDENCE,
    INTERVAL_DOCUMENTS,
    SIGNIFICANCE,
)
from geval.statistics.types import Estimate
from geval.texts.numbers import counted, in_brackets, shown, signed
from geval.texts.sentences import listed
from geval.texts.subjects import CriterionLike, JudgeLike

# The field that every output has: who wrote it.
SYSTEM = "system"
# Words in the names of fields that say who somebody is, which no page offers.
OF_PEOPLE = {
    "annotator", "author", "customer", "email", "mail", "name", "participant", "person", "rater",
    "reviewer", "user", "worker",
}  # fmt: skip
_SAME = "there are no other documents to compare these with"
# More values are a table that nobody reads, and names of people or documents.
MOST_VALUES = 20
# Bisections of a p-value, to nine digits.
HALVINGS = 30


class FieldError(ValueError):
    """There is no such field or value, or it has too many values; the message says what there
    is."""


@dataclass(frozen=True)
class Correlation(WithEnds):
    """A correlation with its 95 % interval by Student's t over documents."""

    estimate: Estimate
    interval: Interval
    freedom: float

    def ends_at(self, confidence: float) -> tuple[float, float] | None:
        value, ends = self.estimate.value, self.interval.ends
        if value is None or ends is None:
            return None
        wider = t_quantile(self.freedom, confidence) / t_quantile(self.freedom)
        low, high = (value + (end - value) * wider for end in ends)
        return max(-1.0, low), min(1.0, high)


@dataclass(frozen=True)
class FieldFigure:
    """A figure on the documents of a value, with its 95 % interval, and how much higher it is than
    on the documents of the other values. `p` is adjusted over all values and figures (Holm); None
    without an interval. Pages name it in `words`, and draw what is required (`least`)."""

    name: str
    words: str
    least: float | None
    estimate: Estimate
    interval: Interval
    difference: float | None
    apart: Interval
    p: float | None = None

    @property
    def is_shown(self) -> bool:
        """Whether it is shown to differ from the other documents'."""
        return self.p is not None and self.p <= SIGNIFICANCE

    def __str__(self) -> str:
        return f"{self.words} {shown(self.estimate)} {in_brackets(self.interval)}".rstrip()

    @property
    def line(self) -> ShareLine:
        """The figure drawn from 0 to 1."""
        return share_line(self.words, self.estimate, self.interval, required=self.least)

    @property
    def gap(self) -> str:
        """How much higher it is than on the others, with the interval."""
        assert self.difference is not None
        return f"{self.words} {signed(self.difference)} {in_brackets(self.apart)}"


@dataclass(frozen=True)
class ValueResult:
    """The documents with a value of a field: how many have ratings and scores, and the judge's
    verdict on them, what qualifies it, and the figures."""

    value: str
    documents: int
    outputs: int
    verdict: Verdict
    why: str
    figures: tuple[FieldFigure, ...]


@dataclass(frozen=True)
class FieldResult:
    """A judge on a criterion by the values of a field, the largest first. Of `small` values fewer
    than INTERVAL_DOCUMENTS documents have ratings and scores; they count among the others, and are
    not shown. `blank` rated outputs have no value and do not count."""

    criterion: str
    judge: str
    field: str
    values: tuple[ValueResult, ...]
    small: int
    blank: int

    @property
    def findings(self) -> Iterator[str]:
        """Where the judge is shown to do worse or better than on the others, in words; of two
        values only where it does worse."""
        sides = ((False, "Worse"), (True, "Better"))
        for better, word in sides[: 1 if len(self.values) == 2 and not self.small else None]:
            for row in self.values:
                gaps = [
                    figure.gap
                    for figure in row.figures
                    if figure.is_shown and ((figure.difference or 0.0) > 0) == better
                ]
                if gaps:
                    yield f"{word} on {row.value} than on the others: {listed(gaps)}."

    @property
    def small_values(self) -> str:
        """How many values are not shown, in a sentence; empty for none."""
        if not self.small:
            return ""
        return (
            f"Not shown: {counted(self.small, 'value')} with fewer than {INTERVAL_DOCUMENTS}"
            " documents that have ratings and scores."
        )

    def __str__(self) -> str:
        lines = [f"{self.criterion} by {self.field}, {self.judge}:"]
        for row in self.values:
            figures = "; ".join(map(str, row.figures))
            lines.append(f"  {row.value} ({row.outputs} outputs): {row.verdict.label}; {figures}")
        lines += [f"  {sentence}" for sentence in self.findings]
        if not any(self.findings) and len(self.values) > 1:
            lines.append("  No difference between them is shown.")
        if self.small:
            lines.append(f"  {self.small_values}")
        return "\n".join(lines)


def by_field_as_dict(result: FieldResult) -> dict[str, Any]:
    """Return a result for JSON: undefined numbers are None."""
    return {
        "criterion": result.criterion,
        "judge": result.judge,
        "field": result.field,
        "small": result.small,
        "blank": result.blank,
        "values": [
            {
                "value": row.value,
                "documents": row.documents,
                "outputs": row.outputs,
                "verdict": row.verdict.label,
                "why": row.why,
                "figures": {
                    figure.name: {
                        "value": figure.estimate.value,
                        "low": figure.interval.low,
                        "high": figure.interval.high,
                        "difference": figure.difference,
                        "difference_low": figure.apart.low,
                        "difference_high": figure.apart.high,
                        "adjusted_p": figure.p,
                    }
                    for figure in row.figures
                },
            }
            for row in result.values
        ],
        "findings": list(result.findings),
    }


def offered_fields(names: Sequence[str], systems: int) -> tuple[str, ...]:
    """Return the fields by which pages offer agreement: those of documents that name no people, and
    SYSTEM where there are several."""
    of_documents = [
        name
        for name in names
        if name != SYSTEM and not OF_PEOPLE.intersection(re.split(r"[\W_]+", name.lower()))
    ]
    return (*of_documents, SYSTEM) if systems > 1 else tuple(of_documents)


def values_of_outputs(
    data: ReportData, field: str, by_document: Mapping[str, str]
) -> tuple[str, ...]:
    """Return each output's value of a field, "" for none; shape (outputs,).

    Args:
        by_document: the value of each document, by name; not used for SYSTEM.
    """
    if field == SYSTEM:
        return tuple(data.system_names[system] for system in data.outputs.system.tolist())
    names = [by_document.get(name, "") for name in data.doc_ids]
    return tuple(names[document] for document in data.outputs.document.tolist())


def part_with(data: ReportData, values: Sequence[str], wanted: Sequence[str]) -> ReportData:
    """Return the outputs that have one of the wanted values. Where each value is a group of
    documents, the documents of one are the units."""
    part = data.only(np.isin(np.array(values, dtype=object), list(wanted)))
    return replace(part, groups=()) if _are_groups(data, values) else part


def _are_groups(data: ReportData, values: Sequence[str]) -> bool:
    """Return whether the values are the names of the groups of documents, or part them alike."""
    if not any(data.groups):
        return False
    groups = [data.groups[document] for document in data.outputs.document.tolist()]
    pairs = {*zip(groups, values, strict=True)}
    return len(pairs) == len({*groups}) == len({*values})


def agreement_by_field(
    data: ReportData,
    criterion: CriterionLike,
    judge: JudgeLike,
    field: str,
    values: Sequence[str],
    options: ReportOptions,
) -> FieldResult:
    """Return a judge's verdict and figures on the documents of each value of a field.

    Args:
        data: the data that `options` select.
        values: shape (outputs,), from `values_of_outputs`.
        options: at summary level, the dataset level is taken where a value has one output of each
            document.

    Raises:
        FieldError: more than MOST_VALUES values have enough documents.
    """
    scores = data.judges[criterion.pk, judge.pk]
    human = data.humans[criterion.pk]
    is_rated = ~np.isnan(human.mean)
    if not criterion.scale.is_ordered:  # labels have no mean
        is_rated = np.bincount(human.ratings.output, minlength=len(scores)) > 0
    counting = is_rated & ~np.isnan(scores)
    of_output = np.array(values, dtype=object)
    documents = {
        value: len({*data.units.document[counting & (of_output == value)].tolist()})
        for value in dict.fromkeys(values)
        if value
    }
    shown_values = [value for value, count in documents.items() if count >= INTERVAL_DOCUMENTS]
    if len(shown_values) > MOST_VALUES:
        raise FieldError(
            f"{field} has {len(documents)} values, such as {listed(shown_values[:3])}; agreement is"
            f" shown by a field with at most {MOST_VALUES}."
        )
    places = zip(data.outputs.document[counting].tolist(), of_output[counting], strict=True)
    if options.level == "summary" and max(Counter(places).values(), default=0) < 2:
        # As by system: a document has nothing to rank among the outputs of one value.
        options = replace(options, level="dataset")
    about = (criterion, judge, options)
    ordered = sorted(shown_values, key=lambda value: -documents[value])
    results = {value: _on(part_with(data, values, [value]), *about) for value in ordered}
    rows = []
    for value in ordered:
        others = [other for other in documents if other != value]
        rest = None
        # The other of two values has been computed.
        if len(others) == 1 and others[0] in results:
            rest = results[others[0]]
        elif others:
            rest = _on(part_with(data, values, others), *about)
        rows.append(_row(value, documents[value], results[value], rest))
    small = len(documents) - len(ordered)
    blank = int((counting & (of_output == "")).sum())
    return FieldResult(
        criterion.name, judge.label, field, tuple(_adjusted(rows, small)), small, blank
    )


class _Compared(NamedTuple):
    """A figure that is compared between values, in words, and what is required of it."""

    figure: WithEnds
    words: str
    least: float | None = None


class _Part(NamedTuple):
    """A judge on some of the documents: the outputs that count, its verdict and what qualifies it,
    and what is compared, by name."""

    outputs: int
    verdict: Verdict
    why: str
    figures: Mapping[str, _Compared]


def _on(
    data: ReportData, criterion: CriterionLike, judge: JudgeLike, options: ReportOptions
) -> _Part:
    if criterion.scale.is_ordered:
        result = criterion_result(criterion, [judge], data, options, Records())
        own = result.judges[0]
        figures = _figures_of(result, own)
        return _Part(
            own.correlations.pairs,
            result.verdict_on(own),
            caution(result, is_lowest_bar=False),
            figures,
        )
    of_labels = labels_result(criterion, [judge], data).judges[0]
    own_figures = of_labels.figures
    compared = {
        name: _Compared(figure, name)
        for name, figure in (("kappa", own_figures.kappa), ("accuracy", own_figures.accuracy))
    }
    return _Part(own_figures.outputs, of_labels.verdict, of_labels.reading, compared)


def _row(value: str, documents: int, own: _Part, rest: _Part | None) -> ValueResult:
    others = rest.figures if rest else {}
    figures = tuple(_figure(name, own.figures[name], others.get(name)) for name in own.figures)
    return ValueResult(value, documents, own.outputs, own.verdict, own.why, figures)


def _figures_of(result: CriterionResult, judge: JudgeResult) -> dict[str, _Compared]:
    """Return what is compared: what the judge finds and keeps on pass or fail, weighted kappa by an
    expert's ratings, or the correlation of the view."""
    passing = judge.analysis.passing
    if passing is not None:
        evidence = result.by_labels(judge)
        found, kept = FOUND_AND_KEPT[passing.finds_passes]
        leasts = [side.least for side in evidence.sides] if evidence else [None, None]
        return {
            "sensitivity": _Compared(passing.sensitivity, found, leasts[0]),
            "specificity": _Compared(passing.specificity, kept, leasts[1]),
        }
    if result.has_expert:
        return {
            "weighted kappa": _Compared(judge.analysis.kappa, "weighted kappa", result.bar.kappa)
        }
    options = result.options
    documents = judge.correlations.documents_at(options.level)
    name = f"{options.coefficient} at {options.level} level"
    figure = Correlation(judge.shown(options), judge.analysis.shown, max(1, documents - 1))
    return {name: _Compared(figure, name)}


def _figure(name: str, compared: _Compared, others: _Compared | None) -> FieldFigure:
    own, other = compared.figure, others.figure if others else None
    about = (name, compared.words, compared.least, own.estimate)
    value = own.estimate.value
    ends = own.ends_at(CONFIDENCE)
    interval = Interval(*ends) if ends else own.interval
    if other is None or value is None or other.estimate.value is None:
        return FieldFigure(*about, interval, None, no_interval(_SAME))
    between = difference_at(own, other, CONFIDENCE)
    apart = Interval(*between) if between else no_interval(other.interval.reason)
    difference = value - other.estimate.value
    return FieldFigure(*about, interval, difference, apart, _p_of(own, other))


def difference_at(
    first: WithEnds, second: WithEnds, confidence: float
) -> tuple[float, float] | None:
    """Return the interval of the difference of two figures of different documents, from their own
    intervals."""
    values = first.estimate.value, second.estimate.value
    ends, others = first.ends_at(confidence), second.ends_at(confidence)
    if values[0] is None or values[1] is None or ends is None or others is None:
        return None
    return ends_of_sum((values[0], ends, 1.0), (values[1], others, -1.0))


def _p_of(first: WithEnds, second: WithEnds) -> float | None:
    """Return the smallest error at which the interval of the difference leaves out 0."""
    if difference_at(first, second, CONFIDENCE) is None:
        return None
    inside, outside = 0.0, 1.0
    for _ in range(HALVINGS):
        p = (inside + outside) / 2
        ends = difference_at(first, second, 1 - p)
        assert ends is not None
        if ends[0] <= 0 <= ends[1]:
            inside = p
        else:
            outside = p
    return outside


def _adjusted(rows: Sequence[ValueResult], small: int) -> list[ValueResult]:
    """Adjust the p-values over all values and figures; the difference of two values is tested
    once."""
    is_pair = len(rows) == 2 and not small
    p_values = {
        (row.value, figure.name): figure.p
        for row in (rows[:1] if is_pair else rows)
        for figure in row.figures
        if figure.p is not None
    }
    adjusted = dict(zip(p_values, holm([*p_values.values()]), strict=True)) if p_values else {}
    if is_pair:
        adjusted |= {(rows[1].value, name): p for (_value, name), p in adjusted.items()}
    return [
        replace(
            row,
            figures=tuple(
                replace(figure, p=adjusted.get((row.value, figure.name))) for figure in row.figures
            ),
        )
        for row in rows
    ]
