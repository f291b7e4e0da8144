"""A view of a report, and the parts of it that pages, figures and downloads show.

The report's parts are listed here; `geval_site/extensions.py` names the pages of other apps. For a
small project a web process computes the part that it shows; for a large one a worker computes all
parts of a view and stores them by name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from django.http import QueryDict

from evaluations.models import Project
from evaluations.reports.annotators import annotators_found
from evaluations.reports.data import only_round
from evaluations.reports.page import numbers_of, report_page
from evaluations.reports.probes import Sensitivity
from evaluations.reports.ratings.pseudonyms import (
    download_renamed,
    drawn_renamed,
    figure_renamed,
    numbers_renamed,
)
from evaluations.reports.report import build_report, criterion_result
from evaluations.reports.serving.limits import takes_a_moment
from evaluations.reports.serving.live import live_data, mark_of
from geval.reports.annotators import AnnotatorsFound, of_ratings
from geval.reports.data import ReportData
from geval.reports.document_figures import (
    DISAGREEMENT,
    DocumentFigures,
    DocumentsBehind,
    document_figures,
    documents_behind,
    measure_of,
)
from geval.reports.downloads.formats import BY_ENDING
from geval.reports.drawings.numbers import CriterionNumbers
from geval.reports.figure_numbers import numbers_for_figures
from geval.reports.figures import FIGURES, Figure, Subject, figures_of
from geval.reports.options import ReportOptions
from geval.reports.page import ReportNumbers, ReportPage
from geval.reports.report import CriterionResult, Report
from geval.reports.stored import shape_of
from geval.reports.verdicts.steps import OnStep, between, unseen
from geval_site.extensions import added
from geval_site.version import __version__

Key = int | str
Value = TypeVar("Value")
# For figures: findings of probes are not shown.
NOT_SHOWN: Sequence[Sensitivity] = ()


class AnyView(Protocol):
    """A view of the report, which is its options, or of an additional page, which has `options`."""

    @property
    def query(self) -> str:
        """The query string of the view's address."""


def figures_of_documents(project: Project, data: ReportData) -> DocumentFigures:
    """Return the figures of a project's documents, from its data."""
    on_scale = {judge.pk for judge in project.judges.all() if judge.rates_on_scale}
    return document_figures(data, project.criteria.all(), on_scale)


@dataclass
class ReportView(ABC):
    """A view of a project's report, or of an additional page, from any source of its parts.

    `cached` has the age of a worker's numbers and the progress of newer ones; None if they are
    computed here. Until a worker has the first numbers of a large project, `has_numbers` is False,
    and what needs them raises NotComputedError.
    """

    project: Project
    view: Any  # AnyView; each page has its own kind
    # Pseudonyms by annotators' names; none: real names are shown.
    names: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @property
    def options(self) -> ReportOptions:
        return self.view if isinstance(self.view, ReportOptions) else self.view.options

    @property
    def cached(self) -> "ReportView | None":
        return None

    @property
    def has_numbers(self) -> bool:
        return True

    @property
    def is_at_hand(self) -> bool:
        """Whether its numbers are available immediately."""
        return takes_a_moment(self.project)

    @property
    @abstractmethod
    def mark(self) -> str:
        """A short text that changes whenever there is something new to show."""

    @abstractmethod
    def _read(self, part: "PagePart[Value]", *keys: Key) -> Value | None:
        """Return a part with real names; None if the view does not have it."""

    def part(self, part: "PagePart[Value]", *keys: Key) -> Value | None:
        """Return a part; None if the view does not have it."""
        value = self._read(part, *keys)
        return value if value is None or not self.names else part.rename(value, self.names, *keys)

    def needed(self, part: "PagePart[Value]", *keys: Key) -> Value:
        """Return a part that every such view has."""
        value = self.part(part, *keys)
        assert value is not None
        return value

    def numbers(self) -> ReportNumbers:
        """Return the numbers of the report's pages."""
        return self.needed(NUMBERS)

    def page(self) -> ReportPage:
        """Return the contents of the report's page."""
        # Read before the numbers, so that a concurrent change is noticed the next time.
        mark = self.mark
        return report_page(self.project, self.numbers(), mark=mark)

    def download(self, ending: str) -> str:
        """Return the report in a format, by file ending."""
        return self.needed(DOWNLOAD, ending)

    def figure(self, kind: str, criterion: int) -> Figure | None:
        """Return a figure; None for a criterion without judges."""
        return self.part(FIGURE, kind, criterion)

    def figure_numbers(self, criterion: int) -> CriterionNumbers | None:
        """Return the numbers of the figures that the server draws; None for a criterion without
        judges."""
        return self.part(DRAWINGS, criterion)

    def documents_behind(self, criterion: int, judge: int) -> DocumentsBehind:
        """Return the documents behind a judge's number on a criterion."""
        return self.part(CELL, criterion, judge) or DocumentsBehind()

    def document_figures(self, sort: str) -> DocumentFigures:
        """Return the values by which documents are sorted; none for a judge without scores."""
        return self.part(DOCUMENTS, measure_of(sort)) or self.needed(DOCUMENTS, DISAGREEMENT)


@dataclass
class ComputedReport(ReportView):
    """A view whose parts are computed in this process; shared intermediate results are computed
    once.

    Args:
        read: reads all data of the project.
        probed: findings of probes of its judges, if already known.
        on_step: called as each step begins.
    """

    probed: Sequence[Sensitivity] | None = None
    read: Callable[[Project], ReportData] = live_data
    on_step: OnStep = unseen

    @cached_property
    def mark(self) -> str:
        return mark_of(self.project)

    def _read(self, part: "PagePart[Value]", *keys: Key) -> Value | None:
        return part.compute(self, *keys)

    @cached_property
    def everything(self) -> ReportData:
        return only_round(self.read(self.project), self.project, self.options.round)

    @cached_property
    def data(self) -> ReportData:
        """The data that the view selects."""
        return self.everything.selected(self.options)

    @cached_property
    def report(self) -> Report:
        return build_report(
            self.project,
            options=self.options,
            data=self.data,
            probed=self.probed,
            on_step=between(self.on_step, 0.1, 0.8),
        )

    @property
    def judged(self) -> list[CriterionResult]:
        """The results of criteria with judges."""
        return [result for result in self.report.criteria if result.judges]

    @cached_property
    def documents(self) -> DocumentFigures:
        return figures_of_documents(self.project, self.everything)

    def drawn(self, pk: int, draw: Callable[[Subject], Value]) -> Value | None:
        """Return a drawing of a criterion; None if it has no judges."""
        criterion = self.project.criteria.get(pk=pk)
        if "report" in vars(self):
            result = next(result for result in self.report.criteria if result.pk == pk)
        else:  # computing one criterion is faster than computing all
            result = criterion_result(
                self.project, criterion, options=self.options, data=self.data, probed=NOT_SHOWN
            )
        return draw(Subject(criterion, result, self.data)) if result.judges else None


@dataclass(frozen=True)
class PagePart(Generic[Value]):
    """A part of a view, or several that differ by keys, such as a criterion's id.

    Args:
        name: with the keys, the name of a stored part's row.
        compute: computes the part from a ComputedReport and its keys; None if the view does not
            have it.
        keys: the keys of all parts that a worker stores.
        step: the worker's description of this step.
        shorten: removes data that grows with the project and that no page of a large project shows.
        rename: gives annotators the names of a mapping, in a part that names them; has its keys.
    """

    name: str
    kind: type[Value]
    compute: Callable[..., Value | None]
    keys: Callable[[ComputedReport], Iterable[tuple[Key, ...]]] = lambda _report: [()]
    step: str = "comparing scores with ratings"
    shorten: Callable[[Value], Value] = lambda value: value
    rename: Callable[..., Value] = lambda value, _names, *_keys: value

    def named(self, *keys: Key) -> str:
        return "/".join([self.name, *map(str, keys)])


def _numbers(report: ComputedReport) -> ReportNumbers:
    return numbers_of(report.project, report.report, report.data)


def _for_pages(numbers: ReportNumbers) -> ReportNumbers:
    """Remove data that only downloads and figures show, which grows with documents and pairs of
    systems."""
    criteria = []
    for criterion in numbers.report.criteria:
        judges = []
        for judge in criterion.judges:
            correlations = replace(judge.analysis.correlations, by_document={})
            ppi = replace(judge.analysis.ppi, differences={})
            analysis = replace(judge.analysis, correlations=correlations, ppi=ppi)
            judges.append(replace(judge, analysis=analysis))
        criteria.append(replace(criterion, judges=tuple(judges)))
    return replace(numbers, report=replace(numbers.report, criteria=tuple(criteria)))


def _documents(report: ComputedReport, measure: str) -> DocumentFigures | None:
    return report.documents.only(measure) if measure in report.documents.measures else None


def _measures(report: ComputedReport) -> Iterable[tuple[Key, ...]]:
    """Return what documents are sorted by, which does not change with other views of the report."""
    return () if report.options.query else zip(report.documents.measures)


def _annotators(report: ComputedReport) -> AnnotatorsFound:
    on_step = between(report.on_step, 0.5, 1.0)
    return annotators_found(report.project, report.everything, report.view, on_step)


def part_of_page(
    kind: type[Value],
    compute: Callable[[Project, ReportData, Any], Value],
    shorten: Callable[[Value], Value] = lambda value: value,
) -> PagePart[Value]:
    """Return the single part of an additional page.

    Args:
        compute: computes it from the project, all its data, and the page's view.
    """
    return PagePart(
        "page",
        kind,
        lambda report: compute(report.project, report.everything, report.view),
        shorten=shorten,
    )


NUMBERS = PagePart(
    "numbers",
    ReportNumbers,
    _numbers,
    step="looking for outputs that address the judge",
    shorten=_for_pages,
    rename=numbers_renamed,
)
DOWNLOAD = PagePart(
    "download",
    str,
    lambda report, ending: BY_ENDING[ending].write(report.report),
    lambda _report: zip(BY_ENDING),
    "writing the downloads",
    rename=download_renamed,
)
FIGURE = PagePart(
    "figure",
    Figure,
    lambda report, kind, pk: report.drawn(pk, FIGURES[kind]),
    lambda report: ((kind, result.pk) for result in report.judged for kind in figures_of(result)),
    "drawing figures",
    rename=figure_renamed,
)
DRAWINGS = PagePart(
    "drawings",
    CriterionNumbers,
    lambda report, pk: report.drawn(pk, numbers_for_figures),
    lambda report: ((result.pk,) for result in report.judged),
    "drawing figures",
    rename=drawn_renamed,
)
CELL = PagePart(
    "cell",
    DocumentsBehind,
    lambda report, criterion, judge: documents_behind(report.data, criterion, judge),
    lambda report: ((result.pk, judge.pk) for result in report.judged for judge in result.judges),
    "listing the documents behind each number",
)
DOCUMENTS = PagePart("documents", DocumentFigures, _documents, _measures, "sorting documents")
ANNOTATORS = PagePart("page", AnnotatorsFound, _annotators)


class PageParts(NamedTuple):
    """The report (""), or an additional page: the prefix of its rows, the name of its URL, how its
    view is read from a query, its parts, and whether computing it takes seconds in any project."""

    word: str
    address: str
    read: Callable[[QueryDict, ReportOptions], AnyView]
    parts: tuple[PagePart[Any], ...]
    is_slow: bool = False

    def row_view(self, query: str) -> str:
        """Return the `view` column of a row for this page and query."""
        return f"{self.word}?{query}" if self.word else query


REPORT = PageParts(
    "",
    "report_detail",
    lambda _query, options: options,
    (NUMBERS, DOWNLOAD, FIGURE, DRAWINGS, CELL, DOCUMENTS),
)
PAGES = (
    REPORT,
    PageParts(
        "annotators",
        "report_annotators",
        lambda _query, options: of_ratings(options),
        (ANNOTATORS,),
        is_slow=True,
    ),
)


@cache
def pages() -> tuple[PageParts, ...]:
    """Return the report, and the pages that apps add."""
    return (*PAGES, *(page for of_app in added("report pages") for page in of_app))


@cache
def code_of(page: PageParts) -> str:
    """Return the version of a page's stored parts. After a change of types or software version they
    are computed again."""
    return f"{__version__} {shape_of(*dict.fromkeys(part.kind for part in page.parts))}"


def codes() -> set[str]:
    """Return the versions of all pages."""
    return {code_of(page) for page in pages()}


def page_and_query(row_view: str) -> tuple[PageParts, str]:
    """Return the page of a row, and the query string of its address."""
    word, mark, query = row_view.partition("?")
    page = next((page for page in pages() if mark and page.word == word), REPORT)
    return (REPORT, row_view) if page is REPORT else (page, query)
