"""`criteria`: presets are listed and added from the terminal as on the page."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluations.models import Project
from geval.llm.presets import presets

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return Project.objects.create(slug="mine", name="Mine")


def criteria(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("criteria", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_without_a_project_all_presets_are_listed_with_scale_and_definition() -> None:
    lines = criteria()[0].splitlines()

    assert [line.split()[0] for line in lines] == [preset.word for preset in presets()]
    assert lines[0].split()[1] == "1-5"
    assert "how well the sentences" in lines[0]
    assert max(map(len, lines)) < 140


def test_a_preset_is_added_with_its_wording_and_scale(project: Project) -> None:
    out, err = criteria("mine", "--preset", "summarisation/any/coherence")

    (criterion,) = project.criteria.all()
    (preset,) = (one for one in presets() if one.key == "summarisation/any/coherence")
    assert (criterion.name, criterion.definition) == ("coherence", preset.definition)
    assert (criterion.task_introduction, criterion.inputs) == (preset.introduction, preset.inputs)
    assert (criterion.scale_min, criterion.scale_max) == (1, 5)
    assert out.startswith("coherence  1-5")
    assert err == ""


def test_the_beginning_of_a_key_adds_all_of_a_task(project: Project) -> None:
    criteria("mine", "--preset", "summarisation/any/", "--json")

    assert set(project.criteria.values_list("name", flat=True)) == {
        preset.name for preset in presets() if preset.key.startswith("summarisation/any/")
    }


@pytest.mark.parametrize("key", ["conversation-turn/any/helpfulness", "Conversation turn/any"])
def test_a_task_of_two_words_is_named_with_a_hyphen_or_a_blank(project: Project, key: str) -> None:
    criteria("mine", "--preset", key)

    assert project.criteria.filter(name="helpfulness").exists()


def test_a_criterion_that_exists_stays_as_it_is_and_is_reported(project: Project) -> None:
    project.criteria.create(name="Fluency", definition="mine", scale_min=1, scale_max=3)

    out, err = criteria("mine", "--preset", "summarisation/any/fluency", "--json")

    assert json.loads(out) == [{"name": "Fluency", "scale": "1-3", "definition": "mine"}]
    assert "already has a criterion named 'fluency';" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mine", "--preset", "poetry"), "There is no preset 'poetry'. Presets begin with: "),
        (
            ("mine", "--preset", "summarisation/any/coherenc"),
            "Did you mean summarisation/any/coherence",
        ),
        (("mine", "--preset", "summarisation"), "are both criteria named 'coherence': choose one"),
        (("--preset", "summarisation/any"), "Name the project"),
        (("other",), "There is no project 'other'"),
    ],
)
def test_mistakes_are_reported_in_a_sentence_and_nothing_is_added(
    project: Project, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        criteria(*arguments)

    assert not project.criteria.exists()


def test_a_project_without_criteria_says_how_to_add_some(project: Project) -> None:
    assert "Project mine has no criteria yet" in criteria("mine")[0]
