"""Long forms: basics are in sight, the rest is folded with its defaults, open where something is
set or wrong."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from annotations.models import Campaign
from evaluations.models import Judge, Project

pytestmark = pytest.mark.django_db
CAMPAIGN, JUDGE = "/p/small/annotate/new/", "/p/small/judges/new/?kind=geval"
BASICS = {"name": "First", "kind": "rating", "selection": "all", "overlap": 2}


@pytest.fixture
def client(as_role: Callable[[str], Client], small_project: Project) -> Client:
    return as_role("owner")


def groups(page: str) -> dict[str, bool]:
    """The folded groups by title, and whether they are open."""
    return {title: is_open for title, (is_open, _summary) in groups_in_words(page).items()}


def groups_in_words(page: str) -> dict[str, tuple[bool, str]]:
    """The folded groups by title: whether they are open, and the summary of their values."""
    folded = re.findall(r'<details class="folded"( open)?>\s*<summary>(.*?)</summary>', page, re.S)
    return {
        title.strip(): (bool(is_open), re.sub(r"<.*?>", "", summary).strip())
        for is_open, text in folded
        for title, _, summary in [text.partition('<span class="quiet">')]
    }


def in_sight(page: str) -> str:
    """A page without its folded groups."""
    return re.sub(r'<details class="folded">.*?</details>', "", page, flags=re.S)


def test_a_new_campaign_asks_for_seven_things_and_folds_the_rest(client: Client) -> None:
    page = client.get(CAMPAIGN).content.decode()
    names = set(re.findall(r'<(?:input|select|textarea)[^>]* name="(\w+)"', in_sight(page)))
    assert names - {"csrfmiddlewaretoken", "q"} == {
        *("name", "kind", "criteria", "annotators", "selection", "sample_size", "overlap")
    }
    assert groups(page) == {
        "Items and time": False,
        "Stop when it is enough": False,
        "Checks and practice": False,
        "What annotators see": False,
        "Marked errors and adjudication": False,
    }


def test_defaults_make_a_campaign(client: Client, small_project: Project) -> None:
    page = client.get(CAMPAIGN).content.decode()
    defaults = dict(re.findall(r'<input type="number" name="(\w+)" value="(\d+)"', page))
    criteria = list(small_project.criteria.values_list("pk", flat=True))
    order = re.search(r'<select name="order".*?<option value="(\w+)"', page, re.S)
    assert order
    sent = defaults | BASICS | {"criteria": criteria, "order": order[1]}
    answer = client.post(CAMPAIGN, sent)
    assert answer.status_code == 302, groups(answer.content.decode())
    saved = client.get(answer.headers["Location"]).content.decode()
    assert "First is saved as a draft" in saved
    made = client.get(f"{Campaign.objects.get().get_absolute_url()}edit/").content.decode()
    assert not any(groups(made).values())


def test_a_group_with_an_error_is_open(client: Client) -> None:
    page = client.post(CAMPAIGN, BASICS | {"check_percent": 20}).content.decode()
    assert any(is_open for name, is_open in groups(page).items() if name.startswith("Checks"))


def test_a_judges_form_folds_what_has_a_good_default(client: Client, project: Project) -> None:
    project.endpoints.create(name="e", base_url="http://127.0.0.1:1/v1")
    page = client.get(JUDGE).content.decode()
    assert set(groups(page)) == {
        "More",
        "Scoring",
        "Replies",
        "Calls",
        "Request options",
        "Prices",
        "More settings",
    }
    assert not any(groups(page).values())
    assert "name " not in groups_in_words(page)["Calls"][1]


def test_what_a_judge_has_otherwise_is_in_sight(client: Client, project: Project) -> None:
    endpoint = project.endpoints.create(name="e", base_url="http://127.0.0.1:1/v1")
    judge = Judge.objects.create(
        project=project, name="J", endpoint=endpoint, model="m", mode="direct", concurrency=3
    )
    page = client.get(f"{judge.get_absolute_url()}edit/").content.decode()
    assert groups_in_words(page)["Calls"] == (True, "parallel calls 3"), groups_in_words(page)
    assert not groups(page)["Prices"]


def test_the_settings_of_a_metric_are_all_in_sight(client: Client) -> None:
    page = client.get("/p/small/judges/new/?kind=rouge").content.decode()
    assert groups(page) == {}
    assert 'name="set_' in page


def test_a_zero_that_is_the_default_is_not_counted_as_changed(client: Client) -> None:
    sent = BASICS | {
        "seed": "0", "check_percent": "0", "practice_items": "0", "check_tolerance": "0",
        "practice_pass": "0", "overlap": "",
    }  # fmt: skip
    page = client.post(CAMPAIGN, sent).content.decode()
    assert "Checks and practice" in groups(page)


def test_a_criterion_shows_name_definition_and_scale_and_folds_the_rest(client: Client) -> None:
    page = client.get("/p/small/criteria/new/").content.decode()
    form = in_sight(page)[in_sight(page).index('<form class="form"') :]
    names = re.findall(r'<(?:input|select|textarea)[^>]* name="(\w+)"', form)
    assert names[:5] == ["csrfmiddlewaretoken", "name", "definition", "scale_min", "scale_max"]
    assert groups_in_words(page) == {
        "Points of the scale": (False, "step 1"),
        "Pass or fail, and what is required": (False, ""),
        "Prompt": (False, ""),
        "Guidelines for annotators": (False, ""),
        "Rubric": (False, ""),
    }


def test_what_a_criterion_says_otherwise_is_in_sight_in_short(
    client: Client, small_project: Project
) -> None:
    criterion = small_project.criteria.create(
        name="c", scale_step=0.5, guidelines="Read the whole text before you rate a single one."
    )
    page = client.get(f"/p/small/criteria/{criterion.pk}/").content.decode()
    assert groups_in_words(page) == {
        "Points of the scale": (True, "step 0.5"),
        "Pass or fail, and what is required": (False, ""),
        "Prompt": (False, ""),
        "Guidelines for annotators": (True, "Read the whole text before you…"),
        "Rubric": (False, ""),
    }


def test_a_folded_field_with_an_error_is_in_sight(client: Client) -> None:
    wrong = {"name": "c", "scale_min": 1, "scale_max": 5, "scale_step": 1, "inputs": "{{Nonsense}}"}
    page = client.post("/p/small/criteria/new/", wrong).content.decode()
    assert groups(page)["Prompt"]
    assert "unknown placeholder" in page
