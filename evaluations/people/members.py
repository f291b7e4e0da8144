"""Members of a project: invite, change roles, remove. A project always has at least one owner."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from evaluations.models import Invitation, Membership, Project, Role
from evaluations.models.members import INVITATION_DAYS
from evaluations.models.tokens import digest_of


class MemberError(ValueError):
    """A member cannot be changed in this way; the message says why."""


def invite(
    project: Project, role: str, *, by: User, note: str = "", days: int = INVITATION_DAYS,
    address: str = "",
) -> str:  # fmt: skip
    """Create an invitation; returns the token of its link, which is not stored."""
    token = secrets.token_urlsafe(24)
    expires = timezone.now() + timedelta(days=days)
    Invitation.objects.create(
        project=project,
        role=role,
        digest=digest_of(token),
        made_by=by,
        note=note,
        address=address,
        expires_at=expires,
    )
    return token


def not_invited(project: Project, addresses: list[str]) -> list[str]:
    """Those addresses of which nobody is a member or has an open invitation."""
    invited = set(project.invitations.open().values_list("address", flat=True))
    members = project.memberships.values_list("user__email", flat=True)
    taken = {address.lower() for address in (*invited, *members)}
    return [address for address in addresses if address.lower() not in taken]


def link_for_new_password(member: Membership) -> str:
    """The path of a page on which a member without an e-mail address sets a new password.

    Only for annotators who are in projects of the same owners alone: whoever holds such a link can
    sign in as that person, and must not gain anything by it.

    Raises:
        MemberError: the account is not of that kind.
    """
    user = member.user
    owners = Membership.objects.filter(project=member.project_id, role=Role.OWNER).values("user")
    elsewhere = Membership.objects.filter(user=user).exclude(project=member.project_id)
    of_others = elsewhere.exclude(
        project__in=Membership.objects.filter(user__in=owners, role=Role.OWNER).values("project")
    )
    is_more = elsewhere.exclude(role=Role.ANNOTATOR).exists() or member.role != Role.ANNOTATOR
    if user.is_staff or user.is_superuser or is_more or of_others.exists():
        raise MemberError(
            f"{user} has no e-mail address and rights that you could gain by a new password. Ask"
            " the site's administrator."
        )
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    return reverse("password_reset_confirm", args=[uid, token])


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
        raise MemberError(
            _("This invitation was used or revoked, or has expired. Ask for a new one.")
        )
    member, _made = Membership.objects.get_or_create(
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
