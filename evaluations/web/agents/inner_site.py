"""The HTTP API called within this process, with the same rights, audit log and refusals as for
external programs."""

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, ClassVar
from urllib.parse import unquote

from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections, connection
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve, reverse

from evaluations.people.audit import AuditMiddleware
from evaluations.web.api.problems import problem
from geval.client import ApiError
from geval.client.agent_tools import AgentSite, Level, forbidden
from geval.client.requests import Written


@dataclass(frozen=True)
class InnerSite(AgentSite):
    """The API as an agent may use it.

    Args:
        user: the user to sign in; None if each request has a token.
        environ: the WSGI environ of the agent's request.
    """

    WAITS: ClassVar[bool] = False
    user: Any = None
    environ: Mapping[str, Any] = field(default_factory=dict)

    def link(self, page: str, *args: Any) -> str:
        return self.base_url.rstrip("/") + reverse(f"evaluations:{page}", args=args)

    @contextlib.contextmanager
    def _open(self, written: Written) -> Iterator[IO[bytes]]:
        if written.method != "GET" and self.level < Level.WRITE:
            raise forbidden("This connection only reads.")
        if self.user is not None and not connection.in_atomic_block:
            close_old_connections()
        response = AuditMiddleware(_answer)(self._request(written))
        content = b"".join(response)
        if response.status_code >= 400:
            raise ApiError(response.status_code, json.loads(content))
        yield io.BytesIO(content)

    def _request(self, written: Written) -> WSGIRequest:
        address, _, query = written.address.partition("?")
        request = WSGIRequest(
            {
                **self.environ,
                "REQUEST_METHOD": written.method,
                "PATH_INFO": unquote(address).encode().decode("latin-1"),
                "QUERY_STRING": query,
                "CONTENT_TYPE": written.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": written.headers.get("Content-Length", "0"),
                "wsgi.input": written.content or io.BytesIO(),
            }
        )
        request.user = self.user or AnonymousUser()
        request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
        return request


def _answer(request: HttpRequest) -> HttpResponse:
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return problem(404, "Not found", "There is nothing at this address.")
    request.resolver_match = match
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    return response
