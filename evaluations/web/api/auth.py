"""Authenticate API requests by session or token; rights are the same as on the pages."""

from dataclasses import dataclass
from typing import Any

import structlog
from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer, SessionAuth

from evaluations.models import ApiToken, Project
from evaluations.people.access import (
    ARCHIVED,
    EDITORS,
    OWNERS,
    READERS,
    SAFE,
    member_of,
    why_not_call_out,
)
from evaluations.people.senders import valid_token
from evaluations.web.api.schemas import storable


class ForbiddenError(Exception):
    """The user or the token may not do this."""


@dataclass(frozen=True)
class Needed:
    """What requests to an address need.

    Args:
        readers, editors: the roles that may read, and make changes, there.
        calls_out: they decide which addresses the site calls.
        archived: they may change an archived project.
    """

    readers: frozenset[str] = READERS
    editors: frozenset[str] = EDITORS
    calls_out: bool = False
    archived: bool = False


USUAL = Needed()


class TokenAuth(HttpBearer):
    """`Authorization: Bearer geval_…`."""

    def __init__(self, needed: Needed = USUAL) -> None:
        super().__init__()
        self.needed = needed

    def authenticate(self, request: HttpRequest, _token: str) -> Any:
        stored_token = valid_token(request)
        if stored_token is None:
            return None
        ApiToken.objects.filter(pk=stored_token.pk).update(last_used_at=timezone.now())
        request.user = stored_token.user
        self.check(request, stored_token)
        return stored_token

    def check(self, request: HttpRequest, token: ApiToken) -> None:
        """Raises:
        ForbiddenError: the token may not make this request.
        """
        check_rights(request, token, self.needed)


class TokenAlone(TokenAuth):
    """For an address that changes nothing by itself: the requests that it passes on are checked
    there."""

    def check(self, request: HttpRequest, token: ApiToken) -> None:
        """Accept every valid token."""


class BrowserAuth(SessionAuth):
    """A signed-in browser."""

    def __init__(self, needed: Needed = USUAL) -> None:
        super().__init__()
        self.needed = needed

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        user = super().authenticate(request, key)
        if user is not None:
            check_rights(request, None, self.needed)
        return user


def _auth(needed: Needed) -> list[TokenAuth | BrowserAuth]:
    return [TokenAuth(needed), BrowserAuth(needed)]


AUTH = _auth(USUAL)
CALLS_OUT = _auth(Needed(calls_out=True))
MANAGES = _auth(Needed(readers=OWNERS, editors=OWNERS))
# Archive, restore and delete a project.
KEEPS = _auth(Needed(readers=OWNERS, editors=OWNERS, archived=True))


def check_rights(request: HttpRequest, token: ApiToken | None, needed: Needed = USUAL) -> None:
    """Refuse a request before its body is read, so that validation reveals nothing to strangers."""
    match = request.resolver_match
    changes = request.method not in SAFE
    if match is not None and "slug" in match.kwargs:
        _project(request, match.kwargs["slug"], token, change=changes, needed=needed)
    elif token and changes and (token.project_id or not token.may_change):
        raise ForbiddenError(
            "This token is limited to one project or to reading; create projects with another "
            "token."
        )


def project_for(request: HttpRequest, slug: str, *, change: bool = False) -> Project:
    """Return the project with a short name, if the user may read (or change) it.

    Raises:
        Http404: there is none, or the user must not learn that it exists.
        ForbiddenError: the user is a member without that right, or the token only reads and the
            request makes a change.
    """
    token = request.auth if isinstance(request.auth, ApiToken) else None  # type: ignore[attr-defined]
    return _project(request, slug, token, change=change)


def _project(
    request: HttpRequest,
    slug: str,
    token: ApiToken | None,
    *,
    change: bool,
    needed: Needed = USUAL,
) -> Project:
    if not storable(slug):
        raise Http404("There is no such project.")
    member = member_of(slug, request.user.pk)
    if member is None or (token and token.project_id not in (None, member.project_id)):
        raise Http404(f"There is no project {slug!r}.")
    structlog.contextvars.bind_contextvars(project=slug, user_id=request.user.pk)
    if member.role not in (needed.editors if change else needed.readers):
        raise ForbiddenError(f"The role {member.role} cannot do this in project {slug}.")
    if change and token and not token.may_change and request.method not in SAFE:
        raise ForbiddenError("This token can only read.")
    is_fixed = member.project.archived_at and not needed.archived
    if change and is_fixed and request.method not in SAFE:
        raise ForbiddenError(ARCHIVED)
    why_not = why_not_call_out(request.user, member.role) if needed.calls_out else ""
    if why_not:
        raise ForbiddenError(why_not)
    return member.project
