"""The list of judges says what each may do, how far it agrees with people, and its last run."""

from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from tests.reports.test_best_judge import FAIR, OUTPUTS, rated, scored

Load = Callable[..., LoadResult]
ADDRESS = "/p/small/judges/"

pytestmark = pytest.mark.django_db


def page(client: Client, query: str = "") -> str:
    return " ".join(client.get(ADDRESS + query).content.decode().split())


def test_judges_with_the_strongest_verdict_come_first_with_their_rho(
    project: Project, load: Load, as_role: Callable[[str], Client]
) -> None:
    judges = {"a-noise": np.flip(FAIR), "fair": FAIR}
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored(judges)})

    text = page(as_role("viewer"))

    rows = text.partition("<tbody>")[2].partition("</tbody>")[0].split("</tr>")
    assert ">fair</a>" in rows[0]
    assert ">a-noise</a>" in rows[1]
    assert 'class="verdict' in rows[0]
    assert "coherence <strong>" in rows[0]


def test_verdicts_that_take_long_are_fetched_once_the_page_stands(
    project: Project,
    load: Load,
    as_role: Callable[[str], Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"fair": FAIR})})
    monkeypatch.setattr("evaluations.reports.serving.parts.takes_a_moment", lambda _project: False)
    client = as_role("viewer")

    first, fetched = page(client), page(client, "?verdicts=1")

    assert "being computed" in first
    assert f'hx-get="{ADDRESS}?verdicts=1"' in first
    assert "being computed" not in fetched
    assert "coherence <strong>" in fetched
