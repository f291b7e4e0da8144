"""Practice comes before items, and whoever is below its pass mark is screened out."""

import pytest

from annotations.models import Assignment, Campaign, OpenLink, Participant
from annotations.planning.campaigns import open_campaign
from evaluations.models import Project
from tests.annotations.test_open_links import ASSIGNMENT, Person, page

pytestmark = pytest.mark.django_db


@pytest.fixture
def link(small_project: Project) -> OpenLink:
    """Two practice items, whose right answer is 3 everywhere; four other items."""
    campaign = Campaign.objects.create(
        project=small_project, name="c", overlap=2, practice_items=2, practice_pass=60
    )
    campaign.criteria.set(small_project.criteria.all())
    document = small_project.documents.get(doc_id="d1")
    expected = {"scores": {str(one.pk): 3 for one in campaign.criteria.all()}}
    campaign.gold = [
        {"document": document.pk, "outputs": [output.pk], "expected": expected}
        for output in document.outputs.all()
    ]
    campaign.save()
    made = OpenLink.objects.create(
        campaign=campaign, address="ferries", title="t", consent="c", items_each=2,
        screened_code="OUT1", done_code="DONE1",
    )  # fmt: skip
    open_campaign(campaign)
    return made


def kinds(person: Person) -> list[str]:
    return list(
        Assignment.objects.filter(annotator__participant__external_id="p1")
        .order_by("pk")
        .values_list("item__kind", flat=True)
    )


def test_items_come_after_practice_and_not_beside_it(link: OpenLink) -> None:
    person = Person().begin()
    person.rate("3")

    assert kinds(person) == ["practice", "practice"]
    person.rate("3")
    person.rate("1")
    assert kinds(person) == ["practice", "practice", "ordinary", "ordinary"]


@pytest.mark.parametrize("way", ["task/", "finish"])
def test_who_is_below_the_mark_is_screened_out(link: OpenLink, way: str) -> None:
    person = Person().begin()
    person.rate("3")
    person.rate("5")

    end = page(person.client.get(f"/c/ferries/{way}", follow=True))

    assert "Too few of your practice answers" in end
    assert "OUT1" in end
    assert Participant.objects.get().screened_for == "practice"
    assert kinds(person) == ["practice", "practice"]


def test_the_mark_itself_passes(link: OpenLink) -> None:
    Campaign.objects.update(practice_pass=50)
    person = Person().begin()
    person.rate("3")
    person.rate("5")

    assert person.rate("1")


def test_the_first_answer_to_practice_counts(link: OpenLink) -> None:
    person = Person().begin()
    person.rate("5")
    first = Assignment.objects.get(state="submitted")
    scores = {
        f"score-{pk}": "3" for pk in Campaign.objects.get().criteria.values_list("pk", flat=True)
    }
    person.client.post(f"/c/ferries/task/{first.pk}/submit/", scores | {"version": "1"})
    person.rate("3")

    assert Assignment.objects.get(pk=first.pk).version == 2
    assert "Too few" in page(person.client.get("/c/ferries/task/", follow=True))


def test_skipped_practice_is_not_right(link: OpenLink) -> None:
    person = Person().begin()
    shown = ASSIGNMENT.search(page(person.client.get("/c/ferries/task/")))
    assert shown
    person.client.post(f"/c/ferries/task/{shown[1]}/skip/", {"reason": "no"})
    person.rate("3")

    assert "Too few" in page(person.client.get("/c/ferries/task/", follow=True))


def test_a_script_learns_it_with_its_next_item(link: OpenLink) -> None:
    person = Person().begin()
    person.rate("5")
    person.rate("5")

    assert "This part has ended" in page(person.client.get("/c/ferries/task/next/"))
