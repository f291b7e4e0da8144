"""The address of every page and of every operation of the API, with records that exist; found in
the URL configuration, so that new ones are among them."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

import geval
from annotations.models import Annotator, Assignment, Campaign, CampaignItem, OpenLink
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
from evaluations.models.sealing import seal
from evaluations.models.tokens import digest_of
from evaluations.people.members import invite
from evaluations.people.webhooks.announcing import leave_message
from evaluations.people.webhooks.sending import new_secret
from evaluations.web.api.app import api
from evaluations.web.forms.uploads import initial_options

SHARED = "a-shared-token"


def routes(
    resolver: URLResolver | None = None, namespace: str = "", before: tuple[str, ...] = ()
) -> Iterator[tuple[str, list[str]]]:
    """The name of each page, with the arguments that its address takes."""
    for entry in (resolver or get_resolver()).url_patterns:
        taken = (*before, *entry.pattern.converters)
        if isinstance(entry, URLResolver):
            within = f"{entry.namespace}:" if entry.namespace else namespace
            yield from routes(entry, within, taken)
        elif isinstance(entry, URLPattern) and entry.name:
            yield f"{namespace}{entry.name}", list(taken)


def operations() -> Iterator[tuple[str, str]]:
    for path, methods in api.get_openapi_schema()["paths"].items():
        for method in methods:
            yield method.upper(), path


def kept_policy() -> dict[str, Any]:
    """The content of a policy that keeps something."""
    table = [{"doc": n, "human": n % 5, "gpt": n % 5 if n % 9 else 1, "language": "en"}
             for n in range(600)]  # fmt: skip
    content = geval.policy(
        table, promise="within 0.5", human="human", judge="gpt", document="doc", by="language"
    ).to_dict()
    return content | {"outputs": []}


def records_of(project: Project, make_user: Callable[..., Any]) -> dict[str, Any]:
    """An existing record for every argument that an address takes, made where there is none; one
    run of the project has items."""
    run = project.runs.filter(items__isnull=False).distinct().get()
    criterion = project.criteria.order_by("pk")[0]
    for version in (1, 2):
        criterion.steps.create(version=version, text="1. Read.", written_by="hand")
    campaign = Campaign.objects.create(project=project, name="Ratings", state="open")
    link = OpenLink.objects.create(
        campaign=campaign, address="open-to-all", title="Ratings", consent="Do you agree?"
    )
    participant = link.participants.create(source="id", external_id="somebody")
    output = project.documents.order_by("pk")[0].outputs.first()
    item = CampaignItem.objects.create(
        campaign=campaign, document=output.document, position=0, places=1, outputs=[output.pk]
    )
    annotator = Annotator.objects.create(project=project, name="ann who answered")
    answer = Assignment.objects.create(
        campaign=campaign, item=item, annotator=annotator, state="submitted", shown=item.outputs,
        answer={}, lease_until=timezone.now(), submitted_at=timezone.now(),
    )  # fmt: skip
    ShareLink.objects.create(project=project, digest=digest_of(SHARED), with_texts=True)
    inviter = make_user("inviter")
    project.memberships.create(user=inviter, role="owner")
    token = invite(project, "viewer", by=inviter).token
    other_token = ApiToken.objects.create(
        user=project.invitations.get().made_by, name="t", digest="t" * 64
    ).pk
    hook = Webhook.objects.create(
        project=project, url="https://example.org/", sealed_secret=seal(new_secret())
    )
    # By this seed d1, which addresses name, is not locked.
    LockedDocuments.objects.create(project=project, seed="3")
    search = Search.objects.create(project=project, judge=run.judge, criterion=criterion)
    change = Candidate.objects.create(
        search=search,
        change="panel",
        title="Panel",
        training={"gain": 0.1},
        formula={"members": [{"judge": run.judge.name, "criterion": criterion.name, "weight": 1}]},
    )
    asked = {"judge": run.judge.name, "criterion": criterion.name, "require": ["documents>=1"]}
    with suppress(SystemExit):  # says whether it is met
        call_command("certify", project.slug, **asked, stdout=StringIO())
    study = run.judge.studies.create(project=project, criterion=criterion, kind="again")
    policy = run.judge.policies.create(
        project=project, criterion=criterion, promise="within 0.5", digest="0",
        rule={"mark": None}, content=kept_policy(), used_at=timezone.now(), campaign=campaign.pk,
    )  # fmt: skip
    kept = {
        "policy": policy.pk,
        "study": study.pk,
        "improve": search.pk,
        "search": search.pk,
        "look": change.pk,
        "candidate": change.pk,
        "certificate": getattr(project.certificates.first(), "pk", 0),
        "limits": project.pk,
        "document": output.document_id,
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
        "answer": campaign.pk,
        "annotator": campaign.pk,
        "open": campaign.pk,
        "participant": campaign.pk,
        "payment": campaign.pk,
        "person": participant.pk,
        "task": campaign.pk,
        "member": project.memberships.get(user=inviter).pk,
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
        "campaign_answer": answer.pk,
        "campaign_annotator": annotator.pk,
        "project": project,
    }


def address(route: str, place: dict[str, Any], member: int = 0, **other: Any) -> str:
    """The address of a page or an operation, with arguments that exist, or with others."""
    if route.startswith("/"):
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
            "invitations": "invitation",
            "members": "member",
        }
        kind = next((one for part, one in kinds.items() if f"/{part}/{{pk}}" in route), "judge")
        return (
            route.replace("{slug}", "small")
            .replace("{pk}", str(place[kind]))
            .replace("{probe}", str(place["probe"]))
            .replace("{answer}", str(place["campaign_answer"]))
            .replace("{participant}", str(place["person"]))
        )
    short = route.rsplit(":", maxsplit=1)[-1]
    first = short.split("_")[0]
    is_drawing = short.endswith("_drawing")
    given: dict[str, Any] = {
        "slug": "small",
        "pk": (
            {
                "member_change": member,
                "member_password": member,
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
        "answer": place["campaign_answer"],
        "annotator": place["campaign_annotator"],
        "address": "open-to-all",
        "participant": place.get("person", 0),
        "page": "method/",
        "uidb64": "MQ",
    } | other
    arguments = next(taken for name, taken in routes() if name == route)
    return reverse(route, kwargs={key: given[key] for key in arguments})
