"""A view of a report, and the parts of it that pages, figures and downloads show.

The report's parts are listed here; `geval_site/extensions.py` names the pages of other apps. For a
small project a web process computes the part that it shows; for a large one a worker computes all
parts of a view and stores them by name.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

from cachetools import LRUCache, cached
from django.utils import timezone

from evaluations.models import KeptPart, KeptReport, KeptState, Project, WorkerHeartbeat
from evaluations.reports.annotators import annotators_found
from evaluations.reports.by_field import FieldNumbers, field_numbers, read_field_view
from evaluations.reports.data import only_round, without_labels
from evaluations.reports.page import numbers_of, report_page
from evaluations.reports.ratings.pseudonyms import (
    download_renamed,
    drawn_renamed,
    numbers_renamed,
)
from evaluations.reports.report import Sensitivity, build_report, criterion_result
from evaluations.reports.serving.live import (
    data_with_labels,
    mark_of,
    marks_of_runs,
    takes_a_moment,
)
from geval.reports.annotators import AnnotatorsFound, of_ratings
from geval.reports.data import ReportData
from geval.reports.document_figures import (
    DocumentFigures,
    DocumentsBehind,
    document_figures,
    documents_behind,
)
from geval.reports.downloads.formats import BY_ENDING
from geval.reports.drawings.numbers import CriterionNumbers
from geval.reports.figure_numbers import numbers_for_figures
from geval.reports.figures import FIGURES, Figure, Subject, figures_of
from geval.reports.options import ReportOptions
from geval.reports.page import ReportNumbers, ReportPage
from geval.reports.report import CriterionResult, Report
from geval.reports.stored import restored, shape_of
from geval.reports.verdicts.steps import OnStep, between, unseen
from geval_site.extensions import added
from geval_site.version import __version__

QUEUE = "reports"
# Number of reports cached in a web process; without texts and arrays each is small.
MOST_READ = 8


@dataclass(frozen=True)
class Part:
    """A part of a view, or several that differ by keys, such as a criterion's id.

    Args:
        compute: computes the part from a ReportView and its keys; None if the view does not have
            it.
        keys: the keys of all parts that a worker stores.
        step: the worker's description of this step.
        shorten: removes data that grows with the project and that no page of a large project shows.
        rename: gives annotators the names of a mapping, in a part that names them; has its keys.
    """

    kind: type
    compute: Callable[..., Any]
    keys: Callable[["ReportView"], Iterable[tuple[Any, ...]]] = lambda _report: [()]
    step: str = "comparing scores with ratings"
    shorten: Callable[[Any], Any] = lambda value: value
    rename: Callable[..., Any] = lambda value, _names, *_keys: value


class PageParts(NamedTuple):
    """The report (""), or an additional page: the prefix of its rows, the name of its URL, how its
    view is read from a query and the report's options, its parts by name, and whether computing it
    takes seconds in any project."""

    word: str
    address: str
    read: Callable[..., Any]
    parts: Mapping[str, Part]
    is_slow: bool = False

    def row_view(self, query: str) -> str:
        """Return the `view` column of a row for this page and query."""
        return f"{self.word}?{query}" if self.word else query


class NotComputedError(Exception):
    """There are no numbers to show yet; `cached` has their progress."""

    def __init__(self, cached: "ReportView") -> None:
        super().__init__("a worker is computing this report")
        self.cached = cached


@dataclass
class ReportView:
    """A view of a project's report, or of an additional page: computed in this process, where
    intermediate results are computed once, or read from a worker's row.

    Args:
        view: the options of the report, or the view of the additional page, which has `options`.
        names: pseudonyms by annotators' names; none: real names are shown.
        probed: findings of probes of its judges, if already known.
        read: reads all data of the project.
        on_step: called as each step begins.
        is_kept: a worker computes it; what needs numbers before it has any raises NotComputedError.
        last: the newest finished numbers.
        coming: newer ones: waiting, being computed, or failed; None while `last` is up to date.
    """

    project: Project
    page_parts: PageParts
    view: Any
    names: Mapping[str, str] = field(default_factory=dict)
    probed: Sequence[Sensitivity] | None = None
    read: Callable[[Project], ReportData] = data_with_labels
    on_step: OnStep = unseen
    is_kept: bool = False
    last: KeptReport | None = None
    coming: KeptReport | None = None

    @property
    def options(self) -> ReportOptions:
        return self.view if isinstance(self.view, ReportOptions) else self.view.options

    @property
    def cached(self) -> "ReportView | None":
        """The view, if a worker computes it: the age of its numbers, the progress of newer ones."""
        return self if self.is_kept else None

    @property
    def has_numbers(self) -> bool:
        return not self.is_kept or self.last is not None

    @property
    def is_at_hand(self) -> bool:
        """Whether its numbers are available immediately."""
        return self.last is not None if self.is_kept else takes_a_moment(self.project)

    @cached_property
    def mark(self) -> str:
        """A short text that changes whenever there is something new to show."""
        if not self.is_kept:
            return mark_of(self.project)
        return "-".join([f"kept.{self.last.pk if self.last else 0}", *marks_of_runs(self.project)])

    def part(self, name: str, *keys: int | str) -> Any:
        """Return a part; None if the view does not have it."""
        part = self.page_parts.parts[name]
        if not self.is_kept:
            value = part.compute(self, *keys)
        elif self.last is None:
            raise NotComputedError(self)
        else:
            # The numbers are needed by every request of the report's page.
            read = _numbers_kept if name == "numbers" else kept_part
            value = read(self.last.pk, row_name(name, *keys), part.kind)
        return value if value is None or not self.names else part.rename(value, self.names, *keys)

    def needed(self, name: str, *keys: int | str) -> Any:
        """Return a part that every such view has."""
        value = self.part(name, *keys)
        if value is None:  # the row was just removed
            raise NotComputedError(self)
        return value

    def numbers(self) -> ReportNumbers:
        """Return the numbers of the report's pages."""
        numbers: ReportNumbers = self.needed("numbers")
        return numbers

    def page(self) -> ReportPage:
        """Return the contents of the report's page."""
        # Read before the numbers, so that a concurrent change is noticed the next time.
        mark = self.mark
        return report_page(self.project, self.numbers(), mark=mark)

    def figure_numbers(self, criterion: int) -> CriterionNumbers | None:
        """Return the numbers of the figures that the server draws; None for a criterion without
        judges."""
        numbers: CriterionNumbers | None = self.part("drawings", criterion)
        return numbers

    def documents_behind(self, criterion: int, judge: int) -> DocumentsBehind:
        """Return the documents behind a judge's number on a criterion."""
        return self.part("cell", criterion, judge) or DocumentsBehind()

    # Computed in this process

    @cached_property
    def with_labels(self) -> ReportData:
        """All data, with labels that have no order, which only the report knows."""
        return only_round(self.read(self.project), self.project, self.options.round)

    @cached_property
    def everything(self) -> ReportData:
        return without_labels(self.with_labels, self.project.criteria.all())

    @cached_property
    def data(self) -> ReportData:
        """The data that the view selects."""
        return self.everything.selected(self.options)

    @cached_property
    def report(self) -> Report:
        return build_report(
            self.project,
            options=self.options,
            data=self.with_labels.selected(self.options),
            probed=self.probed,
            on_step=between(self.on_step, 0.1, 0.8),
        )

    @property
    def judged(self) -> list[CriterionResult]:
        """The results of criteria with judges."""
        return [result for result in self.report.criteria if result.judges]

    @cached_property
    def documents(self) -> DocumentFigures:
        """The figures of all documents."""
        on_scale = {judge.pk for judge in self.project.judges.all() if judge.rates_on_scale}
        return document_figures(self.everything, self.project.criteria.all(), on_scale)

    def drawn(self, pk: int, draw: Callable[[Subject], Any]) -> Any:
        """Return a drawing of a criterion; None if it has no judges."""
        criterion = self.project.criteria.get(pk=pk)
        if "report" in vars(self):
            result = next(result for result in self.report.criteria if result.pk == pk)
        else:  # computing one criterion is faster than computing all; figures show no probes
            result = criterion_result(
                self.project, criterion, options=self.options, data=self.data, probed=()
            )
        return draw(Subject(criterion, result, self.data)) if result.judges else None

    # Computed by a worker

    @property
    def age_seconds(self) -> int | None:
        """Seconds since the data of the last numbers was read."""
        if self.last is None or self.last.computed_at is None:
            return None
        return round((timezone.now() - self.last.computed_at).total_seconds())

    @property
    def has_worker(self) -> bool:
        """Whether a worker that computes reports is alive."""
        return WorkerHeartbeat.objects.doing(QUEUE).exists()

    @property
    def in_words(self) -> str:
        """The state of newer numbers as a sentence."""
        coming = self.coming
        if coming is None:
            return "The report is up to date."
        if coming.has_failed:
            return coming.message
        if coming.state == KeptState.WAITING:
            return "A worker will compute this report; it waits for its turn."
        step = f": {coming.step}" if coming.step else ""
        return f"A worker is computing this report, {100 * coming.share:.0f} % done{step}."


def row_name(name: str, *keys: int | str) -> str:
    """Return the name of a stored part's row."""
    return "/".join([name, *map(str, keys)])


def kept_part(kept: int, name: str, kind: type) -> Any:
    """Return a stored part of a report; None if it has no such part, or was removed."""
    content = KeptPart.objects.filter(kept=kept, name=name).values_list("content", flat=True)
    return next((restored(row, kind) for row in content), None)


# Rows are written once.
_numbers_kept = cached(LRUCache(MOST_READ), lock=threading.Lock())(kept_part)


def _numbers(report: ReportView) -> ReportNumbers:
    return numbers_of(report.project, report.report, report.data)


def _for_pages(numbers: ReportNumbers) -> ReportNumbers:
    """Remove data that only downloads and figures show, which grows with documents."""
    criteria = []
    for criterion in numbers.report.criteria:
        judges = []
        for judge in criterion.judges:
            correlations = replace(judge.analysis.correlations, by_document={})
            analysis = replace(judge.analysis, correlations=correlations)
            judges.append(replace(judge, analysis=analysis))
        criteria.append(replace(criterion, judges=tuple(judges)))
    return replace(numbers, report=replace(numbers.report, criteria=tuple(criteria)))


def _documents(report: ReportView, measure: str) -> DocumentFigures | None:
    return report.documents.only(measure) if measure in report.documents.measures else None


def _measures(report: ReportView) -> Iterable[tuple[Any, ...]]:
    """Return what documents are sorted by, which does not change with other views of the report."""
    return () if report.options.query else zip(report.documents.measures)


def _annotators(report: ReportView) -> AnnotatorsFound:
    on_step = between(report.on_step, 0.5, 1.0)
    return annotators_found(report.project, report.everything, report.view, on_step)


def part_of_page(
    kind: type,
    compute: Callable[[Project, ReportData, Any], Any],
    shorten: Callable[[Any], Any] = lambda value: value,
    *,
    has_labels: bool = False,
) -> dict[str, Part]:
    """Return the single part of an additional page.

    Args:
        compute: computes it from the project, all its data, and the page's view.
        has_labels: the data include labels that have no order.
    """
    return {
        "page": Part(
            kind,
            lambda report: compute(
                report.project,
                report.with_labels if has_labels else report.everything,
                report.view,
            ),
            shorten=shorten,
        )
    }


REPORT = PageParts(
    "",
    "report_detail",
    lambda _query, options: options,
    {
        "numbers": Part(
            ReportNumbers,
            _numbers,
            step="looking for outputs that address the judge",
            shorten=_for_pages,
            rename=numbers_renamed,
        ),
        "download": Part(
            str,
            lambda report, ending: BY_ENDING[ending].write(report.report),
            lambda _report: zip(BY_ENDING),
            "writing the downloads",
            rename=download_renamed,
        ),
        "figure": Part(
            Figure,
            lambda report, kind, pk: report.drawn(pk, FIGURES[kind]),
            lambda report: (
                (kind, result.pk) for result in report.judged for kind in figures_of(result)
            ),
            "drawing figures",
        ),
        "drawings": Part(
            CriterionNumbers,
            lambda report, pk: report.drawn(pk, numbers_for_figures),
            lambda report: ((result.pk,) for result in report.judged),
            "drawing figures",
            rename=drawn_renamed,
        ),
        "cell": Part(
            DocumentsBehind,
            lambda report, criterion, judge: documents_behind(report.data, criterion, judge),
            lambda report: (
                (result.pk, judge.pk) for result in report.judged for judge in result.judges
            ),
            "listing the documents behind each number",
        ),
        "documents": Part(DocumentFigures, _documents, _measures, "sorting documents"),
    },
)
ANNOTATORS = PageParts(
    "annotators",
    "report_annotators",
    lambda _query, options: of_ratings(options),
    {"page": Part(AnnotatorsFound, _annotators)},
    is_slow=True,
)

BY_FIELD = PageParts(
    "groups",
    "report_groups",
    read_field_view,
    {
        "page": Part(
            FieldNumbers,
            lambda report: field_numbers(report.project, report.with_labels, report.view),
        )
    },
)


@cache
def pages() -> dict[str, PageParts]:
    """Return the report, and the pages that apps add, by word."""
    return {page.word: page for page in (REPORT, ANNOTATORS, BY_FIELD, *added("report pages"))}


@cache
def code() -> str:
    """Return the version of stored parts. After a change of types or software version they are
    computed again."""
    kinds = [part.kind for page in pages().values() for part in page.parts.values()]
    return f"{__version__} {shape_of(*dict.fromkeys(kinds))}"


def page_and_query(row_view: str) -> tuple[PageParts, str]:
    """Return the page of a row, and the query string of its address."""
    word, mark, query = row_view.partition("?")
    return (pages()[word], query) if mark and word in pages() else (REPORT, row_view)
