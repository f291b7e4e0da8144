"""A judge's page says how it agrees with people, and which judge does better."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.models import Project
from evaluations.reports.serving.view import report_view
from geval.reports.at_a_glance import at_a_glance
from geval.reports.judge_standing import judge_standings
from geval.reports.options import ReportOptions
from tests.reports.test_report_at_a_glance import measured  # noqa: F401 (a fixture)

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(as_role: Callable[[str], Client], project: Project) -> Client:
    return as_role("viewer")


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


@pytest.mark.parametrize("is_at_hand", [True, False])
def test_the_page_has_it_or_fetches_it(
    client: Client,
    measured: Project,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    is_at_hand: bool,
) -> None:
    monkeypatch.setattr(
        "evaluations.reports.serving.parts.takes_a_moment", lambda _project: is_at_hand
    )
    noise = measured.judges.get(name="noise")
    address = f"{noise.get_absolute_url()}standing/"

    page = client.get(noise.get_absolute_url()).content.decode()
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()

    assert (address in page) is not is_at_hand
    part = page if is_at_hand else part
    assert "Coherence: keep people rating." in part
    assert "Keep people rating" in part
    words = " ".join(re.sub(r"<.*?>", "", part).split())
    assert re.search(r"\bfair\W+(which )?comes first", words)


def test_a_judge_without_common_outputs_has_none(
    client: Client, project: Project, make_judge: Callable[..., object]
) -> None:
    judge = make_judge(project, name="New")

    assert "Nothing yet" in client.get(f"{judge.get_absolute_url()}standing/").content.decode()  # type: ignore[attr-defined]
