"""The demo's third project: one expert's labels, pass or fail."""

import pytest

import geval
from evaluations.management.demo import load_support
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reports.at_a_glance import at_a_glance
from geval.reports.verdicts.verdict import Verdict
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


def test_what_is_required_is_drawn_beside_each_other() -> None:
    glance = at_a_glance(build_report(load_support()))

    assert glance.is_by_labels
    assert glance.share_names == ("fails found, or kappa", "passes kept")
    assert len(glance.axes) == 2
    drawn = {row.criterion: [share.name for share in row.shares] for row in glance.rows}
    assert drawn["quality"] == ["weighted kappa"]
    assert drawn["resolved"] == ["fails found", "passes kept"]


def test_a_group_that_a_judge_may_not_decide_has_the_reason() -> None:
    (result,) = geval.measure(geval.load_example("support"), by="language").by_field

    reasons = {row.value: (row.verdict, row.why) for row in result.values}
    assert reasons["es"] == (Verdict.KEEP_EXPERT, "Texts of like length may do as well.")
    assert all(why for _verdict, why in reasons.values())
