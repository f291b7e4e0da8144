"""This installation's site as a client, for commands that also work on others over HTTP."""

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import Resolver404, resolve

from evaluations.judging.runs.errands import work_on_errand
from evaluations.models import Project, Role
from evaluations.people.audit import AuditMiddleware
from evaluations.web.api.problems import problem
from geval.client import ApiError, Client
from geval.client.requests import Written
from geval.texts.program import command


@dataclass(frozen=True)
class OwnSite(Client):
    """The API within this process, with the same rights, audit log and refusals as for other
    programs. It probes endpoints itself, because workers do not see uncommitted rows.

    Args:
        user: the user to sign in.
    """

    user: Any = None

    def wait_for_probe(self, address: str, *, every: float = 0.5) -> dict[str, Any]:
        work_on_errand("probe", int(address.rsplit("/", 1)[1]))
        return super().wait_for_probe(address, every=every)

    @contextlib.contextmanager
    def _open(self, written: Written) -> Iterator[IO[bytes]]:
        request = RequestFactory().generic(
            written.method, written.address, written.content.read() if written.content else b"",
            content_type=written.headers.get("Content-Type", ""),
        )  # fmt: skip
        request.user = self.user
        request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
        response = AuditMiddleware(_answer)(request)
        content = b"".join(response)
        if response.status_code >= 400:
            raise ApiError(response.status_code, json.loads(content))
        yield io.BytesIO(content)


def own_site(slug: str) -> Client:
    """Return this site, signed in as an owner of the project; for a new project, as an
    administrator.

    Raises:
        CommandError: there is no such user.
    """
    users = get_user_model().objects.filter(is_active=True).order_by("pk")
    if Project.objects.filter(slug=slug).exists():
        owners = users.filter(memberships__project__slug=slug, memberships__role=Role.OWNER)
        if (owner := owners.first()) is None:
            advice = command(f"member {slug} USER owner")
            raise CommandError(f"Project {slug} has no owner; `{advice}` makes somebody its owner.")
    elif (owner := users.filter(is_superuser=True).first()) is None:
        raise CommandError(
            "There is no administrator yet, who would own the project; create one with"
            f" `{command('createsuperuser')}`."
        )
    return OwnSite("http://127.0.0.1:8000/", token="", user=owner)


def _answer(request: HttpRequest) -> HttpResponse:
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return problem(404, "Not found", "There is nothing at this address.")
    request.resolver_match = match
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    return response
