"""From the lock to the last look, reports and pages leave locked documents out and say so."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from assurance.improving.looking import look
from assurance.improving.work import request_search, work_on_search
from evaluations.corpus.locks.locking import lock_documents
from evaluations.models import Change, Criterion, Document, Judge, LockedDocuments, Project
from evaluations.reports.report import build_report
from evaluations.reports.serving.live import live_data
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_text
from geval.statistics.locked_rule import is_locked

pytestmark = pytest.mark.django_db


def locked_document(project: Project, locked: LockedDocuments, *, other: bool = False) -> Document:
    return next(
        one
        for one in project.documents.all()
        if is_locked(one.doc_id, seed=locked.seed, share=locked.share) is not other
    )


@pytest.fixture
def viewer(as_role: Callable[[str], Client]) -> Client:
    return as_role("viewer")


def take_both_looks(judge: Judge, criterion: Criterion) -> None:
    """All looks of the fixture, one after another."""
    for change in (Change.PANEL, Change.CALIBRATION):
        search = request_search(judge, criterion, [change])
        work_on_search(search.pk)
        look(search.candidates.get())


def test_reports_leave_them_out_until_the_last_look(
    judge: Judge, criterion: Criterion, rated_project: Project
) -> None:
    before = build_report(rated_project)
    whole = len(live_data(rated_project).doc_ids)
    lock_documents(rated_project, seed="fixed", looks=2)
    during = build_report(rated_project)
    left = len(live_data(rated_project).doc_ids)
    assert during.withheld == whole - left > 10
    assert during.criteria[0].documents == left
    assert f"{during.withheld} locked documents are left out until" in as_text(during)
    assert f'"withheld_documents": {during.withheld}' in as_json(during)
    search = request_search(judge, criterion, [Change.PANEL])
    work_on_search(search.pk)
    look(search.candidates.get())
    # One look is left, so nothing is shown yet.
    assert as_json(build_report(rated_project)) == as_json(during)
    search = request_search(judge, criterion, [Change.CALIBRATION])
    work_on_search(search.pk)
    look(search.candidates.get())
    assert as_json(build_report(rated_project)) == as_json(before)
    assert len(live_data(rated_project).doc_ids) == whole


def test_a_locked_documents_page_says_so_and_has_no_ratings(
    judge: Judge,
    criterion: Criterion,
    locked: LockedDocuments,
    rated_project: Project,
    viewer: Client,
) -> None:
    hidden = locked_document(rated_project, locked)
    shown = locked_document(rated_project, locked, other=True)

    def page(document: Document) -> str:
        address = reverse("evaluations:document_detail", args=["small", document.pk])
        return viewer.get(address).content.decode()

    assert "ratings of it are withheld" in page(hidden)
    assert "ann: " not in page(hidden)
    assert "withheld" not in page(shown)
    take_both_looks(judge, criterion)
    assert "withheld" not in page(hidden)
    assert "ann: " in page(hidden)


def test_pages_of_a_project_with_a_lock_work(
    locked: LockedDocuments,
    rated_project: Project,
    viewer: Client,
) -> None:
    for name in (
        "report_detail",
        "disagreement_list",
        "judge_compare",
        "document_list",
        "project_detail",
    ):
        address = reverse(f"evaluations:{name}", args=["small"])
        answer = viewer.get(address)
        assert answer.status_code == 200, name
    report = viewer.get(reverse("evaluations:report_detail", args=["small"])).content.decode()
    assert "left out until the last look" in report
