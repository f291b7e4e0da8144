"""Who may use the API: a signed-in browser, or a program with a token; then as on the pages, by role."""

from typing import Any

from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer, SessionAuth

from evaluations.access import EDITORS, READERS
from evaluations.models import ApiToken, Membership, Project
from evaluations.models.tokens import digest_of


class ForbiddenError(Exception):
    """The user, or the token, may not do this."""


class TokenAuth(HttpBearer):
    """`Authorization: Bearer geval_…`."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        found = ApiToken.objects.select_related("user").filter(digest=digest_of(token), user__is_active=True).first()
        if found is None:
            return None
        ApiToken.objects.filter(pk=found.pk).update(last_used_at=timezone.now())
        request.user = found.user
        return found


AUTH = [TokenAuth(), SessionAuth()]


def project_for(request: HttpRequest, slug: str, *, change: bool = False) -> Project:
    """The project of a short name, if the user may read (or change) it.

    Raises:
        Http404: there is none, or the user must not learn that there is.
        ForbiddenError: the user is a member without that right, or the token only reads.
    """
    token = request.auth if isinstance(request.auth, ApiToken) else None  # type: ignore[attr-defined]
    member = Membership.objects.select_related("project").filter(project__slug=slug, user=request.user.pk).first()
    if member is None or (token and token.project_id not in (None, member.project_id)):
        raise Http404(f"There is no project {slug!r}.")
    if member.role not in (EDITORS if change else READERS):
        raise ForbiddenError(f"The role {member.role} cannot do this in project {slug}.")
    if change and token and not token.may_change:
        raise ForbiddenError("This token can only read.")
    return member.project
