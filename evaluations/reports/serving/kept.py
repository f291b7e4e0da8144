"""Reports of large projects as web processes see them: the last numbers, and newer ones on their
way.

A web process reads what a worker has kept (`keeping.py`), and asks for new numbers where these are
no longer those of the project. It never computes them.
"""

import threading
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar, cast

from cachetools import LRUCache, cached
from django.db import connection, transaction
from django.utils import timezone

from evaluations.models import KeptPart, KeptReport, KeptState, Project, WorkerHeartbeat
from evaluations.models.kept_reports import OPEN
from evaluations.models.noted_changes import state_of
from evaluations.people.waking import wake_for_report
from evaluations.reports.annotators import AnnotatorsFound
from evaluations.reports.disagreements.numbers import GapNumbers
from evaluations.reports.drilldown import DocumentsBehind
from evaluations.reports.figures import Figure
from evaluations.reports.options import ReportOptions
from evaluations.reports.page import ReportNumbers
from evaluations.reports.ranking import DISAGREEMENT, DocumentFigures, measure_of
from evaluations.reports.report import JudgeResult
from evaluations.reports.serving.memo import digest_of
from evaluations.reports.serving.size import is_large
from evaluations.reports.serving.stored import restored, shape_of
from evaluations.reports.two_judges.numbers import PairNumbers
from evaluations.reports.two_judges.tests import PairTests
from geval.drawings.numbers import CriterionNumbers
from geval_site.version import __version__

Part = TypeVar("Part")
# Which software can read what was kept: with other types or another version it is computed again.
_TYPES = (
    ReportNumbers,
    Figure,
    CriterionNumbers,
    DocumentsBehind,
    DocumentFigures,
    GapNumbers,
    PairNumbers,
    PairTests,
    AnnotatorsFound,
)
CODE = f"{__version__} {shape_of(*_TYPES)}"
# A computation that failed is tried again when somebody looks after this time, or asks for it.
RETRY_AFTER = timedelta(minutes=10)
# Reports whose numbers a web process has at hand; without texts and arrays each is small.
MOST_READ = 8
# Views of a project that wait for a worker.
MOST_WAITING = 20
QUEUE = "reports"
# Pages of their own.
DISAGREEMENTS, COMPARE, PAIR_TESTS = "disagreements", "compare", "pair-tests"
ANNOTATORS = "annotators"
PAGES = (DISAGREEMENTS, COMPARE, PAIR_TESTS, ANNOTATORS)
# Every name and setting that a report shows or depends on.
_FRAME = " || ".join(
    f"""(SELECT md5(coalesce(string_agg(t::text, ';' ORDER BY t.id), ''))
         FROM {table} t WHERE t.{key} = %(project)s)"""
    for table, key in (
        ("evaluations_project", "id"),
        ("evaluations_criterion", "project_id"),
        ("evaluations_judge", "project_id"),
        ("evaluations_system", "project_id"),
        ("annotations_annotator", "project_id"),
    )
)


class NotComputedError(Exception):
    """There are no numbers to show yet; `kept` says how far they are."""

    def __init__(self, kept: "KeptView") -> None:
        super().__init__("a worker is computing this report")
        self.kept = kept


@dataclass(frozen=True)
class KeptView:
    """A view of a large project's report.

    `last` has the newest numbers there are. `coming` are newer ones: waiting, being computed, or
    failed; None while `last` is up to date.
    """

    last: KeptReport | None
    coming: KeptReport | None

    @property
    def mark(self) -> str:
        """Differs whenever there are new numbers."""
        return f"kept.{self.last.pk if self.last else 0}"

    @property
    def age_seconds(self) -> int | None:
        """How long ago the last numbers were read."""
        if self.last is None or self.last.computed_at is None:
            return None
        return round((timezone.now() - self.last.computed_at).total_seconds())

    @property
    def has_worker(self) -> bool:
        """Whether a worker is alive that computes reports."""
        return WorkerHeartbeat.objects.doing(QUEUE).exists()

    @property
    def is_of_large(self) -> bool:
        """Whether a worker computes it because the project is large; some pages take one in any
        project."""
        row = self.coming or self.last
        return row is None or page_and_query(row.view)[0] not in (PAIR_TESTS, ANNOTATORS)

    @property
    def in_words(self) -> str:
        """What is being done about newer numbers."""
        coming = self.coming
        if coming is None:
            return "The report is up to date."
        if coming.has_failed:
            return coming.message
        if coming.state == KeptState.WAITING:
            return "A worker will compute this report; it waits for its turn."
        step = f": {coming.step}" if coming.step else ""
        return f"A worker is computing this report, {100 * coming.share:.0f} % done{step}."

    def numbers(self) -> ReportNumbers:
        """What the pages show.

        Raises:
            NotComputedError: there are no numbers yet; so do the other parts.
        """
        return self._part(numbers_part(), ReportNumbers)

    def download(self, ending: str) -> str:
        """The report in a format, by the ending of its files."""
        return self._part(download_part(ending), str)

    def figure(self, kind: str, criterion: int) -> Figure | None:
        return self._found(figure_part(kind, criterion), Figure)

    def figure_numbers(self, criterion: int) -> CriterionNumbers | None:
        """The numbers of the figures that the server draws."""
        return self._found(drawings_part(criterion), CriterionNumbers)

    def documents_behind(self, criterion: int, judge: int) -> DocumentsBehind:
        return self._found(cell_part(criterion, judge), DocumentsBehind) or DocumentsBehind()

    def document_figures(self, sort: str) -> DocumentFigures:
        """What a sort of the documents goes by; of a judge without scores there is nothing."""
        found = self._found(documents_part(measure_of(sort)), DocumentFigures)
        return found or self._part(documents_part(DISAGREEMENT), DocumentFigures)

    def page(self, kind: type[Part]) -> Part:
        """The numbers of a page of its own."""
        return self._part(page_part(), kind)

    def _part(self, name: str, kind: type[Part]) -> Part:
        found = self._found(name, kind)
        if found is None:
            raise NotComputedError(self)
        return found

    def _found(self, name: str, kind: type[Part]) -> Part | None:
        if self.last is None:
            raise NotComputedError(self)
        parts = KeptPart.objects.filter(kept=self.last, name=name)
        if kind is ReportNumbers:  # which every request of the report's page needs
            pk = parts.values_list("pk", flat=True).first()
            return cast("Part | None", None if pk is None else _numbers(pk))
        part = parts.first()
        return restored(part.content, kind) if part else None


@cached(LRUCache(MOST_READ), lock=threading.Lock())
def _numbers(pk: int) -> ReportNumbers | None:
    """What a row holds; rows are written once. None if it is gone."""
    part = KeptPart.objects.filter(pk=pk).first()
    return restored(part.content, ReportNumbers) if part else None


def numbers_part() -> str:
    return "numbers"


def page_part() -> str:
    return "page"


def download_part(ending: str) -> str:
    return f"download/{ending}"


def figure_part(kind: str, criterion: int) -> str:
    return f"figure/{kind}/{criterion}"


def drawings_part(criterion: int) -> str:
    return f"drawings/{criterion}"


def cell_part(criterion: int, judge: int) -> str:
    return f"cell/{criterion}/{judge}"


def documents_part(measure: str) -> str:
    return f"documents/{measure}"


def for_pages(numbers: ReportNumbers) -> ReportNumbers:
    """Without what only downloads and figures hold, which grows with documents and with pairs of
    systems; these are kept apart."""
    criteria = tuple(
        replace(criterion, judges=tuple(_for_pages(judge) for judge in criterion.judges))
        for criterion in numbers.report.criteria
    )
    return replace(numbers, report=replace(numbers.report, criteria=criteria))


def _for_pages(result: JudgeResult) -> JudgeResult:
    analysis = result.analysis
    return replace(
        result,
        analysis=replace(
            analysis,
            correlations=replace(analysis.correlations, by_document={}),
            ppi=replace(analysis.ppi, differences={}),
        ),
    )


def kept_view(project: Project, options: ReportOptions) -> KeptView | None:
    """What is kept of a view; None for a small project, whose numbers are computed as they are
    asked for. Where the last numbers are not those of the project as it is, new ones are asked
    for."""
    return _kept(project, options.query) if is_large(project) else None


def kept_page(project: Project, page: str, query: str) -> KeptView | None:
    """The same for a page of its own, by what follows the question mark in its address.

    Args:
        page: one of `PAGES`.
    """
    return _kept(project, page_view(page, query)) if is_large(project) else None


def kept_tests(project: Project, query: str) -> KeptView:
    """What is kept of the tests between two judges, which take a worker seconds in any project."""
    return _kept(project, page_view(PAIR_TESTS, query))


def kept_annotators(project: Project, query: str) -> KeptView:
    """What is kept of annotators' numbers, which take a worker seconds in any project."""
    return _kept(project, page_view(ANNOTATORS, query))


def page_view(page: str, query: str) -> str:
    """What a row says that is about a page: its name and its query."""
    return f"{page}?{query}"


def page_and_query(view: str) -> tuple[str, str]:
    """What a row is about: a page ("" for the report), and what follows the question mark."""
    page, mark, query = view.partition("?")
    return (page, query) if mark and page in PAGES else ("", view)


def _kept(project: Project, view: str) -> KeptView:
    rows = KeptReport.objects.filter(project=project, view=view, code=CODE)
    last, fingerprint = rows.done().first(), fingerprint_of(project)
    if last is not None and last.fingerprint == fingerprint:
        return KeptView(last, None)
    coming = rows.exclude(state=KeptState.DONE).first()
    if coming is None or (coming.has_failed and _may_be_tried_again(coming, fingerprint)):
        coming = _request(project, view)
    return KeptView(last, coming)


def try_again(project: Project, view: str) -> None:
    """Forget that computing a view has failed: it is asked for as it is looked at next."""
    KeptReport.objects.filter(project=project, view=view, state=KeptState.FAILED).delete()


def fingerprint_of(project: Project) -> str:
    """A short text that differs whenever something may differ that a report shows: ratings, scores,
    comparisons, and the names and settings of what they belong to."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_FRAME}", {"project": project.pk})
        frame = cursor.fetchone()[0]
    return digest_of("fingerprint", [frame, sorted(state_of(project.pk).items(), key=repr)]).hex()


def _may_be_tried_again(failed: KeptReport, fingerprint: str) -> bool:
    is_old = failed.ended_at is not None and failed.ended_at < timezone.now() - RETRY_AFTER
    return is_old or failed.fingerprint != fingerprint


def _forget_waiting(project: Project) -> None:
    """Of many views that wait, the oldest are asked for again by the pages that still show them."""
    waiting = KeptReport.objects.filter(project=project, state=KeptState.WAITING).order_by("-pk")
    waiting.filter(pk__in=list(waiting.values_list("pk", flat=True)[MOST_WAITING:])).delete()


def _request(project: Project, view: str) -> KeptReport:
    """Ask a worker for new numbers; those who ask meanwhile share the row."""
    with transaction.atomic():
        KeptReport.objects.filter(project=project, view=view, state=KeptState.FAILED).delete()
        wanted, made = KeptReport.objects.get_or_create(
            project=project, view=view, code=CODE, state__in=OPEN
        )
        if made:
            _forget_waiting(project)
            transaction.on_commit(lambda: wake_for_report(wanted.pk))
    return wanted
