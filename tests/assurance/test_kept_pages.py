"""The pages of disagreements and of two judges in large projects: a worker computes their numbers,
too."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from assurance.disagreements import numbers as disagreement_numbers
from evaluations.models import KeptReport, Project
from evaluations.reports.serving import live
from evaluations.reports.serving.worker import neglected_reports, work_on_report
from geval.reports import gaps
from geval.statistics import cache

pytestmark = pytest.mark.django_db
DISAGREEMENTS, COMPARE = "/p/small/report/disagreements/", "/p/small/report/compare/"
Load = Callable[..., object]
SCORES = {
    ("d1", "good"): (4, 1),
    ("d2", "good"): (1, 4),
    ("d3", "good"): (4, 4),
    ("d1", "odd"): (2, 5),
    ("d2", "odd"): (3, 1),
    ("d3", "odd"): (1.5, 2),
}


@pytest.fixture
def judged(small_project: Project, load: Load) -> Project:
    live.forget()
    cache.forget()
    rows = "".join(
        f"{document},{system},coherence,{judge},{score}\n"
        for (document, system), scores in SCORES.items()
        for judge, score in zip(("first", "second"), scores, strict=True)
    )
    load(small_project, {"s.csv": "doc_id,system_id,criterion,judge,score\n" + rows})
    return small_project


@pytest.fixture
def client(as_role: Callable[[str], Client], judged: Project) -> Client:
    return as_role("owner")


def compute() -> None:
    while found := neglected_reports():
        for pk in found:
            work_on_report(pk)


def content(client: Client, address: str) -> str:
    """What a page shows, without what differs with each answer."""
    page = client.get(address).content.decode().split("<main", 1)[1]
    lines = (line.strip() for line in page.splitlines() if "csrf" not in line)
    return re.sub(r"<time.*?</time>", "", " ".join(lines))


def as_large(client: Client, address: str, settings: Any) -> str:
    """The page once a worker has computed it."""
    settings.REPORT_IN_PAGE_NUMBERS = 0
    assert client.get(address).status_code == 202
    compute()
    return content(client, address)


@pytest.mark.parametrize(
    "query", ["", "?by=shifted", "?cause=all", "?documents=d2", "?judge=999999&criterion=7777777"]
)
def test_a_worker_finds_the_disagreements_that_a_web_process_finds(
    client: Client, settings: Any, query: str
) -> None:
    expected = content(client, DISAGREEMENTS + query)
    assert as_large(client, DISAGREEMENTS + query, settings) == expected


def test_of_a_large_project_the_largest_gaps_are_listed_and_the_rest_is_counted(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaps, "MOST_LISTED", 2)
    everything = content(client, DISAGREEMENTS)
    shown = as_large(client, DISAGREEMENTS, settings)
    assert "only the 2 largest gaps are" in shown
    assert "are about all 6 outputs" in shown
    assert shown.count('class="entry') == 2 < everything.count('class="entry')
    assert "1 of 6" in shown


def test_a_page_whose_numbers_failed_is_computed_again_on_request(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: Any, **_more: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(disagreement_numbers, "gaps_of", broken)
        failed = as_large(client, f"{DISAGREEMENTS}?by=shifted", settings)
    again = client.post("/p/small/report/again/", {"view": KeptReport.objects.get().view})
    assert client.get(again.headers["Location"]).status_code == 202
    compute()

    assert "failed unexpectedly (ZeroDivisionError)" in failed
    assert again.headers["Location"] == f"{DISAGREEMENTS}?by=shifted"
    assert "with ratings" in content(client, again.headers["Location"])
