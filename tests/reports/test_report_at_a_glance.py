"""What the report's page says first: verdicts, all judges on one axis, runs in progress, low
coverage."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client

from evaluations.corpus.store import LoadResult
from evaluations.models import EvaluationRun, ItemState, Project, RunItem, RunState, Score
from evaluations.reports.serving.view import report_view
from geval.reports.drawings.forest import shared_axis
from geval.reports.options import ReportOptions
from tests.reports.test_best_judge import FAIR, OUTPUTS, rated, scored

Load = Callable[..., LoadResult]
ADDRESS = "/p/small/report/"


@pytest.fixture
def client(as_role: Callable[[str], Client], project: Project) -> Client:
    return as_role("owner")


@pytest.fixture
def measured(project: Project, load: Load) -> Project:
    """Forty documents, three people, a fair judge, noise, and a metric on another scale."""
    judges = {"fair": FAIR, "noise": np.flip(FAIR), "metric": FAIR / 10}
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored(judges)})
    return project


def page(client: Client, query: str = "") -> str:
    """The text of the page with white space folded."""
    return " ".join(client.get(ADDRESS + query).content.decode().split())


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([0.54, 0.68], 0.0, 0.7), ([-0.31, 0.9], -0.4, 0.9), ([], 0.0, 0.4), ([-1.2, 1.0], -1, 1)],
)
def test_an_axis_holds_all_values_and_zero(values: list[float], low: float, high: float) -> None:
    axis = shared_axis(values)

    assert (axis.low, axis.high) == pytest.approx((low, high))
    assert axis.at(axis.low) == "0.00%"
    assert axis.at(9.0) == "100.00%"


def test_an_axis_is_labelled_every_fifth_of_a_point() -> None:
    axis = shared_axis([-0.25, 0.45])

    assert [(tick.label, tick.at) for tick in axis.ticks] == [
        ("−0.2", "12.50%"),
        ("0", "37.50%"),
        ("0.2", "62.50%"),
        ("0.4", "87.50%"),
    ]
    span = axis.span(-0.1, 0.3)
    assert (span.begin, span.end, span.width) == ("25.00%", "75.00%", "50.00%")


@pytest.mark.django_db
def test_the_page_begins_with_the_verdict_and_draws_all_judges_without_a_script(
    measured: Project, client: Client
) -> None:
    text = page(client)

    lead = text.index('class="lead"><strong>Coherence: ')
    verdict = text.index('class="verdict ')
    evidence = text.index('id="evidence-title"')
    assert lead < verdict < evidence
    assert "plotly" not in text
    assert text[verdict:evidence].count('class="dot"') == 1
    assert text[verdict:evidence].count('class="tick"') == 2
    assert text[verdict:evidence].count('class="null-tick"') == 1
    drawing = page(client, "numbers/").partition('class="crit"')[2].partition("</section>")[0]
    rows = re.findall(r'<tr class="(\w+)[ \w]*"> <th scope="row" title="([\w, ]+)"', drawing)
    assert rows[0] == ("rater", "one rater")
    assert set(rows[1:-1]) == {("judge", "fair"), ("judge", "noise"), ("baseline", "metric")}
    assert rows[-1] == ("null", "who wrote it")
    assert drawing.count('class="dot"') == len(rows) == 5
    assert drawing.count('class="interval"') == 5
    assert "40 documents" in text
    assert "480 ratings by 3 people" in text
    assert "data version" in text


@pytest.mark.django_db
def test_each_question_mark_has_an_explanation_on_the_page(
    measured: Project, client: Client
) -> None:
    text = page(client)

    asked = set(re.findall(r'popovertarget="([\w-]+)"', text))
    there = re.findall(r'popover id="([\w-]+)"', text)
    assert "what-is-verdict" in asked
    assert asked <= set(there)
    assert len(there) == len(set(there))


@pytest.mark.django_db
def test_the_headline_follows_the_view(measured: Project, client: Client) -> None:
    summary, system = page(client), page(client, "?level=system")

    assert "Coherence: it is too early to say." not in summary
    assert "Coherence: it is too early to say." in system  # four systems are too few
    assert "system level, Spearman" in system


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("needed", "missing"), [(160, ""), (161, "1 more output<"), (162, "2 more outputs<")]
)
def test_the_next_step_is_to_rate_as_many_outputs_as_are_missing(
    measured: Project,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    needed: int,
    missing: str,
) -> None:
    for module in ("geval.reports.verdicts.verdict", "geval.reports.at_a_glance"):
        monkeypatch.setattr(f"{module}.VERDICT_OUTPUTS", needed)

    text = page(client)

    assert ("it is too early to say" in text) == bool(missing)
    assert f"Rate {missing}" in text if missing else "Rate " not in text


@pytest.mark.django_db
def test_a_run_in_progress_is_announced_and_its_numbers_are_grey(
    judged_project: Project, run: EvaluationRun, client: Client
) -> None:
    before = client.get(ADDRESS + "live/").headers["X-Mark"]
    items = run.items.count()
    run.items.filter(pk=run.items.first().pk).update(state=ItemState.PENDING)  # type: ignore[union-attr]
    EvaluationRun.objects.update(state=RunState.RUNNING)

    live_part = client.get(ADDRESS + "live/", {"mark": before})
    running, table = page(client), page(client, "paper/")
    EvaluationRun.objects.update(state=RunState.DONE)
    done = page(client)

    assert live_part.status_code == 200
    assert b'id="report-lead" hx-swap-oob="true"' in live_part.content
    said = f"is in progress: {100 * (items - 1) / items:.0f} % of {items} items done"
    assert f"Run {run.pk} of Judge Judy" in running
    assert said in running
    assert '<tr class="running' in running
    assert '<tr class="running' in table
    assert "n = " in table
    assert "is in progress" not in done
    assert '<tr class="running' not in done


@pytest.mark.django_db
def test_items_below_the_minimum_coverage_are_counted_until_they_have_a_score(
    judged_project: Project, run: EvaluationRun, client: Client
) -> None:
    failed = RunItem.objects.get(run=run, state=ItemState.FAILED)
    RunItem.objects.filter(pk=failed.pk).update(reason="low_coverage")

    said = page(client, "numbers/")
    Score.objects.create(run=run, output=failed.output, criterion=failed.criterion, value=3.0)
    later = page(client, "numbers/?level=dataset")

    assert "Read with care" in said
    words = re.sub("<[^>]+>", "", said)
    assert "1 item of Judge Judy" in words
    assert "of 0.5 and has no score" in words
    assert "below the minimum coverage?" not in re.sub("<[^>]+>", "", later)


@pytest.mark.django_db
def test_charts_of_scores_leave_out_a_metric_on_another_scale_and_say_so(
    measured: Project,
) -> None:
    view, criterion = report_view(measured, ReportOptions()), measured.criteria.get()

    drawn = view.part("figure", "scores", criterion.pk)

    assert drawn
    assert "metric is left out" in drawn.caption
    assert "scores are on another scale" in drawn.caption
    assert "metric" not in {trace["name"] for trace in drawn.traces}
    assert {"fair", "noise"} <= {trace["name"] for trace in drawn.traces}
    assert "metric" not in {cell for row in drawn.rows for cell in row}
