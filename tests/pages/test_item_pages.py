"""Items of a run: the list by reason, one item's prompt, reply and probabilities, and the model's
explanation."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Explanation, Judge, Project
from geval.llm.calls import RetryPolicy
from tests.conftest import do_errands

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(owner: User) -> Client:
    browser = Client()
    browser.force_login(owner)
    return browser


@pytest.fixture
def judged(small_project: Project, make_judge: Callable[..., Judge]) -> EvaluationRun:
    run = start_run(make_judge(small_project, use_steps=False), list(small_project.criteria.all()))
    work_on_run(run.pk, "tester", policy=RetryPolicy(first_wait=0.01))
    return run


def test_an_item_shows_the_exact_prompt_the_reply_and_the_probabilities(
    client: Client, judged: EvaluationRun
) -> None:
    item = judged.items.select_related("output__document").first()
    assert item

    text = client.get(f"/p/small/runs/{judged.pk}/items/{item.pk}/").content.decode()

    assert item.output.document.source in text
    assert item.output.text in text
    assert "Distribution over the scale" in text
    assert "Token by token" in text
    assert text.count("<meter") > 5


def test_an_explanation_is_asked_once_and_leaves_the_score_alone(
    client: Client, judged: EvaluationRun
) -> None:
    item = judged.items.first()
    assert item
    address = f"/p/small/runs/{judged.pk}/items/{item.pk}/"
    before = list(judged.scores.order_by("pk").values_list("value", flat=True))

    client.post(address + "explain/")
    assert "model to explain its score…" in client.get(address).content.decode()
    do_errands()
    first = Explanation.objects.get()
    client.post(address + "explain/")
    do_errands()

    assert Explanation.objects.get() == first
    assert first.text in client.get(address).content.decode()
    assert list(judged.scores.order_by("pk").values_list("value", flat=True)) == before
