"""What pages, downloads and the API show of a report: computed at once for a small project, and for
a large one what a worker has kept."""

from collections.abc import Sequence

from evaluations.models import Criterion, Project
from evaluations.reports.annotators import AnnotatorsFound, of_ratings
from evaluations.reports.data import ReportData, ids_of
from evaluations.reports.disagreements.numbers import GapNumbers, gap_numbers
from evaluations.reports.disagreements.view import GapView
from evaluations.reports.downloads.formats import BY_ENDING
from evaluations.reports.drilldown import DocumentsBehind, documents_behind
from evaluations.reports.figure_numbers import numbers_for_figures
from evaluations.reports.figures import FIGURES, Figure, Subject
from evaluations.reports.options import ReportOptions
from evaluations.reports.page import ReportNumbers, ReportPage, numbers_of, report_page
from evaluations.reports.probes import Sensitivity
from evaluations.reports.ranking import DocumentFigures, document_figures
from evaluations.reports.report import Report, build_report, criterion_result
from evaluations.reports.serving.kept import (
    COMPARE,
    DISAGREEMENTS,
    KeptView,
    kept_annotators,
    kept_page,
    kept_tests,
    kept_view,
)
from evaluations.reports.serving.live import live_data, mark_of
from evaluations.reports.two_judges.numbers import PairNumbers, pair_numbers
from evaluations.reports.two_judges.tests import PairTests
from evaluations.reports.two_judges.view import PairView
from geval.drawings.numbers import CriterionNumbers

# By figures: what probes have found.
NOT_SHOWN: Sequence[Sensitivity] = ()


def report_now(
    project: Project, options: ReportOptions, probed: Sequence[Sensitivity] | None = None
) -> tuple[Report, ReportData]:
    """The report of the numbers as they are now, and those numbers, computed here."""
    data = live_data(project).selected(options)
    return build_report(project, options=options, data=data, probed=probed), data


def shown_report(project: Project, options: ReportOptions) -> Report:
    """The report of a view, as its page shows it.

    Raises:
        NotComputedError: a worker is still computing it.
    """
    kept = kept_view(project, options)
    return kept.numbers().report if kept else report_now(project, options)[0]


def shown_numbers(
    project: Project,
    options: ReportOptions,
    kept: KeptView | None,
    *,
    probed: Sequence[Sensitivity] | None = None,
) -> ReportNumbers:
    """What the pages of a view show.

    Args:
        kept: what is kept of the view, for a large project.
        probed: what probes of its judges have found, where it is at hand.

    Raises:
        NotComputedError: a worker is still computing it; as all functions of this module do.
    """
    return kept.numbers() if kept else numbers_of(project, *report_now(project, options, probed))


def shown_page(
    project: Project,
    options: ReportOptions,
    kept: KeptView | None,
    *,
    probed: Sequence[Sensitivity] | None = None,
) -> ReportPage:
    """The contents of a view's page; `probed` is as for `shown_numbers`."""
    # Before the numbers: a change in between is seen the next time.
    mark = shown_mark(project, kept)
    return report_page(project, shown_numbers(project, options, kept, probed=probed), mark=mark)


def shown_mark(project: Project, kept: KeptView | None) -> str:
    """A short text that differs whenever there is something new to show."""
    running = project.runs.active().counting().order_by("pk").values_list("pk", flat=True)
    return "-".join([kept.mark, *(f"run.{pk}" for pk in running)]) if kept else mark_of(project)


def shown_download(
    project: Project, options: ReportOptions, ending: str, kept: KeptView | None
) -> str:
    """A view in a format, by the ending of its files."""
    if kept:
        return kept.download(ending)
    return BY_ENDING[ending].write(report_now(project, options)[0])


def shown_figure(
    project: Project, options: ReportOptions, kind: str, criterion: Criterion
) -> Figure | None:
    """A figure of a view; None where it would show nothing."""
    kept = kept_view(project, options)
    if kept:
        return kept.figure(kind, criterion.pk)
    data = live_data(project).selected(options)
    result = criterion_result(project, criterion, options=options, data=data, probed=NOT_SHOWN)
    return FIGURES[kind](Subject(criterion, result, data)) if result.judges else None


def shown_figure_numbers(
    project: Project, options: ReportOptions, criterion: Criterion
) -> CriterionNumbers | None:
    """The numbers of the figures that the server draws; None for a criterion without judges."""
    kept = kept_view(project, options)
    if kept:
        return kept.figure_numbers(criterion.pk)
    data = live_data(project).selected(options)
    result = criterion_result(project, criterion, options=options, data=data, probed=NOT_SHOWN)
    return numbers_for_figures(Subject(criterion, result, data)) if result.judges else None


def shown_documents(
    project: Project, options: ReportOptions, criterion: int, judge: int
) -> DocumentsBehind:
    """The documents behind a judge's number on a criterion."""
    kept = kept_view(project, options)
    if kept:
        return kept.documents_behind(criterion, judge)
    return documents_behind(live_data(project).selected(options), criterion, judge)


def shown_document_figures(project: Project, sort: str) -> DocumentFigures:
    """What documents are sorted by; for a large project only what this sort needs."""
    kept = kept_view(project, ReportOptions())
    return kept.document_figures(sort) if kept else document_figures(project)


def shown_gaps(project: Project, view: GapView) -> GapNumbers:
    """What the page of disagreements shows; of a large project the largest gaps alone."""
    runs = project.runs.counting().filter(pk=view.run).values_list("pk", flat=True)
    wanted = view.of_numbers(ids_of(project.pk) | {"runs": list(runs)})
    kept = kept_page(project, DISAGREEMENTS, wanted.query)
    return kept.page(GapNumbers) if kept else gap_numbers(project, live_data(project), wanted)


def shown_pair(project: Project, view: PairView) -> tuple[PairNumbers, Report]:
    """What the page of two judges shows, and the report whose tests it shows; of a large project
    the first outputs alone are listed."""
    wanted = view.of_numbers(ids_of(project.pk))
    kept, report = kept_page(project, COMPARE, wanted.query), kept_view(project, view.options)
    if kept and report:
        return kept.page(PairNumbers), report.numbers().report
    return pair_numbers(project, live_data(project), wanted), shown_report(project, view.options)


def shown_annotators(project: Project, options: ReportOptions) -> AnnotatorsFound:
    """What each annotator's ratings are worth, as a worker has computed it."""
    return kept_annotators(project, of_ratings(options).query).page(AnnotatorsFound)


def shown_pair_tests(project: Project, view: PairView) -> PairTests:
    """Tests between the two judges of a view."""
    wanted = view.of_numbers(ids_of(project.pk))
    return kept_tests(project, wanted.query).page(PairTests)
