"""From the lock to the last look, reports and pages leave locked documents out and say so."""

import pytest

from assurance.improving.looking import look
from assurance.improving.work import request_search, work_on_search
from evaluations.corpus.locks.locking import lock_documents
from evaluations.models import Change, Criterion, Judge, Project
from evaluations.reports.report import build_report
from evaluations.reports.serving.live import live_data
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_text

pytestmark = pytest.mark.django_db


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
