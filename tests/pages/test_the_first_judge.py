"""A new judge is G-Eval in one form, with its endpoint where there is none; other kinds are a link
away."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from evaluations.models import AuditEntry, Endpoint, Judge, ModelProbe, Project
from tests.conftest import do_errands
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db
NEW, MODEL = "/p/small/judges/new/", "offline-stand-in"
Start = Callable[..., StandInProcess]


def filled(page: str, **values: Any) -> dict[str, Any]:
    """What a browser would send: the values of a form's inputs, with these in their place."""
    inputs = re.findall(r'<input type="(\w+)" name="(\w+)"(?: value="([^"]*)")?', page)
    sent = {name: value for kind, name, value in inputs if kind in ("number", "hidden", "text")}
    return {**sent, "set_delimited": "on", "use_steps": "on", **values}


@pytest.fixture
def owner(as_role: Callable[[str], Client], small_project: Project) -> Client:
    return as_role("owner")


def test_one_form_makes_endpoint_and_judge(owner: Client, start_standin: Start) -> None:
    sent = filled(owner.get(NEW).content.decode(), base_url=start_standin().base_url, key="sk-1")

    asked = owner.post(NEW, sent).content.decode()
    do_errands()
    endpoint, listing = Endpoint.objects.get(), ModelProbe.objects.get()
    sent |= {"endpoint": endpoint.pk}
    listed = owner.post(NEW, sent | {"waited": listing.pk}).content.decode()
    probing = owner.post(NEW, sent | {"model": MODEL}).content.decode()
    do_errands()
    answer = owner.post(NEW, sent | {"model": MODEL}, follow=True)

    assert "which models it has…" in asked
    assert f'name="waited" value="{listing.pk}"' in asked
    assert f'<option value="{endpoint.pk}" selected>' in asked
    assert "errorlist" not in asked
    assert "sk-1" not in asked
    assert f'<option value="{MODEL}">' in listed
    assert "Choose from the list (1)" in listed
    assert "errorlist" not in listed
    assert "waited" not in listed
    assert f"can do with {MODEL}…" in probing
    judge = Judge.objects.get()
    assert (judge.name, judge.endpoint, judge.mode) == ("G-Eval", endpoint, "logprobs")
    assert endpoint.api_key == "sk-1"
    assert answer.redirect_chain[-1][0] == f"{judge.get_absolute_url()}try/"
    # The list that was only looked at is in no log.
    details = AuditEntry.objects.order_by("pk").values_list("detail", flat=True)
    assert list(details) == [f"with the endpoint {endpoint}", "", ""]
    assert "Try it on an item" in answer.content.decode()


def test_a_wrong_address_saves_nothing(owner: Client) -> None:
    page = owner.post(NEW, {"kind": "geval", "name": "J", "base_url": "nonsense"}).content.decode()

    assert "is not an address like" in page
    assert not Endpoint.objects.exists()


def test_who_may_not_call_out_is_refused_and_saves_nothing(
    as_role: Callable[[str], Client], small_project: Project, settings: Any
) -> None:
    settings.WHO_MAY_CALL_OUT = "owners"
    sent = {"kind": "geval", "name": "J", "base_url": "http://127.0.0.1:9/v1", "model": "m"}

    answer = as_role("researcher").post(NEW, sent, follow=True)

    page = answer.content.decode()
    assert "G-Eval needs an endpoint." in page
    assert "Ask an owner to do it" in page
    assert not Endpoint.objects.exists()
