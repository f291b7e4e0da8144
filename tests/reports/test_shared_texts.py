"""A shared number leads to its documents: with their texts, or saying that texts are not shared."""

from collections.abc import Callable

import pytest
from django.test import Client

from annotations.models import Rating
from evaluations.models import Explanation, Judge, Project, Score, ShareLink
from evaluations.models.improving import shown_means
from evaluations.pages.document_texts import document_texts

pytestmark = pytest.mark.django_db
SHARE = "/p/small/report/share/"


@pytest.fixture
def client(as_role: Callable[[str], Client], judged_project: Project) -> Client:
    return as_role("owner")


def shared(client: Client, **about: str) -> str:
    text = client.post(SHARE, about, follow=True).content.decode()
    return "/shared/" + text.split("/shared/")[1].split("/")[0] + "/"


def cell(project: Project) -> str:
    return f"cell/{project.criteria.get(name='coherence').pk}/{Judge.objects.get().pk}/"


def test_with_texts_it_leads_to_source_outputs_and_the_judges_words(
    client: Client, judged_project: Project
) -> None:
    address = shared(client, with_texts="on") + cell(judged_project)
    document = judged_project.documents.get(doc_id="d1")
    score = Score.objects.filter(output__document=document, criterion__name="coherence").first()
    assert score
    Explanation.objects.create(score=score, text="It says everything twice.")
    visitor = Client()

    listed = visitor.get(address).content.decode()
    page = visitor.get(f"{address}{document.pk}/").content.decode()

    assert f'<a href="{document.pk}/">d1</a>' in listed
    assert document.source in page
    for output in document.outputs.all():
        assert output.text in page
    assert "people " in page
    assert f"What {Judge.objects.get()} answered" in page
    assert "It says everything twice." in page
    assert "Back to the documents" in page
    assert "/p/small/" not in page


def test_without_texts_it_says_so_and_shows_none(client: Client, judged_project: Project) -> None:
    address = shared(client) + cell(judged_project)
    document = judged_project.documents.get(doc_id="d1")
    visitor = Client()

    listed = visitor.get(address).content.decode()

    assert "This link does not share texts." in listed
    assert f'href="{document.pk}/"' not in listed
    assert visitor.get(f"{address}{document.pk}/").status_code == 404
    assert not ShareLink.objects.get().with_texts


def test_texts_outside_the_view_are_not_shared(client: Client, judged_project: Project) -> None:
    good = judged_project.systems.get(name="good")
    link = shared(client, with_texts="on", query=f"documents=d1&systems={good.pk}")
    address = link + cell(judged_project)
    inside, outside = (judged_project.documents.get(doc_id=name) for name in ("d1", "d2"))
    visitor = Client()

    page = visitor.get(f"{address}{inside.pk}/").content.decode()

    assert inside.outputs.get(system=good).text in page
    assert inside.outputs.exclude(system=good).get().text not in page
    assert visitor.get(f"{address}{outside.pk}/").status_code == 404


def test_people_are_those_of_the_view(judged_project: Project) -> None:
    document = judged_project.documents.get(doc_id="d1")
    criterion, judge = judged_project.criteria.get(name="coherence"), Judge.objects.get()
    output = document.outputs.get(system__name="good")
    ann = judged_project.annotators.get(name="ann")
    rating = Rating.objects.get(output=output, criterion=criterion, annotator=ann)
    Rating.objects.filter(pk=rating.pk).update(score=5)
    mean = shown_means(document.outputs.all(), document.project_id)[output.pk, criterion.pk]

    everybody, one = (
        {row.output.pk: row for row in document_texts(document, criterion, judge, **by)}
        for by in ({}, {"annotators": [ann.pk]})
    )

    assert everybody[output.pk].people == f"{mean:.2f}"
    assert one[output.pk].people == "5.00"
    assert one[output.pk].score == everybody[output.pk].score != "–"
