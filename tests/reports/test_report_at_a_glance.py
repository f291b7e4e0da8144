"""What the report's page says first: verdicts, all judges on one axis, runs in progress, low
coverage."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client

from evaluations.corpus.store import LoadResult
from evaluations.models import EvaluationRun, ItemState, Project, RunItem, Score
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
