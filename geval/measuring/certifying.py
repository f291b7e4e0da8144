"""Check the requirements for a judge against files, with the figures of a site's certificates.

Nothing is signed: files do not say whether the judge was tuned on the same ratings. A site issues
certificates that do, from documents that were locked before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from geval.measuring.gathering import Criterion, ImportedJudge
from geval.measuring.inputs import InputError
from geval.measuring.measurement import Measurement, refuse_other
from geval.reports.by_field import MOST_VALUES, part_with
from geval.reports.data import ReportData
from geval.reports.label_results import labels_of, labels_result
from geval.reports.options import ReportOptions
from geval.reports.report import Records, criterion_result
from geval.reports.required_figures import InView, figure_of_labels, figures_in
from geval.reports.requirements import (
    OF_POLICIES,
    OF_PROBES,
    Checked,
    RequiredFigure,
    Requirement,
    RequirementError,
    RequirementOutcome,
    check,
    overall,
    parse_requirement,
    refuse_unknown_labels,
)
from geval.statistics.correlation import Coefficient, Level
from geval.texts.program import command
from geval.texts.sentences import listed

_EXIT_CODES = {
    RequirementOutcome.MET: 0,
    RequirementOutcome.NOT_MET: 1,
    RequirementOutcome.CANNOT_SAY: 2,
}


@dataclass(frozen=True)
class Certification:
    """Requirements of a judge on a criterion, each with its outcome, value and reason."""

    criterion: str
    judge: str
    checked: tuple[Checked, ...]

    @property
    def outcome(self) -> RequirementOutcome:
        """The worst outcome of all requirements."""
        return overall(list(self.checked))

    @property
    def exit_code(self) -> int:
        """0 if all are met, 1 if one is not, 2 if one cannot be decided."""
        return _EXIT_CODES[self.outcome]

    def __str__(self) -> str:
        head = f"{self.judge} on {self.criterion}: {self.outcome}"
        return "\n".join([head, *(_line(each) for each in self.checked)])

    # In a notebook or a shell, a result is read, not its fields.
    __repr__ = __str__


def exit_code_of(certifications: Sequence[Certification]) -> int:
    """Return the common exit code."""
    return _EXIT_CODES[overall([checked for each in certifications for checked in each.checked])]


def certify(
    measured: Measurement, requirements: Sequence[str], *, criterion: str = "", judge: str = ""
) -> list[Certification]:
    """Return whether judges meet requirements, such as `spearman.summary.low>=0.45`.

    Args:
        criterion: by default all that have ratings and scores.
        judge: the one that was measured; where there are several, it must be named, as the best of
            them is not what somebody else will use.

    Raises:
        InputError: a requirement cannot be read, there is no such criterion or judge, or no name
            where several were measured.

    >>> import geval
    >>> table = [{"doc": d, "system": s, **dict.fromkeys(("ann", "bob", "cyd", "gpt"), d * s % 5)}
    ...          for d in range(20) for s in range(4)]
    >>> result = geval.measure(table, human=["ann", "bob", "cyd"], judge="gpt", document="doc",
    ...                        system="system")
    >>> print(geval.certify(result, ["spearman.summary.value>=0.9", "raters>=5"])[0])
    gpt on quality: not met
      met: spearman.summary.value>=0.9 (it is 1)
      not met: raters>=5 (it is 3)
    """
    refuse_other(measured)
    wanted = [_parsed(text) for text in requirements]
    if not wanted:
        raise InputError("Name a requirement, such as spearman.summary.low>=0.45.")
    chosen = measured.criteria_named(criterion)
    names = [each.name for each in measured.gathered.judges]
    if not judge and len(names) > 1:
        raise InputError(f"Name the judge that has to meet this: one of {', '.join(names)}.")
    named = judge or names[0]
    return [
        Certification(
            each.criterion, named, tuple(_checked(measured, each.criterion, named, wanted))
        )
        for each in chosen
    ]


def fields_named(by: Sequence[str], requirements: Sequence[str]) -> tuple[str, ...]:
    """Return the fields by which to measure: the named ones, and those of requirements.

    Raises:
        InputError: a requirement cannot be read.
    """
    of_groups = (_parsed(text).field for text in requirements)
    return tuple(dict.fromkeys([*by, *filter(None, of_groups)]))


def _parsed(text: str) -> Requirement:
    try:
        requirement = parse_requirement(text, of_groups=True)
    except RequirementError as error:
        raise InputError(str(error)) from None
    if requirement.figure in OF_PROBES:
        raise InputError(f"{requirement.figure} needs probes of a judge, which a site makes.")
    if requirement.figure in OF_POLICIES:
        raise InputError(
            f"{requirement.figure} is of a policy in use on a site. For files,"
            f" `{command('policy')}` ends with 0 if its promise is proven."
        )
    return requirement


def _checked(
    measured: Measurement, criterion: str, judge: str, requirements: Sequence[Requirement]
) -> list[Checked]:
    parts = measured.gathered
    about = next(each for each in parts.criteria if each.name == criterion)
    judges = [measured.judge_named(judge)]
    of_labels = [each.best.compared for each in measured.labels if each.best]
    of_others = [each.compared for each in measured.report.criteria]
    compared = max([*of_others, *of_labels], default=1)
    records = Records(compared, repeats=parts.repeats)
    figures: dict[tuple[str, str, str], RequiredFigure] = {}
    try:
        refuse_unknown_labels(requirements, criterion, labels_of(about))
    except RequirementError as error:
        raise InputError(str(error)) from None
    if not about.scale.is_ordered:
        return [
            check(each, _figure_of_labels(measured, about, judges[0], each, compared))
            for each in requirements
        ]
    for name, value in dict.fromkeys((each.field, each.value) for each in requirements):
        data = _part(measured, name, value) if name else parts.data

        def in_view(level: Level, coefficient: Coefficient, data: ReportData = data) -> InView:
            options = ReportOptions(level, coefficient, judges=(judges[0].pk,))
            selected = data.selected(options)
            result = criterion_result(about, judges, selected, options, records)
            return result, result.judges[0] if result.judges else None

        wanted = {each.figure for each in requirements if (each.field, each.value) == (name, value)}
        for figure, measured_figure in figures_in(wanted, in_view).items():
            figures[name, value, figure] = measured_figure
    return [check(each, figures[each.field, each.value, each.figure]) for each in requirements]


def _figure_of_labels(
    measured: Measurement,
    criterion: Criterion,
    judge: ImportedJudge,
    required: Requirement,
    compared: int,
) -> RequiredFigure:
    data = measured.gathered.data
    if required.field:
        data = _part(measured, required.field, required.value)
    result = labels_result(criterion, [judge], data, compared=compared)
    return figure_of_labels(required.figure, required.label, result, judge.name)


def _part(measured: Measurement, name: str, value: str) -> ReportData:
    """Return the outputs with a value of a field.

    Raises:
        InputError: there are none, or the field was not named.
    """
    values = measured.values_of(name)
    if value not in values or not value:
        there = listed(sorted({*values} - {""})[:MOST_VALUES]) or "none"
        raise InputError(f"No output has {name} {value!r} (there are: {there}).")
    return part_with(measured.gathered.data, values, [value])


def _line(checked: Checked) -> str:
    more = f"; rate {checked.more_documents} more documents" if checked.more_documents else ""
    return f"  {checked.outcome}: {checked.requirement} ({checked.reason}{more})"
