"""Choosing an evaluator, filling in its form, and what its judge's page and items show."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import Judge, Project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def test_a_form_makes_a_judge_with_its_settings_and_no_endpoint(
    browser: Client, small_project: Project
) -> None:
    form = browser.get("/p/small/judges/new/?kind=rouge").content.decode()
    assert "Overlap of words" in form
    assert 'name="set_variant"' in form
    assert 'name="endpoint"' not in form

    data = {
        "kind": "rouge",
        "name": "ROUGE-2",
        "set_variant": "rouge2",
        "set_measure": "f",
        "set_references": "mean",
    }
    browser.post("/p/small/judges/new/", data)

    judge = Judge.objects.get()
    assert judge.kind == "rouge"
    assert judge.settings == {
        "references": "mean",
        "variant": "rouge2",
        "measure": "f",
        "stem": False,
    }
    page = browser.get(f"{judge.get_absolute_url()}settings/").content.decode()
    assert "<td>rouge2</td>" in page
    assert "Several references" in page
