"""Members of a project: invite, change roles, remove. A project always has at least one owner."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from evaluations.models import (
    Invitation,
    Membership,
    Project,
    ProjectLimits,
    RequestCount,
    Role,
)
from evaluations.models.members import INVITATION_DAYS
from evaluations.models.tokens import digest_of
from evaluations.people.waking import MessageLostError, wake_for_invitation, wake_for_password_reset

DAY_SECONDS = 86_400


class MemberError(ValueError):
    """A member cannot be changed in this way; the message says why."""


class TooManyInvitationsError(MemberError):
    """A limit of invitations would be exceeded; nobody was invited, and the message says which."""


@dataclass(frozen=True)
class Invited:
    """An invitation, and the token of its link, which is not stored."""

    invitation: Invitation
    token: str


@dataclass(frozen=True)
class MailedInvitations:
    """How many invitations are mailed, how many addresses were skipped because they belong to
    members or were already invited, and the first address to which no mail can currently be sent
    ("" if all can)."""

    mailed: int
    left_out: int
    lost_from: str = ""


def invite(
    project: Project, role: str, *, by: User, note: str = "", days: int = INVITATION_DAYS
) -> Invited:
    """Create an invitation.

    Raises:
        TooManyInvitationsError: see `_reserve`.
    """
    with transaction.atomic():
        _reserve(project, 1, by=by)
        return _create(project, role, by=by, note=note, days=days)


@transaction.atomic
def _reserve(project: Project, count: int, *, by: User) -> None:
    """Count some new invitations; those of deleted projects count for the day as well.

    Raises:
        TooManyInvitationsError: the project would have too many, or the user in a day.
    """
    # Of two requests at the same time, the second counts the first's.
    Project.objects.select_for_update().get(pk=project.pk)
    limits = ProjectLimits.objects.filter(project=project).first()
    allowed = limits.invitations if limits else None
    most = settings.PROJECT_INVITATIONS if allowed is None else allowed
    open_ones = project.invitations.open().count()
    if most and open_ones + count > most:
        raise TooManyInvitationsError(
            f"A project may have {most:,} open invitations, and this one has {open_ones:,}; nobody"
            " was invited. Revoke some, or ask the site's administrator for more."
        )
    sender = sha256(f"invitations of {by.pk}".encode()).hexdigest()
    sent, _left = RequestCount.objects.take(sender, share=count, seconds=DAY_SECONDS)
    if settings.USER_INVITATIONS and sent > settings.USER_INVITATIONS:
        # The transaction ends here, so that a refused request counts nothing.
        raise TooManyInvitationsError(
            f"A user may create {settings.USER_INVITATIONS:,} invitations in a day, and this would"
            f" be number {sent:,}; nobody was invited. Go on tomorrow, or ask the site's"
            " administrator for more."
        )


def _create(
    project: Project, role: str, *, by: User, note: str, days: int, address: str = ""
) -> Invited:
    token = secrets.token_urlsafe(24)
    expires = timezone.now() + timedelta(days=days)
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        digest=digest_of(token),
        made_by=by,
        note=note,
        address=address,
        expires_at=expires,
    )
    return Invited(invitation, token)


def invite_by_mail(
    project: Project, addresses: list[str], role: str, *, by: User, days: int, language: str,
    link_of: Callable[[str], str],
) -> MailedInvitations:  # fmt: skip
    """Mail an invitation to each address that belongs to no member and has no open invitation.

    Args:
        link_of: returns the link for an invitation's token.

    Raises:
        TooManyInvitationsError: see `_reserve`.
    """
    free = not_invited(project, addresses)
    left_out = len(addresses) - len(free)
    with transaction.atomic():
        _reserve(project, len(free), by=by)
        made = [
            _create(project, role, by=by, note=address, days=days, address=address)
            for address in free
        ]
    for mailed, (address, invited) in enumerate(zip(free, made, strict=True)):
        try:
            wake_for_invitation(invited.invitation.pk, link_of(invited.token), language)
        except MessageLostError:
            lost = [other.invitation.pk for other in made[mailed:]]
            Invitation.objects.filter(pk__in=lost).delete()
            return MailedInvitations(mailed, left_out, lost_from=address)
    return MailedInvitations(len(free), left_out)


def invitation_link(request: HttpRequest, token: str) -> str:
    """Return the address at which an invitation is accepted."""
    return request.build_absolute_uri(reverse("evaluations:invitation_accept", args=[token]))


def revoke(project: Project, invitation_id: int) -> bool:
    """Withdraw an open invitation; return whether there was one."""
    open_ones = project.invitations.open().filter(pk=invitation_id)
    return open_ones.update(revoked_at=timezone.now()) > 0


def not_invited(project: Project, addresses: list[str]) -> list[str]:
    """Return the addresses that belong to no member and have no open invitation."""
    invited = set(project.invitations.open().values_list("address", flat=True))
    members = project.memberships.values_list("user__email", flat=True)
    taken = {address.lower() for address in (*invited, *members)}
    return [address for address in addresses if address.lower() not in taken]


def send_new_password(member: Membership, *, domain: str, use_https: bool) -> str:
    """Mail a member a link for a new password; for a member without an address, return its path.

    Raises:
        MemberError: see `link_for_new_password`.
        MessageLostError: no mail can currently be sent.
    """
    if member.user.email and settings.SENDS_MAIL:
        wake_for_password_reset(member.user.email, domain=domain, use_https=use_https)
        return ""
    return link_for_new_password(member)


def link_for_new_password(member: Membership) -> str:
    """Return the path of a page on which a member without an e-mail address sets a new password.

    Only for annotators whose projects all have the same owners: anyone with such a link can sign in
    as that person, and must not gain any rights by it.

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
    """Return the open invitation of a link's token, or None."""
    return (
        Invitation.objects.open().select_related("project").filter(digest=digest_of(token)).first()
    )


@transaction.atomic
def accept(token: str, user: User) -> Membership:
    """Make a user a member through an invitation; existing members keep their role.

    Raises:
        MemberError: the invitation was used, revoked, or has expired.
    """
    # An invitation admits one person, even if two follow it at the same time.
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
    # Of two owners who leave at the same time, the second is the last one.
    owners = Membership.objects.select_for_update().filter(
        project=member.project_id, role=Role.OWNER
    )
    if leaving and member.role == Role.OWNER and len(owners) == 1:
        raise MemberError("A project needs at least one owner; make somebody else an owner first.")
