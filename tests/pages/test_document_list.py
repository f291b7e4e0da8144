"""The list of documents: sorted by people, judges and the distance between them; filtered; with
metadata in columns."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Rating
from evaluations.models import Document, Judge, Project, Score
from evaluations.reports.serving.parts import REPORT, ReportView
from geval.reports.options import ReportOptions

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(owner: User) -> Client:
    signed_in = Client()
    signed_in.force_login(owner)
    return signed_in


@pytest.fixture
def scored(judged_project: Project) -> Project:
    """Human means and a judge's scores that put the documents in three different orders."""
    given = {"d1": (2.0, 5.0), "d2": (3.0, 3.5), "d3": (4.0, 1.0)}
    for name, (human, judge) in given.items():
        Rating.objects.filter(output__document__doc_id=name).update(score=human)
        Score.objects.filter(output__document__doc_id=name).update(value=judge)
    for name, category in (("d1", "news"), ("d2", "mail"), ("d3", "news")):
        Document.objects.filter(doc_id=name).update(
            metadata={"category": category, "année": "2024"}
        )
    return judged_project


def names(client: Client, query: str) -> list[str]:
    page = client.get(f"/p/small/data/?{query}").content.decode()
    return re.findall(r'<a href="/p/small/data/\d+/">([^<]+)</a>', page)


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", ["d1", "d2", "d3"]),
        ("name", ["d1", "d2", "d3"]),
        ("low", ["d1", "d2", "d3"]),
        ("high", ["d3", "d2", "d1"]),
        ("disagreement", ["d1", "d3", "d2"]),
        ("high-judge", ["d1", "d2", "d3"]),
        ("low-judge", ["d3", "d2", "d1"]),
        ("nonsense", ["d1", "d2", "d3"]),
    ],
)
def test_documents_are_sorted(client: Client, scored: Project, sort: str, order: list[str]) -> None:
    assert names(client, f"sort={sort.replace('judge', str(Judge.objects.get().pk))}") == order


def test_the_figures_are_means_over_outputs_and_criteria(scored: Project) -> None:
    figures = ReportView(scored, REPORT, ReportOptions()).documents

    assert figures.human.tolist() == [2.0, 3.0, 4.0]
    assert figures.judges[Judge.objects.get().pk].tolist() == [5.0, 3.5, 1.0]
    assert figures.disagreement.tolist() == [3.0, 0.5, 3.0]


def test_a_new_rating_changes_the_order_at_once(client: Client, scored: Project) -> None:
    from evaluations.models.changes import note_change

    assert names(client, "sort=low")[0] == "d1"
    Rating.objects.filter(output__document__doc_id="d3").update(score=1.0)
    note_change(scored.pk)

    assert names(client, "sort=low")[0] == "d3"


def test_documents_without_numbers_come_last(client: Client, scored: Project) -> None:
    Document.objects.create(project=scored, doc_id="empty", source="Nothing.")
    from evaluations.models.changes import note_change

    note_change(scored.pk)

    for sort in ("low", "high", "disagreement"):
        assert names(client, f"sort={sort}")[-1] == "empty"


def test_metadata_is_shown_and_filtered_by(client: Client, scored: Project) -> None:
    page = client.get("/p/small/data/").content.decode()
    assert '<th scope="col" class="breaks">category</th>' in page
    assert '<td class="breaks">mail</td>' in page

    assert names(client, "name=category&value=news") == ["d1", "d3"]
    assert names(client, "name=category&value=news&sort=high") == ["d3", "d1"]
    assert names(client, "name=ann%C3%A9e&value=2024") == ["d1", "d2", "d3"]
    assert names(client, "name=category&value=nothing") == []
    assert (
        "No document matches your filters."
        in client.get("/p/small/data/?name=category&value=x").content.decode()
    )


def test_words_and_names_are_found(client: Client, scored: Project) -> None:
    assert names(client, "q=ferry") == ["d1", "d2", "d3"]
    assert names(client, "q=d2") == ["d2"]
