"""HTTP API of open links: their settings, participants and payments."""

from contextlib import nullcontext
from decimal import Decimal
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Field, Path, Query, Router

from annotations.models import Campaign, OpenLink, Participant
from annotations.open_links.links import COLUMNS, LINES, change_settings, lines_of
from annotations.open_links.places import end_banned, remove_personal_data
from annotations.results.payment import Payment, payment_file, payments
from evaluations.web.api.auth import project_for
from evaluations.web.api.schemas import Page, page_of
from evaluations.web.revisions import Change, editing, revision_of

router = Router()
CSV = {"responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}}


class OpenLinkIn(Change):
    """A new link needs `address`, `title` and `consent`. `before` and `after` are short questions
    as lines: the question, `|`, and `text`, `number` or choices such as `yes = 50, no = 0`.
    Addresses of ways back begin with https."""

    address: str = Field("", max_length=60)
    title: str = Field("", max_length=200)
    consent: str = Field("", max_length=20_000)
    is_open: bool = True
    people: int = 100
    items_each: int = 20
    minutes: int = 60
    skip_percent: int = 20
    per_address: int = 3
    before: list[str] = Field([], max_length=100)
    after: list[str] = Field([], max_length=100)
    banned: list[str] = Field([], max_length=10_000)
    amount: Decimal = Decimal(0)
    pays_by_item: bool = False
    amount_screened: Decimal = Decimal(0)
    bonus: Decimal = Decimal(0)
    bonus_percent: int = 100
    done_code: str = ""
    incomplete_code: str = ""
    screened_code: str = ""
    returned_code: str = ""
    done_url: str = ""
    incomplete_url: str = ""
    screened_url: str = ""
    returned_url: str = ""


@router.get("/campaigns/{int:pk}/open-link", response=dict[str, Any])
def get_open_link(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """The link of a campaign, and what applies to everybody who follows it."""
    return _link_json(_link(request, slug, pk))


@router.put("/campaigns/{int:pk}/open-link", response=dict[str, Any])
def put_open_link(request: HttpRequest, slug: Path[str], pk: int, data: OpenLinkIn) -> Any:
    """Make the link of a campaign, or change it; `is_open` closes it and opens it again."""
    project = project_for(request, slug, change=True)
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    links, values = OpenLink.objects.filter(campaign=campaign), data.sent()
    values |= {name: "\n".join(values[name]) for name in LINES if name in values}
    begun = nullcontext(OpenLink(campaign=campaign))
    with editing(links, data, _link_json) if links.exists() else begun as link:
        change_settings(link, values)
        link.save()
    end_banned(link)
    link.refresh_from_db()
    return _link_json(link)


@router.get("/campaigns/{int:pk}/participants", response=dict[str, Any])
def list_participants(request: HttpRequest, slug: Path[str], pk: int, page: Query[Page]) -> Any:
    """Who took part, in the order in which they agreed, with what they did and get; in pages."""
    link = _link(request, slug, pk)
    rows = {row.participant.pk: row for row in payments(link)}
    return page_of(
        link.participants.order_by("pk"), page, lambda person: _payment_json(rows[person.pk])
    )


@router.get("/campaigns/{int:pk}/payments", openapi_extra=CSV)
def get_payments(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """The payment file: a row of CSV for each participant."""
    lines = payment_file(_link(request, slug, pk))
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")


@router.delete("/campaigns/{int:pk}/participants/{int:participant}", response=dict[str, Any])
def forget_participant(request: HttpRequest, slug: Path[str], pk: int, participant: int) -> Any:
    """Remove the id of a participant and what they said about themselves; ratings are kept."""
    link = _link(request, slug, pk)
    people = Participant.objects.select_related("link__campaign")
    person = get_object_or_404(people, link=link, pk=participant)
    return {"removed": remove_personal_data([person])}


def _link(request: HttpRequest, slug: str, campaign: int) -> OpenLink:
    project = project_for(request, slug, change=True)
    links = OpenLink.objects.select_related("campaign__project")
    return get_object_or_404(links, campaign=campaign, campaign__project=project)


def _link_json(link: OpenLink) -> dict[str, Any]:
    path = link.address and reverse("annotations:open_entry", args=[link.address])
    return {
        "revision": revision_of(link),
        **{name: getattr(link, name) for name in COLUMNS},
        "path": path,
        "before": lines_of(link.before).splitlines(),
        "after": lines_of(link.after).splitlines(),
        "banned": link.banned,
    }


def _payment_json(row: Payment) -> dict[str, Any]:
    person = row.participant
    return {
        "id": person.pk,
        "external_id": person.external_id,
        "panel": person.source,
        "study": person.study,
        "session": person.session,
        "annotator": person.annotator and person.annotator.name,
        "state": person.state,
        "screened_for": person.screened_for,
        "before": person.before,
        "after": person.after,
        "consented_at": person.consented_at,
        "started_at": person.started_at,
        "ended_at": person.ended_at,
        "items": row.items,
        "skipped": row.work.skipped,
        "fast_answers": row.work.fast,
        "marks": row.marks,
        "guidelines_versions": row.guidelines_versions,
        "active_minutes": round(row.minutes, 2),
        "checks_passed": row.checks_passed,
        "checks": row.checks,
        "amount": row.amount,
        "bonus": row.bonus,
    }
