"""The criterion editor: the prompt as it is sent, scales and names of points, prompt files,
versions of steps."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluations.models import AuditEntry, CandidateOutput, Criterion, Judge, Project
from tests.conftest import do_errands

pytestmark = pytest.mark.django_db
FORM = {
    "name": "wit",
    "definition": "Whether it makes one smile.",
    "scale_min": "1",
    "scale_max": "5",
    "scale_step": "1",
    "labels_text": "",
    "task_introduction": "",
    "inputs": "",
    "prompt_file": "",
}


@pytest.fixture
def client(owner: User) -> Client:
    browser = Client()
    browser.force_login(owner)
    return browser


def test_a_criterion_from_scratch(client: Client, small_project: Project) -> None:
    response = client.post("/p/small/criteria/new/", FORM, follow=True)

    criterion = Criterion.objects.get(name="wit")
    assert response.redirect_chain[-1][0] == f"/p/small/criteria/{criterion.pk}/"
    assert "Wit (1-5) - Whether it makes one smile." in response.content.decode()


def test_a_preview_shows_the_prompt_with_a_document_and_saves_nothing(
    client: Client, small_project: Project
) -> None:
    text = client.post("/p/small/criteria/new/", FORM | {"preview": "1"}).content.decode()

    assert "The 1. ferry sails at 1 in" in text
    assert "tokens." in text
    assert not Criterion.objects.filter(name="wit").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"inputs": "{{Sumary}}"}, "unknown placeholder {{Sumary}}"),
        ({"prompt_file": "Rate it."}, "no placeholder for the text to judge"),
        ({"scale_max": "1"}, "needs lowest &lt; highest"),
        ({"labels_text": "Yes"}, "is not a point with a label"),
        ({"required_kappa": "1"}, "lies between 0 and 1"),
        ({"required_sensitivity": "0"}, "lies between 0 and 1"),
        ({"labels_text": "9 = Yes"}, "not on the scale"),
        ({"name": "Fluency"}, "A criterion named “Fluency” already exists."),
    ],
)
def test_what_will_not_do_is_refused_at_its_field(
    client: Client, small_project: Project, change: dict[str, str], said: str
) -> None:
    text = client.post("/p/small/criteria/new/", FORM | change).content.decode()

    assert said in text
    assert not Criterion.objects.filter(name="wit").exists()


def test_points_have_names_that_the_prompt_offers(client: Client, small_project: Project) -> None:
    named = {"scale_min": "0", "scale_max": "1", "labels_text": "0 = No\n1 = Yes"}

    text = client.post("/p/small/criteria/new/", FORM | named, follow=True).content.decode()

    assert Criterion.objects.get(name="wit").scale.labels == {"No": 0.0, "Yes": 1.0}
    assert "Wit (No / Yes)" in text


def test_a_prompt_file_loads_unchanged(client: Client, small_project: Project) -> None:
    prompt = "Rate this.\n\nText:\n\n{{Document}}\n\nSummary:\n\n{{Summary}}\n\n- Wit:"
    upload = SimpleUploadedFile("wit.txt", prompt.encode())

    client.post("/p/small/criteria/new/", FORM | {"prompt_upload": upload})

    assert Criterion.objects.get(name="wit").prompt_file == prompt


def test_steps_are_generated_edited_and_compared(
    client: Client, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(small_project)
    criterion = small_project.criteria.get(name="fluency")
    address = f"/p/small/criteria/{criterion.pk}/"

    client.post(address + "steps/", {"judge": judge.pk, "generate": "1"})
    do_errands()
    first = criterion.steps.get()
    client.post(address + "steps/", {"text": first.text.replace("1. Read", "1. Slowly read")})
    compared = client.get(address + "steps/2/").content.decode()

    assert first.written_by == "offline-stand-in"
    assert [steps.written_by for steps in criterion.steps.all()][1] == "olga by hand"
    assert 'class="added"' in compared
    assert 'class="removed"' in compared
    assert "Slowly read" in client.get(address).content.decode()


def test_what_one_expert_has_to_show_is_a_setting(client: Client, small_project: Project) -> None:
    stated = {"finds_highest": "on", "required_sensitivity": "0.95", "required_kappa": "0.7"}
    client.post("/p/small/criteria/new/", FORM | stated)

    criterion = Criterion.objects.get(name="wit")
    assert criterion.scale.finds_highest
    assert (criterion.bar.sensitivity, criterion.bar.specificity) == (0.95, 0.8)
    assert criterion.bar.kappa == 0.7


def items_of(rubric: Criterion) -> list[tuple[str, float, str]]:
    return list(rubric.items.order_by("pk").values_list("name", "weight", "definition"))


def test_items_are_lines_of_their_rubric(client: Client, small_project: Project) -> None:
    lines = "2 | cites | Names a page.\n\npolite\nshort | In one sentence.\n"
    client.post("/p/small/criteria/new/", FORM | {"items_text": lines})

    rubric = Criterion.objects.get(name="wit")
    assert items_of(rubric) == [
        ("cites", 2, "Names a page."),
        ("polite", 1, ""),
        ("short", 1, "In one sentence."),
    ]
    assert set(rubric.items.values_list("scale_min", "scale_max")) == {(0, 1)}
    page = client.get("/p/small/criteria/").content.decode()
    assert "Total of 3 items" in page
    assert "item of wit, weight 2" in page
    address = f"/p/small/criteria/{rubric.pk}/"
    form = client.get(address).context["form"]
    assert form["items_text"].value().startswith("2 | cites | Names a page.\n1 | polite\n")

    client.post(address, FORM | {"items_text": "3 | cites | Names it.\n1 | polite"})
    assert items_of(rubric) == [("cites", 3, "Names it."), ("polite", 1, "")]
    assert not Criterion.objects.filter(name="short").exists()


def test_lines_that_are_not_changed_change_nothing(client: Client, small_project: Project) -> None:
    lines = f"{1 / 3} | cites | a | b\n3 | 5"
    client.post("/p/small/criteria/new/", FORM | {"items_text": lines})
    rubric = Criterion.objects.get(name="wit")
    before = items_of(rubric)
    assert before == [("cites", 1 / 3, "a | b"), ("5", 3, "")]

    address = f"/p/small/criteria/{rubric.pk}/"
    shown = client.get(address).context["form"]["items_text"].value()
    for fields in ({"items_text": shown}, {}):
        client.post(address, FORM | fields)
        assert items_of(rubric) == before


def test_an_existing_criterion_becomes_an_item(client: Client, small_project: Project) -> None:
    kept = small_project.criteria.create(
        name="polite", scale_min=0, scale_max=1, definition="Two\nlines"
    )
    client.post("/p/small/criteria/new/", FORM | {"items_text": "4 | Polite"})

    kept.refresh_from_db()
    assert kept.rubric is not None
    assert (kept.rubric.name, kept.weight, kept.definition) == ("wit", 4, "Two\nlines")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("2 | ", "has no name"),
        ("2", "has no name"),
        ("a\n2 | A", "twice"),
        ("0 | a", "above 0"),
        ("nan | a", "weight"),
        ("coherence", "pass or fail"),
        ("wit", "itself"),
    ],
)
def test_lines_that_are_no_items(
    client: Client, small_project: Project, lines: str, message: str
) -> None:
    answer = client.post("/p/small/criteria/new/", FORM | {"items_text": lines})

    assert message in " ".join(answer.context["form"].errors["items_text"])
    assert answer.context["criterion"].pk is None
    assert not Criterion.objects.filter(name__in=("wit", "a")).exists()


def test_an_item_with_ratings_is_not_removed(client: Client, small_project: Project) -> None:
    client.post("/p/small/criteria/new/", FORM | {"items_text": "cites"})
    rubric, output = Criterion.objects.get(name="wit"), CandidateOutput.objects.all()[0]
    annotator = small_project.annotators.all()[0]
    annotator.ratings.create(output=output, criterion=rubric.items.get(), score=1)

    answer = client.post(f"/p/small/criteria/{rubric.pk}/", FORM | {"items_text": ""})

    assert "Keep its line" in str(answer.context["form"].errors["items_text"])
    assert rubric.items.count() == 1


def test_items_are_proposed_edited_and_saved(
    client: Client, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(small_project)
    criterion = Criterion.objects.create(project=small_project, name="wit")
    address = f"/p/small/criteria/{criterion.pk}/"

    client.post(address + "steps/", {"judge": judge.pk, "generate": "items"})
    assert AuditEntry.objects.get(action="evaluations:steps_create").detail == "items"
    do_errands()
    shown = client.get(address).content.decode()
    entered = {"definition": "Not saved.", "items_text": "2 | Meets wit | Mine.", "put_items": "1"}
    form = client.post(address, FORM | entered).context["form"]

    assert not criterion.steps.exists()
    assert not criterion.items.exists()
    assert "Put them into the form" in shown
    assert form["definition"].value() == "Not saved."
    own, proposed = form["items_text"].value().splitlines()
    assert own == "2 | Meets wit | Mine."
    assert proposed.startswith("1 | Without an exception | ")
    criterion.refresh_from_db()
    assert criterion.definition == ""

    client.post(address, FORM | {"items_text": proposed.replace("1 |", "3 |")})
    assert [(item.name, item.weight) for item in criterion.items.all()] == [
        ("Without an exception", 3)
    ]
    assert "Put them into the form" not in client.get(address).content.decode()
