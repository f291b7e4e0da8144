"""Access to projects: members see them, owners and researchers change them, others get "not
found"."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from evaluations.models import Membership, Project, Role
from geval_site.sql import JoinedQuery

EVERYONE = frozenset(Role.values)
READERS = frozenset({Role.OWNER, Role.RESEARCHER, Role.VIEWER})
EDITORS = frozenset({Role.OWNER, Role.RESEARCHER})
OWNERS = frozenset({Role.OWNER})
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

_MEMBERS = JoinedQuery(
    {"m": Membership, "p": Project},
    "FROM evaluations_membership m JOIN evaluations_project p ON p.id = m.project_id"
    " WHERE p.slug = %s AND m.user_id = %s",
)

View = Callable[..., HttpResponse]

# Django's permission, granted to people and groups on the admin pages.
PERMISSION_TO_CALL_OUT = "evaluations.add_endpoint"


ARCHIVED = (
    "This project is archived and cannot be changed. Its owner can restore it on its overview page."
)


def why_not_call_out(user: Any, role: str) -> str:
    """Return why a member may not enter addresses that the site calls (endpoints, webhooks), or an
    empty text.

    Args:
        role: the user's role in this project.
    """
    who = settings.WHO_MAY_CALL_OUT
    if role not in EDITORS:
        return f"The role {role} cannot do this."
    if who == "owners" and role != Role.OWNER:
        return (
            "On this site only a project's owners can create and change endpoints and webhooks. "
            "Ask an owner to do it; you can create judges on existing endpoints."
        )
    if who == "permitted" and not user.has_perm(PERMISSION_TO_CALL_OUT):
        return (
            "On this site only people with the permission “Can add endpoint” can create and change "
            "endpoints and webhooks. Ask the site's administrator to create the endpoint, or to "
            "give you the permission."
        )
    return ""


def member_of(slug: str, user_id: int | None) -> Membership | None:
    """Return a user's membership of the project with this short name, with the project, or None."""
    row = _MEMBERS.first([slug, user_id])
    if row is None:
        return None
    member: Membership = row[0]
    member.project = row[1]
    return member


def project_view(
    roles: frozenset[str], *, archived: bool = False, calls_out: bool = False
) -> Callable[[View], View]:
    """Give a view the project of its `slug`, if the user is a member in one of the roles.

    Strangers get "not found", members in another role "forbidden", visitors the sign-in page. In an
    archived project nothing can be changed.

    Args:
        archived: also allow changes in an archived project.
        calls_out: the view decides which addresses the site calls, a separate right
            (`GEVAL_WHO_MAY_CALL_OUT`).
    """

    def decorate(view: View) -> View:
        @login_required
        @wraps(view)
        def guarded(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
            member = member_of(slug, request.user.pk)
            if member is None:
                raise Http404("There is no such project.")
            project, role = member.project, member.role
            structlog.contextvars.bind_contextvars(project=project.slug)
            if role not in roles:
                raise PermissionDenied(
                    f"The role {role} has no access to this page of the project."
                )
            if project.archived_at and request.method not in SAFE and not archived:
                raise PermissionDenied(ARCHIVED)
            request.role = role  # type: ignore[attr-defined]
            request.may_edit = role in EDITORS and not project.archived_at  # type: ignore[attr-defined]
            request.why_not_call_out = why_not_call_out(request.user, role)  # type: ignore[attr-defined]
            if calls_out and request.why_not_call_out:  # type: ignore[attr-defined]
                raise PermissionDenied(request.why_not_call_out)  # type: ignore[attr-defined]
            return view(request, project, *args, **kwargs)

        return guarded

    return decorate


def project_action(roles: frozenset[str], **rights: bool) -> Callable[[View], View]:
    """Give a view that only takes a POST the project of its `slug`; see `project_view`."""
    return lambda view: require_POST(project_view(roles, **rights)(view))
