"""Every PUT keeps what it leaves out, and is refused with both states if it was made from an older
one; so is every form of a page that changes something."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import lxml.html
import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from annotations.models import Campaign, OpenLink
from annotations.planning.known_answers import ids_by_name
from evaluations.models import Endpoint, Judge, Membership, Project, Role, System
from evaluations.web.revisions import revision_of
from geval.files.answers.gold import gold_of_rows
from tests.pages.addresses import operations

pytestmark = pytest.mark.django_db
BASE = "/api/v1/projects/small"
BANNED = ["p1", "p2"]
QUESTION = {"text": "Lang?", "kind": "choice", "options": ["a", "b"], "quotas": {"a": 2}}
GOLD = [{"doc_id": "d1", "system_id": "good", "criterion": "fluency", "score": 4}]
# What is changed by each PUT, first and then.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "": ({"description": "One."}, {"name": "Other"}),
    "/formats": ({"text_language": "ar"}, {"output_format": "markdown"}),
    "/archived": ({"archived": True}, {"archived": False}),
    "/members/{pk}": ({"role": "viewer"}, {"role": "researcher"}),
    "/systems/{pk}": ({"family": "gpt"}, {"kind": "human"}),
    "/criteria/{pk}": ({"definition": "Reads well."}, {"scale_max": 7}),
    "/endpoints/{pk}": ({"requests_per_minute": 9}, {"name": "Other"}),
    "/endpoints/{pk}/retired": ({"retired": True}, {"retired": False}),
    "/judges/{pk}": ({"max_tokens": 99}, {"price_in": "0.15", "price_out": "0.60"}),
    "/judges/{pk}/retired": ({"retired": True}, {"retired": False}),
    "/judges/{pk}/family": ({"family": "gpt"}, {"family": "llama"}),
    "/campaigns/{pk}": ({"overlap": 1}, {"lease_minutes": 30, "deadline": "2031-01-01T00:00:00Z"}),
    "/campaigns/{pk}/open-link": ({"minutes": 30}, {"amount": "1.5", "title": "Other"}),
}
# Columns that a change of another one may change.
MOVED = {"archived_at", "retired_at", "scale_is_guess", "max_tokens"}


@pytest.fixture
def rows(
    small_project: Project, make_user: Callable[..., User], make_judge: Callable[..., Judge]
) -> dict[str, Model]:
    """A row for each PUT, in which nothing is as usual, by the first part of its path."""
    project = small_project
    judge = make_judge(
        project, base_url="http://127.0.0.1:9/v1", name="Judge", samples=3, mode="samples",
        temperature=0.7, max_tokens=77, request_options={"seed": 5}, concurrency=5, family="qwen",
    )  # fmt: skip
    endpoint = judge.endpoint
    assert endpoint is not None
    Endpoint.objects.filter(pk=endpoint.pk).update(tokens_per_minute=70, parallel_calls=3)
    endpoint.refresh_from_db()
    asked = {"model": judge.model, "request_options": judge.request_options}
    endpoint.probes.create(**asked, findings={"modes": {"samples": ""}})
    endpoint.keep_key("sk-1")
    endpoint.save()
    criterion = project.criteria.get(name="fluency")
    member = Membership.objects.create(project=project, user=make_user("bo"), role=Role.ANNOTATOR)
    gold = gold_of_rows(GOLD, "rating", [criterion], lambda: ids_by_name(project))
    campaign = Campaign.objects.create(
        project=project, name="Round", overlap=2, seed=8, gold=gold, span_categories=["Style"],
        practice_items=1,
    )  # fmt: skip
    campaign.criteria.set([criterion])
    OpenLink.objects.create(
        campaign=campaign, address="here", title="T", consent="C", is_open=False, banned=BANNED,
        done_code="DONE1", before=[QUESTION], people=7, done_url="https://panel.example/?x=1",
    )  # fmt: skip
    return {
        "": project, "members": member, "systems": System.objects.get(name="odd"),
        "criteria": criterion, "endpoints": endpoint, "judges": judge, "campaigns": campaign,
    }  # fmt: skip


def row_of(rows: dict[str, Model], path: str) -> Model:
    row = rows[path.split("/")[1] if "{pk}" in path else ""]
    return OpenLink.objects.get(campaign=row.pk) if path.endswith("open-link") else row


def stored(row: Model) -> dict[str, Any]:
    row.refresh_from_db()
    return {field.name: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_the_table_has_every_put() -> None:
    paths = {path for method, path in operations() if method == "PUT"}
    named = {f"{BASE.replace('small', '{slug}')}{path}" for path in CHANGES}

    assert {path.replace("{campaign}", "{pk}") for path in paths} == named


@pytest.fixture
def put(owner: User, client: Client, rows: dict[str, Model]) -> Callable[..., Any]:
    client.force_login(owner)

    def send(path: str, body: dict[str, Any]) -> Any:
        where = path.format(pk=rows[path.split("/")[1]].pk) if "{pk}" in path else path
        response = client.put(BASE + where, json.dumps(body), content_type="application/json")
        return response.status_code, response.json()

    return send


@pytest.mark.parametrize("path", CHANGES)
def test_what_a_put_leaves_out_stays(
    put: Callable[..., Any], rows: dict[str, Model], path: str
) -> None:
    row = row_of(rows, path)
    for change in CHANGES[path]:
        before = stored(row)

        status, _reply = put(path, change)

        assert status == 200, _reply
        changed = {name for name, value in stored(row).items() if value != before[name]}
        assert changed - MOVED <= change.keys()
        assert changed


@pytest.mark.parametrize("path", CHANGES)
def test_a_put_from_an_older_state_is_refused_with_both(
    put: Callable[..., Any], rows: dict[str, Model], path: str
) -> None:
    row, (first, then) = row_of(rows, path), CHANGES[path]
    older = revision_of(row)
    status, reply = put(path, first | {"revision": older})
    assert status == 200, reply
    before = stored(row)

    refused, conflict = put(path, then | {"revision": older})

    assert (refused, conflict["title"]) == (409, "Changed since")
    assert stored(row) == before
    newest = conflict["stored"]["revision"]
    assert newest == reply["revision"] == revision_of(row)
    assert conflict["sent"].items() <= then.items()
    assert put(path, then | {"revision": newest})[0] == 200


def test_a_new_link_that_lacks_something_names_it(
    put: Callable[..., Any], rows: dict[str, Model]
) -> None:
    OpenLink.objects.all().delete()

    status, refused = put("/campaigns/{pk}/open-link", {"title": "T"})

    assert status == 422
    assert {error["at"] for error in refused["errors"]} == {"address", "consent"}


def test_a_variables_key_goes_to_another_address_only_if_it_is_named(
    put: Callable[..., Any], rows: dict[str, Model], settings: Any
) -> None:
    settings.ENDPOINT_KEYS = frozenset({"MY_KEY"})
    Endpoint.objects.update(key_env="MY_KEY", sealed_key="")
    moved = {"base_url": "http://127.0.0.1:8/v1"}

    assert put("/endpoints/{pk}", moved)[0] == 422
    assert put("/endpoints/{pk}", moved | {"key_env": "MY_KEY"})[0] == 200


@pytest.mark.parametrize("other", ["seat", "criterion", "goal"])
def test_the_revision_of_a_campaign_covers_more_than_its_columns(
    put: Callable[..., Any], rows: dict[str, Model], other: str
) -> None:
    campaign, path = Campaign.objects.get(), "/campaigns/{pk}"
    older = revision_of(campaign)
    criteria = [criterion.pk for criterion in campaign.project.criteria.all()]
    change = {
        "seat": {"annotators": ["bo"]},
        "criterion": {"criteria": criteria},
        "goal": {"goal": {"kind": "width", "criterion": rows["criteria"].pk, "width": 0.1,
                          "judge": rows["judges"].pk}},
    }[other]  # fmt: skip
    status, reply = put(path, change)
    assert status == 200, reply

    assert put(path, {"overlap": 1, "revision": older})[0] == 409


# Pages: the address, a field with its new value, a column that somebody else changes, to what, and
# how the form shows that.
PAGES: dict[str, tuple[str, tuple[str, str], tuple[str, Any], str]] = {
    "criteria": (
        "evaluations:criterion_edit",
        ("name", "Mine"),
        ("definition", "Theirs."),
        "Theirs.",
    ),
    "endpoints": ("evaluations:endpoint_edit", ("name", "Mine"), ("parallel_calls", 44), "44"),
    "judges": ("evaluations:judge_edit", ("name", "Mine"), ("concurrency", 9), "9"),
    "campaigns": ("annotations:campaign_edit", ("name", "Mine"), ("overlap", 1), "1"),
    "link": ("annotations:open_link_edit", ("title", "Mine"), ("banned", ["p7"]), "p7"),
    "guidelines": (
        "annotations:guidelines_edit",
        ("guidelines", "Mine"),
        ("guidelines", "Theirs."),
        "Theirs.",
    ),
    "formats": (
        "evaluations:project_formats",
        ("text_language", "ar"),
        ("output_format", "markdown"),
        "Markdown",
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_form_from_an_older_state_shows_both_and_saves_nothing(
    owner: User, client: Client, rows: dict[str, Model], name: str
) -> None:
    path, (field, value), (column, theirs), shown = PAGES[name]
    row = rows.get(name) or (OpenLink.objects.get() if name == "link" else rows[""])
    of_project = row == rows[""]
    pk = rows["campaigns"].pk if name == "link" else row.pk
    address = reverse(path, args=["small"] if of_project else ["small", pk])
    client.force_login(owner)

    def form() -> Any:
        return next(
            one for one in lxml.html.fromstring(client.get(address).content).forms
            if field in one.fields
        )  # fmt: skip

    def post(values: dict[str, Any]) -> Any:
        content = urlencode(list(values.items()), doseq=True)
        return client.post(address, content, content_type="application/x-www-form-urlencoded")

    opened: dict[str, Any] = {}
    for key, sent in form().form_values():
        opened.setdefault(key, []).append(sent)
    type(row)._base_manager.filter(pk=row.pk).update(**{column: theirs})
    before = stored(row)

    refused = post(opened | {field: value})

    text = refused.content.decode()
    assert "Somebody changed this since you opened it" in text
    assert f"Stored now: {shown}" in text
    assert stored(row) == before
    gold = Campaign.objects.get().gold
    again = next(f for f in lxml.html.fromstring(refused.content).forms if field in f.fields)
    assert again.fields[field].strip() == value

    saved = post(opened | {field: value, "revision": again.fields["revision"]})

    assert saved.status_code == 302, saved.content.decode()
    assert stored(row)[field] == value
    assert Campaign.objects.get().gold == gold != []
