"""While a run goes on, its page and the report give intervals that are valid at any time."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client

from evaluations.corpus.store import LoadResult
from evaluations.models import EvaluationRun, Judge, Project, RunState
from tests.reports.test_best_judge import FAIR, OUTPUTS, rated, scored

pytestmark = pytest.mark.django_db


@pytest.fixture
def going_on(project: Project, load: Callable[..., LoadResult]) -> EvaluationRun:
    """A run in progress with scores of forty documents, and another judge's scores."""
    judges = {"fair": FAIR, "noise": np.flip(FAIR)}
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored(judges)})
    Judge.objects.filter(name="fair").update(kind="geval")
    run = EvaluationRun.objects.get(judge__name="fair")
    EvaluationRun.objects.filter(pk=run.pk).update(state=RunState.RUNNING)
    return run


def words_of(client: Client, address: str) -> str:
    return re.sub(r"\s+", " ", client.get(address).content.decode())


def test_the_run_shows_both_intervals_and_says_how_they_differ(
    as_role: Callable[[str], Client], going_on: EvaluationRun
) -> None:
    page = words_of(as_role("owner"), going_on.get_absolute_url())

    said = r"±(\d\.\d\d) with \d+ documents; valid at any time: (−?\d\.\d\d) to (\d\.\d\d)"
    found = re.search(said, page)
    assert found
    half, low, high = (float(one.replace("−", "-")) for one in found.groups())
    assert (high - low) / 2 > half
    assert "look as often as you like" in page
    assert 'id="what-is-anytime"' in page
