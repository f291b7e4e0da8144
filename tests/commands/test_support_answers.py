"""The demo's third project: one expert's labels, pass or fail."""

import pytest

from evaluations.management.demo import load_support
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reports.words import headline

pytestmark = pytest.mark.django_db


def test_its_verdict_is_by_the_expert_and_loading_it_again_changes_nothing() -> None:
    project = load_support()

    report = build_report(project)
    (resolved,) = [each for each in report.criteria if each.criterion == "resolved"]
    assert headline([resolved]) == ("Resolved: a judge agrees with your expert as required.",)
    (quality,) = [each for each in report.criteria if each.items]
    assert (quality.criterion, quality.items, quality.rated_outputs) == ("quality", 3, 240)
    assert quality.as_close is None
    (not_applicable,) = report.not_applicable
    assert (not_applicable.criterion, not_applicable.both) == ("dated", 30)
    assert load_support() == project == Project.objects.get()
    assert project.documents.count() == 240
