"""A judge's page says how it agrees with people, and which judge does better."""

import pytest

from evaluations.models import Project
from evaluations.reports.serving.view import report_view
from geval.reports.at_a_glance import at_a_glance
from geval.reports.judge_standing import judge_standings
from geval.reports.options import ReportOptions
from tests.reports.test_report_at_a_glance import measured  # noqa: F401 (a fixture)

pytestmark = pytest.mark.django_db


def test_it_says_what_the_report_says(measured: Project) -> None:  # noqa: F811
    report = report_view(measured, ReportOptions()).numbers().report
    fair, noise = (measured.judges.get(name=name) for name in ("fair", "noise"))
    criterion = report.criteria[0]

    (of_fair,), (of_noise,) = (judge_standings(report, judge.pk) for judge in (fair, noise))

    assert of_fair.verdict == criterion.verdict
    (row,) = at_a_glance(report).rows
    assert row.judge
    assert (of_fair.value, of_fair.interval) == (row.judge.value, row.judge.interval)
    assert of_fair.better is None
    assert of_noise.better
    assert of_noise.better.pk == fair.pk
    assert of_fair.outputs == criterion.judges[0].correlations.pairs
    assert of_fair.value > of_noise.value
