"""The demo searches for a better wording, which changes one of its verdicts."""

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from evaluations.models import Look, Project
from evaluations.reports.report import build_report
from geval.reports.verdicts.verdict import Verdict
from tests.slow.test_demo_command import UNSEARCHED, run_demo, verdicts_in_report_and_table

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes, pytest.mark.slow]


def test_a_wording_is_proven_and_changes_a_verdict(
    manage: Callable[..., CompletedProcess[str]],
) -> None:
    done = run_demo(manage)

    assert (done.returncode, done.stderr) == (0, "")
    project = Project.objects.get(slug="three-answers")
    assert "search" in project.description
    verdicts = verdicts_in_report_and_table(project, done.stdout)
    assert verdicts == UNSEARCHED | {"quality": Verdict.STANDS_IN}
    first = project.judges.get(version=1)
    [quality] = project.criteria.filter(name="quality")
    [before] = build_report(project, judges=[first], criteria=[quality]).criteria
    assert before.verdict == UNSEARCHED["quality"]
    assert Look.objects.get(candidate__search__project=project).outcome == "proven"
    assert "Before the search, quality was: keep people rating." in done.stdout
