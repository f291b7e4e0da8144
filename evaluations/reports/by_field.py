"""A project's judges by a field of its documents: values are read here for the library to compute
with."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import F, Func, TextField, Value

from evaluations.models import Criterion, Judge, Project
from evaluations.reports.report import criterion_result
from geval.reports.by_field import (
    SYSTEM,
    FieldError,
    FieldResult,
    agreement_by_field,
    offered_fields,
    values_of_outputs,
)
from geval.reports.data import ReportData
from geval.reports.label_results import labels_result
from geval.reports.options import ReportOptions


@dataclass(frozen=True)
class FieldView:
    """A field of documents, in a view of the report; "" for the first that is offered."""

    options: ReportOptions
    field: str = ""

    @property
    def query(self) -> str:
        """The query string, without defaults."""
        own = urlencode({"field": self.field}) if self.field else ""
        return "&".join(part for part in (own, self.options.query) if part)


@dataclass(frozen=True)
class FieldNumbers:
    """The fields that are offered, the chosen one, the best judge of each criterion by its values,
    and the reasons where there is no table."""

    fields: tuple[str, ...]
    field: str
    results: tuple[FieldResult, ...] = ()
    reasons: tuple[str, ...] = ()


def read_field_view(query: Mapping[str, str], options: ReportOptions) -> FieldView:
    return FieldView(options, query.get("field", ""))


def fields_of(project: Project) -> tuple[str, ...]:
    """Return the fields by which agreement is offered."""
    return offered_fields(project.documents.metadata_names(), project.systems.count())


def field_numbers(project: Project, everything: ReportData, view: FieldView) -> FieldNumbers:
    """Return the best judge of each criterion by the values of a field.

    Args:
        everything: all data, with labels that have no order.
    """
    fields = fields_of(project)
    field = view.field or (fields[0] if fields else "")
    if field not in fields:
        return FieldNumbers(fields, "")
    data = everything.selected(view.options)
    values = values_of_outputs(data, field, values_of_documents(project, field))
    results, reasons = [], []
    for criterion in project.criteria.all():
        judge = _best_judge(project, criterion, data, view.options)
        if judge is None:
            continue
        try:
            results.append(agreement_by_field(data, criterion, judge, field, values, view.options))
        except FieldError as error:
            reasons.append(f"{criterion.name}: {error}")
    return FieldNumbers(fields, field, tuple(results), tuple(dict.fromkeys(reasons)))


def values_of_documents(project: Project, field: str) -> dict[str, str]:
    """Return each document's value of a field of its metadata."""
    if field == SYSTEM:
        return {}
    value = Func(
        F("metadata"), Value(field), function="jsonb_extract_path_text", output_field=TextField()
    )
    return dict(
        project.documents.annotate(of_field=value)
        .filter(of_field__isnull=False)
        .values_list("doc_id", "of_field")
    )


def _best_judge(
    project: Project, criterion: Criterion, data: ReportData, options: ReportOptions
) -> Judge | None:
    """Return the best judge in a view, or the first that has scores; None if none has."""
    if not options.shows(criterion.pk):
        return None
    if not criterion.is_ordered:
        judges = labels_result(criterion, list(project.judges.all()), data).judges
        return project.judges.get(pk=judges[0].pk) if judges else None
    result = criterion_result(project, criterion, options=options, data=data, probed=())
    first = result.best or next(iter(result.judges), None)
    return None if first is None else project.judges.get(pk=first.pk)
