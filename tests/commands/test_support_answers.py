"""The demo's third project: one expert's labels, pass or fail."""

import pytest

from evaluations.management.demo import load_support
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reports.words import headline

pytestmark = pytest.mark.django_db


def test_its_verdict_is_by_the_expert_and_loading_it_again_changes_nothing() -> None:
    project = load_support()

    assert headline(build_report(project).criteria) == (
        "Resolved: a judge agrees with your expert as required.",
    )
    assert load_support() == project == Project.objects.get()
    assert project.documents.count() == 240
