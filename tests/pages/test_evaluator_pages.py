"""Choosing an evaluator, filling in its form, and what its judge's page and items show."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Judge, Project

pytestmark = pytest.mark.django_db(transaction=True)
REFERENCED = (
    '{"doc_id": "d1", "system_id": "s", "source": "x", "output": "the ferry sails", "references":'
    ' ["the ferry leaves"]}'
)


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


def test_a_used_judge_is_changed_into_a_new_version(
    browser: Client, project: Project, load: Callable[..., object]
) -> None:
    load(project, {"outputs.jsonl": REFERENCED})
    browser.post(
        "/p/small/judges/new/",
        {"kind": "chrf", "name": "chrF", "set_word_order": "0", "set_beta": "2"},
    )
    judge = Judge.objects.get()
    run = start_run(judge, [])
    work_on_run(run.pk, "tester")

    edit = f"/p/small/judges/{judge.pk}/edit/"
    assert 'value="2"' in browser.get(edit).content.decode()
    browser.post(edit, {"kind": "chrf", "name": "chrF", "set_word_order": "2", "set_beta": "2"})

    assert [
        (judge.version, judge.settings["word_order"]) for judge in Judge.objects.order_by("pk")
    ] == [(1, 0), (2, 2)]
    item = run.items.get()
    page = browser.get(f"/p/small/runs/{run.pk}/items/{item.pk}/").content.decode()
    assert "the ferry leaves" in page
    assert "Prompt" not in page
    run_page = browser.get(run.get_absolute_url()).content.decode()
    assert "beta 2" in run_page
    assert "Its scores count for every criterion." in run_page
