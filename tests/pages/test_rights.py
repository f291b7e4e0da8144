"""The tables of docs/rights.md hold for every page and every endpoint of the API, and leave none
out."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotations.models import Campaign, CampaignItem
from evaluations.api.app import api
from evaluations.certifying.certificates import certify, read_requirements
from evaluations.forms import initial_options
from evaluations.models import (
    ApiToken,
    Candidate,
    LockedDocuments,
    Project,
    ReportSnapshot,
    Search,
    ShareLink,
    Upload,
    Webhook,
    WebhookEvent,
)
from evaluations.models.tokens import digest_of
from evaluations.people.members import invite
from evaluations.sealing import seal
from evaluations.webhooks.announcing import leave_message
from evaluations.webhooks.signing import new_secret
from tests.conftest import CHECKOUT

pytestmark = pytest.mark.django_db
PAGE = (CHECKOUT / "docs" / "rights.md").read_text()
ROLES = ("owner", "researcher", "viewer", "annotator", "stranger", "visitor")
RIGHTS = {
    name: dict(zip(ROLES, (cell.strip() for cell in cells.split("|")), strict=True))
    for name, cells in re.findall(r"^\| `([a-z ]+)` \| (.+) \|$", PAGE, re.M)
    if cells.count("|") == len(ROLES) - 1
}
ROWS = re.findall(r"^\| `(GET|POST|PUT|DELETE|PATCH) (\S+)` \| ([a-z ]+) \|$", PAGE, re.M)
SHARED = "a-shared-token"


def patterns(resolver: URLResolver, namespace: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from patterns(entry, f"{entry.namespace}:" if entry.namespace else namespace)
        elif isinstance(entry, URLPattern) and entry.name:
            yield f"{namespace}{entry.name}"


def operations() -> Iterator[tuple[str, str]]:
    for path, methods in api.get_openapi_schema()["paths"].items():
        for method in methods:
            yield method.upper(), path


def test_every_page_and_endpoint_is_in_the_tables() -> None:
    listed = {name for _method, name, _right in ROWS}
    pages = {name for name in patterns(get_resolver()) if not name.startswith(("admin:", "api:"))}

    assert pages - listed == set()
    assert {(method, path) for method, path in operations()} == {
        (method, name) for method, name, _right in ROWS if name.startswith("/")
    }
    assert {name for name in listed if not name.startswith("/")} == pages
    assert {right for _method, _name, right in ROWS} <= set(RIGHTS)


@pytest.fixture
def place(judged_project: Project, make_user: Callable[..., Any]) -> dict[str, Any]:
    """An existing record for every argument that an address takes."""
    project = judged_project
    run = project.runs.get()
    criterion = project.criteria.get(name="coherence")
    for version in (1, 2):
        criterion.steps.create(version=version, text="1. Read.", written_by="hand")
    campaign = Campaign.objects.create(project=project, name="Ratings")
    output = project.documents.get(doc_id="d1").outputs.first()
    item = CampaignItem.objects.create(
        campaign=campaign, document=output.document, position=0, places=1, outputs=[output.pk]
    )
    ShareLink.objects.create(project=project, digest=digest_of(SHARED), with_texts=True)
    inviter = make_user("inviter")
    project.memberships.create(user=inviter, role="owner")
    token = invite(project, "viewer", by=inviter)
    other_token = ApiToken.objects.create(
        user=project.invitations.get().made_by, name="t", digest="t" * 64
    ).pk
    hook = Webhook.objects.create(
        project=project, url="https://example.org/", sealed_secret=seal(new_secret())
    )
    LockedDocuments.objects.create(project=project, seed="s")
    search = Search.objects.create(project=project, judge=run.judge, criterion=criterion)
    change = Candidate.objects.create(
        search=search, change="panel", title="Panel", training={"gain": 0.1}
    )
    certificate = certify(run.judge, criterion, read_requirements(["documents>=1"]))
    study = run.judge.studies.create(project=project, criterion=criterion, kind="drift")
    kept = {
        "study": study.pk,
        "improve": search.pk,
        "search": search.pk,
        "look": change.pk,
        "candidate": change.pk,
        "certificate": certificate.pk,
        "limits": project.pk,
        "document": project.documents.get(doc_id="d1").pk,
        "criterion": criterion.pk,
        "steps": criterion.pk,
        "system": project.systems.first().pk,
        "judge": run.judge_id,
        "endpoint": run.judge.endpoint_id,
        "run": run.pk,
        "item": run.items.first().pk,
        "snapshot": (
            ReportSnapshot.objects.create(
                project=project, sha256="0" * 64, content="{}", page="<p>"
            ).pk
        ),
        "share": ShareLink.objects.get().pk,
        "invitation": project.invitations.get().pk,
        "campaign": campaign.pk,
        "adjudication": campaign.pk,
        "task": campaign.pk,
        "member": 0,
        "probe": run.judge.endpoint.probes.create(model="m").pk,
        "upload": Upload.objects.create(project=project, about=initial_options(["a.csv"])).pk,
        "output": output.pk,
        "webhook": hook.pk,
        "delivery": leave_message(hook, WebhookEvent.TEST, {}).pk,
        "saved": project.saved_columns.create(name="ours", columns={}, file_columns=[]).pk,
    }
    return kept | {
        "invited": token,
        "token": other_token,
        "campaign_item": item.pk,
        "project": project,
    }


def address(name: str, place: dict[str, Any], member: int) -> str:
    """The address of a page, with arguments that exist."""
    if name.startswith("/"):
        kinds = {
            "endpoints": "endpoint",
            "runs": "run",
            "documents": "document",
            "outputs": "output",
            "criteria": "criterion",
            "systems": "system",
            "searches": "search",
            "candidates": "candidate",
            "certificates": "certificate",
            "studies": "study",
            "campaigns": "campaign",
        }
        kind = next((one for part, one in kinds.items() if f"/{part}/{{pk}}" in name), "judge")
        return (
            name.replace("{slug}", "small")
            .replace("{pk}", str(place[kind]))
            .replace("{probe}", str(place["probe"]))
        )
    short = name.rsplit(":", maxsplit=1)[-1]
    first = short.split("_")[0]
    is_drawing = short.endswith("_drawing")
    given: dict[str, Any] = {
        "slug": "small",
        "pk": (
            {
                "member_change": member,
                "item_list": place["run"],
                "errand_state": place["probe"],
            }.get(short, place.get(first, 0))
        ),
        "run": place["run"],
        "version": 2,
        "token": place["invited"] if first == "invitation" else SHARED,
        "kind": {"errand_state": "probe"}.get(short, "bubbles" if is_drawing else "scatter"),
        "criterion": place["criterion"],
        "judge": place["judge"],
        "document": place["document"],
        "ending": "svg" if is_drawing else "json",
        "name": "ratings.csv",
        "item": place["campaign_item"],
        "assignment": 1,
        "page": "method/",
        "uidb64": "MQ",
    }
    found = next(entry for entry in _all(get_resolver()) if entry[0] == name)
    return reverse(name, kwargs={key: given[key] for key in found[1]})


def _all(
    resolver: URLResolver, namespace: str = "", before: tuple[str, ...] = ()
) -> Iterator[tuple[str, list[str]]]:
    for entry in resolver.url_patterns:
        taken = (*before, *entry.pattern.converters)
        if isinstance(entry, URLResolver):
            yield from _all(entry, f"{entry.namespace}:" if entry.namespace else namespace, taken)
        elif entry.name:
            yield f"{namespace}{entry.name}", list(taken)


def answer(response: Any) -> str:
    """What a response comes to, in the words of the table."""
    if response.status_code in (401, 403, 404):
        return {401: "sign in", 403: "no", 404: "hidden"}[response.status_code]
    if response.status_code == 302 and response["Location"].startswith(reverse("login") + "?next"):
        return "sign in"
    return "yes"


@pytest.mark.parametrize("role", ROLES)
def test_the_tables_hold_for_each_role(
    as_role: Callable[[str], Client], place: dict[str, Any], role: str
) -> None:
    client = as_role(role)
    project = place["project"]
    member = project.memberships.get(user_id=project.invitations.get().made_by_id).pk
    wrong = []
    session = client.cookies.get("sessionid")
    assert (session is not None) == (role != "visitor")
    for method, name, right in ROWS:
        if session is not None:
            client.cookies["sessionid"] = session.value  # one of the rows signs out
        with transaction.atomic():
            response = client.generic(
                method,
                address(name, place, member),
                json.dumps({}) if name.startswith("/") else "",
                content_type=(
                    "application/json"
                    if name.startswith("/")
                    else "application/x-www-form-urlencoded"
                ),
            )
            found = answer(response)
            transaction.set_rollback(True)
        if found != RIGHTS[right][role]:
            wrong.append(
                f"{method} {name}: {found} ({response.status_code}), the table says"
                f" {RIGHTS[right][role]}"
            )

    assert not wrong, "\n".join(wrong)
