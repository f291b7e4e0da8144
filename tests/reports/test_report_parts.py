"""A part of a report is the same, computed in this process or read from a worker's row."""

from typing import Any

import pytest

from evaluations.models import Project
from evaluations.reports.serving.parts import (
    REPORT,
    ReportView,
    page_and_query,
    pages,
    row_name,
)
from evaluations.reports.serving.view import report_view
from evaluations.reports.serving.worker import neglected_reports, work_on_report
from geval.reports.options import ReportOptions
from geval.reports.stored import restored, stored


@pytest.mark.django_db
def test_a_worker_stores_every_part_that_is_computed_here(
    judged_project: Project, settings: Any
) -> None:
    here = report_view(judged_project, ReportOptions())
    assert not here.cached
    settings.REPORT_IN_PAGE_NUMBERS = 0
    assert not report_view(judged_project, ReportOptions()).has_numbers
    for pk in neglected_reports():
        work_on_report(pk)
    read = report_view(judged_project, ReportOptions())

    for name, part in REPORT.parts.items():
        keys = list(part.keys(here))
        assert keys, name
        for key in keys:
            value = part.shorten(here.needed(name, *key))
            expected = restored(stored(value), part.kind)
            assert repr(read.part(name, *key)) == repr(expected), row_name(name, *key)
    assert read.cached
    assert read.cached.last
    assert read.cached.last.parts.count() == sum(
        len(list(part.keys(here))) for part in REPORT.parts.values()
    )


@pytest.mark.django_db
def test_only_the_whole_report_sorts_documents(judged_project: Project) -> None:
    of_a_level = ReportView(judged_project, REPORT, ReportOptions(level="system"))

    assert not list(REPORT.parts["documents"].keys(of_a_level))
    assert list(REPORT.parts["numbers"].keys(of_a_level)) == [()]


@pytest.mark.parametrize("page", pages().values(), ids=lambda page: page.word or "report")
@pytest.mark.parametrize("query", ["", "level=system", "documents=compare?x"])
def test_a_row_says_which_page_and_view_it_is_about(page: Any, query: str) -> None:
    assert page_and_query(page.row_view(query)) == (page, query)
