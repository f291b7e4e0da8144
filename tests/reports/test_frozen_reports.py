"""A frozen report keeps its page and its numbers, is found by its hash, and acts on nothing."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.models import Project, ReportSnapshot, Score
from tests.reports.test_report_at_a_glance import measured  # noqa: F401 (a fixture)

pytestmark = pytest.mark.django_db
FROZEN = "/p/small/report/snapshots/"


@pytest.fixture
def client(as_role: Callable[[str], Client], project: Project) -> Client:
    return as_role("owner")


@pytest.fixture
def snapshot(client: Client, measured: Project) -> ReportSnapshot:  # noqa: F811
    client.post(f"{FROZEN}new/", {"query": "coefficient=kendall", "note": "Table 1"})
    return measured.snapshots.get()


def test_its_page_stays_as_it_was(client: Client, snapshot: ReportSnapshot) -> None:
    before = client.get(f"{FROZEN}{snapshot.pk}/page/").content.decode()
    Score.objects.all().delete()

    after = client.get(f"{FROZEN}{snapshot.pk}/page/")

    page = after.content.decode()
    assert page == before
    assert snapshot.sha256 in page
    assert "Coherence" in page
    assert "Krippendorff's" in page
    assert page.count('class="dot"') == 6  # of the verdict, and of five rows of the evidence
    assert page.count('class="drawing"') >= 3


def test_its_page_loads_nothing_and_acts_on_nothing(
    client: Client, snapshot: ReportSnapshot
) -> None:
    answer = client.get(f"{FROZEN}{snapshot.pk}/page/")

    page = answer.content.decode()
    tags = {tag.lower() for tag in re.findall(r"<([a-zA-Z]+)", page)}
    assert not tags & {"a", "button", "form", "img", "input", "link", "script", "select"}
    assert not re.search(r"<[^>]* (hx-\w+|on\w+|style|src)=", page)
    assert set(re.findall(r'href="([^"]*)"', page)) <= set(re.findall(r'href="(#[^"]*)"', page))
    assert "sandbox" in answer["Content-Security-Policy"]
    assert "script-src" not in answer["Content-Security-Policy"]


def test_it_is_found_by_how_its_hash_begins(client: Client, snapshot: ReportSnapshot) -> None:
    found = client.get(FROZEN, {"sha256": f" {snapshot.sha256[:12].upper()} "})
    other = client.get(FROZEN, {"sha256": "0" * 12}).content.decode()
    everything = client.get(FROZEN).content.decode()

    assert found["Location"] == snapshot.get_absolute_url()
    assert "No frozen report of this project" in other
    assert "Table 1" in everything
    assert snapshot.sha256[:12] in everything


def test_a_changed_content_is_seen(client: Client, snapshot: ReportSnapshot) -> None:
    assert "matches the content" in client.get(snapshot.get_absolute_url()).content.decode()

    ReportSnapshot.objects.update(content=snapshot.content.replace("fair", "unfair"))

    assert "does not match" in client.get(snapshot.get_absolute_url()).content.decode()
