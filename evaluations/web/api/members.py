"""HTTP API of a project's members and invitations, with the rules of their page."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Router, Schema, Status

from evaluations.models import Invitation, Membership
from evaluations.models.members import INVITATION_DAYS, MOST_INVITATION_DAYS
from evaluations.people.audit import note_detail
from evaluations.people.mails import addresses_to_invite
from evaluations.people.members import (
    MailedInvitations,
    change_role,
    invitation_link,
    invite,
    invite_by_mail,
    remove,
    revoke,
    send_new_password,
)
from evaluations.web.api.auth import MANAGES, project_for
from evaluations.web.api.middleware import NOT_STORED
from evaluations.web.api.schemas import In
from evaluations.web.revisions import Change, Revised, editing

router = Router()
RoleName = Literal["owner", "researcher", "annotator", "viewer"]
LANGUAGES = f"^({'|'.join(code for code, _name in settings.LANGUAGES)})$"
Days = Annotated[int, Field(ge=1, le=MOST_INVITATION_DAYS)]


class MemberOut(Revised):
    id: int
    user: str = Field(alias="user.username")
    role: str


class RoleIn(Change):
    role: RoleName


class PasswordOut(Schema):
    """A link for a new password was mailed, or is this one, which is shown once."""

    mailed: bool
    link: str


class InvitationIn(In):
    """`note` says whom it is for; the person does not see it."""

    role: RoleName = "annotator"
    note: str = Field("", max_length=200)
    days: Days = INVITATION_DAYS


class InvitationOut(Schema):
    """`address` is where it was mailed to."""

    id: int
    role: str
    note: str
    address: str
    created_at: datetime
    expires_at: datetime


class NewInvitationOut(InvitationOut):
    """`link` works once and is only here."""

    link: str


class MailedIn(In):
    """People to invite by mail, each with a link of their own."""

    addresses: list[Annotated[str, Field(max_length=254)]] = Field(max_length=10_000)
    role: RoleName = "annotator"
    language: str = Field("en", pattern=LANGUAGES)
    days: Days = INVITATION_DAYS


@router.get("/members", response=list[MemberOut])
def list_members(request: HttpRequest, slug: Path[str]) -> Any:
    """All members with their roles."""
    members = project_for(request, slug).memberships.select_related("user")
    return members.order_by("user__username")


@router.post("/members/{int:pk}/password", response=PasswordOut, auth=MANAGES)
def send_password(request: HttpRequest, response: HttpResponse, slug: Path[str], pk: int) -> Any:
    """Give a member a link for a new password: by mail, or here if they have no address."""
    member = _member(request, slug, pk)
    note_detail(request, str(member.user))
    path = send_new_password(member, domain=request.get_host(), use_https=request.is_secure())
    response["Cache-Control"] = NOT_STORED
    return {"mailed": not path, "link": path and request.build_absolute_uri(path)}


@router.put("/members/{int:pk}", response=MemberOut, auth=MANAGES)
def edit_member(request: HttpRequest, slug: Path[str], pk: int, data: RoleIn) -> Any:
    """Give a member another role; a project keeps at least one owner."""
    with editing(_members(request, slug), data, MemberOut.from_orm, pk=pk) as member:
        change_role(member, data.role)
        note_detail(request, f"{member.user} is {member.role}")
        return member


@router.delete("/members/{int:pk}", response={204: None}, auth=MANAGES)
def remove_member(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Remove a member; their ratings are kept, and a project keeps at least one owner."""
    member = _member(request, slug, pk)
    remove(member)
    note_detail(request, f"{member.user} removed")
    return Status(204, None)


@router.get("/invitations", response=list[InvitationOut], auth=MANAGES)
def list_invitations(request: HttpRequest, slug: Path[str]) -> Any:
    """The open invitations."""
    return project_for(request, slug).invitations.open()


@router.post("/invitations", response={201: NewInvitationOut}, auth=MANAGES)
def make_invitation(
    request: HttpRequest, response: HttpResponse, slug: Path[str], data: InvitationIn
) -> Any:
    """Invite somebody by a link, which you send."""
    project = project_for(request, slug, change=True)
    invited = invite(project, data.role, by=_user(request), note=data.note, days=data.days)
    note_detail(request, f"as {data.role}")
    response["Cache-Control"] = NOT_STORED
    link = invitation_link(request, invited.token)
    return Status(201, _shown(invited.invitation) | {"link": link})


@router.post("/invitations/mailed", response=MailedInvitations, auth=MANAGES)
def mail_invitations(request: HttpRequest, slug: Path[str], data: MailedIn) -> Any:
    """Invite people by mail; those who are members or invited already are left out."""
    project = project_for(request, slug, change=True)
    invited = invite_by_mail(
        project,
        addresses_to_invite("\n".join(data.addresses)),
        data.role,
        by=_user(request),
        days=data.days,
        language=data.language,
        link_of=partial(invitation_link, request),
    )
    note_detail(request, f"{invited.mailed} as {data.role}")
    return invited


@router.delete("/invitations/{int:pk}", response={204: None}, auth=MANAGES)
def revoke_invitation(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Withdraw an open invitation: its link no longer works."""
    if not revoke(project_for(request, slug, change=True), pk):
        raise Http404("There is no open invitation with this id.")
    return Status(204, None)


def _member(request: HttpRequest, slug: str, pk: int) -> Membership:
    return get_object_or_404(_members(request, slug), pk=pk)


def _members(request: HttpRequest, slug: str) -> QuerySet[Membership]:
    return project_for(request, slug, change=True).memberships.select_related("user")


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _shown(invitation: Invitation) -> dict[str, Any]:
    return {name: getattr(invitation, name) for name in InvitationOut.model_fields}
