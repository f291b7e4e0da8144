"""Members of a project: invite, change roles, remove. A project always has at least one owner."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from evaluations.models import Invitation, Membership, Project, Role
from evaluations.models.members import INVITATION_DAYS
from evaluations.models.tokens import digest_of


class MemberError(ValueError):
    """A member cannot be changed in this way; the message says why."""


def invite(
    project: Project, role: str, *, by: User, note: str = "", days: int = INVITATION_DAYS
) -> str:
    """Create an invitation; returns the token of its link, which is not stored."""
    token = secrets.token_urlsafe(24)
    expires = timezone.now() + timedelta(days=days)
    Invitation.objects.create(
        project=project,
        role=role,
        digest=digest_of(token),
        made_by=by,
        note=note,
        expires_at=expires,
    )
    return token


def invitation_for(token: str) -> Invitation | None:
    """The open invitation that a link belongs to."""
    return (
        Invitation.objects.open().select_related("project").filter(digest=digest_of(token)).first()
    )


@transaction.atomic
def accept(token: str, user: User) -> Membership:
    """Make a user a member by an invitation; existing members keep their role.

    Raises:
        MemberError: it was used, revoked, or has expired.
    """
    invitation = Invitation.objects.select_for_update().filter(digest=digest_of(token)).first()
    if invitation is None or not Invitation.objects.open().filter(pk=invitation.pk).exists():
        raise MemberError("This invitation was used or revoked, or has expired. Ask for a new one.")
    member, _ = Membership.objects.get_or_create(
        project=invitation.project, user=user, defaults={"role": invitation.role}
    )
    invitation.accepted_at, invitation.accepted_by = timezone.now(), user
    invitation.save(update_fields=["accepted_at", "accepted_by"])
    return member


@transaction.atomic
def change_role(member: Membership, role: str) -> None:
    """Give a member another role.

    Raises:
        MemberError: the project would be left without an owner.
    """
    _keep_an_owner(member, leaving=role != Role.OWNER)
    member.role = role
    member.save(update_fields=["role"])


@transaction.atomic
def remove(member: Membership) -> None:
    """Remove a member; their ratings are kept.

    Raises:
        MemberError: the project would be left without an owner.
    """
    _keep_an_owner(member, leaving=True)
    member.delete()


def _keep_an_owner(member: Membership, *, leaving: bool) -> None:
    owners = Membership.objects.select_for_update().filter(
        project=member.project_id, role=Role.OWNER
    )
    if leaving and member.role == Role.OWNER and len(owners) == 1:
        raise MemberError("A project needs at least one owner; make somebody else an owner first.")
