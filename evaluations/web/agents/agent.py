"""Who asks: an agent with its user's rights, of which its connection allows a part."""

import json
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from enum import IntEnum
from inspect import signature
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin

from django.db import close_old_connections, connection
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import NoReverseMatch, resolve, reverse
from django.utils.module_loading import import_string
from ninja import Status
from ninja.errors import ValidationError as RequestError
from pydantic import ValidationError

from evaluations.models import ApiToken, Criterion, Judge, Project
from evaluations.people.audit import AuditMiddleware, note_action
from evaluations.web.api.auth import ForbiddenError, check_rights, project_for
from evaluations.web.api.schemas import In
from geval.client import ApiError

Answer = dict[str, Any]
Named = TypeVar("Named", Judge, Criterion)
# Tools answer at once, as a server must answer others meanwhile; agents ask again after so long.
ASK_AGAIN = {"ask_again_in_seconds": 5}
# An agent reads all of an answer, in a context of limited length.
MOST_LETTERS = 1000


class Level(IntEnum):
    """What an agent may do; each level includes the lower ones."""

    READ = 0
    WRITE = 1
    SPEND = 2


@dataclass(frozen=True)
class Agent:
    """
    Args:
        request: with the user, and the token in `auth`, whose rights count.
        level: what the agent may do, regardless of these rights.
        address: where the pages are.
    """

    request: HttpRequest
    level: Level
    address: str

    def link(self, page: str, *args: Any) -> str:
        """Return the address of a page, by its name."""
        return self.address.rstrip("/") + reverse(f"evaluations:{page}", args=args)

    def may_spend(self, what: str) -> None:
        """Raises:
        ForbiddenError: the agent may not spend money on `what`.
        """
        if self.level < Level.SPEND:
            raise ForbiddenError(
                f"{what} calls a model, which may cost money; this connection may not spend."
            )

    @property
    def reading(self) -> HttpRequest:
        """A request that changes nothing."""
        request = copy(self.request)
        request.method = "GET"
        return request

    def project(self, slug: str) -> Project:
        """Return a project that the agent may read."""
        return project_for(self.reading, slug)

    def judge(self, project: str, name: str) -> Judge:
        """Return the newest version of a judge that is not retired, by name."""
        judges = self.project(project).judges.filter(retired_at=None).order_by("-version")
        return _named(project, "judges", name, list(judges))

    def criterion(self, project: str, name: str) -> Criterion:
        """Return a criterion by name."""
        return _named(project, "criteria", name, list(self.project(project).criteria.all()))

    def read(self, view: Callable[..., Any], *path: Any, **values: Any) -> Any:
        """Return what a function of the API gives that changes nothing; see `_call`."""
        return _call(view, self.reading, path, values)

    def change(
        self,
        view: Callable[..., Any],
        *path: Any,
        operation: str = "",
        guard: Callable[[], None] = lambda: None,
        **values: Any,
    ) -> Any:
        """Return what a function of the API gives, allowed and noted as its operation.

        Args:
            operation: its name, if it is not that of the function.
            guard: what may refuse before.
            values: of its query or body; functions are called for theirs. What they and `guard`
                refuse is noted as well.

        Raises:
            ApiError: it is refused.
            ForbiddenError: the agent only reads.
        """
        if self.level < Level.WRITE:
            raise ForbiddenError("This connection only reads.")
        # Of the address are the project and an id.
        place = [*path[:1], *(part for part in path[1:2] if isinstance(part, int))]
        name, request = f"api:{operation or view.__name__}", copy(self.request)
        request.method = "POST"
        try:
            request.path = request.path_info = reverse(name, args=place)
        except NoReverseMatch:
            raise Http404(f"There is nothing at {place}.") from None
        request.resolver_match = resolve(request.path)
        note_action(request, name)
        results: list[Any] = []

        def answer(request: HttpRequest) -> HttpResponse:
            try:
                token = request.auth  # type: ignore[attr-defined]
                check_rights(request, token if isinstance(token, ApiToken) else None)
                guard()
                body = {
                    name: value() if callable(value) else value for name, value in values.items()
                }
                results.append(_call(view, request, path, body))
            except Exception as error:
                return _refusal(request, error)
            return HttpResponse()

        return (_value_of(AuditMiddleware(answer)(request)), *results)[-1]

    def answer(self, tool: Callable[..., Answer], arguments: Answer) -> Answer:
        """Return a tool's answer.

        Raises:
            ApiError: it refuses.
        """
        if not connection.in_atomic_block:
            close_old_connections()
        try:
            return tool(self, **arguments)
        except ApiError:
            raise
        except Exception as error:
            return dict(_value_of(_refusal(self.request, error)))


def _call(
    view: Callable[..., Any], request: HttpRequest, path: Iterable[Any], values: Answer
) -> Any:
    """Call a function of the API.

    Args:
        path: what it takes beside a query or a body, in its order.
        values: of its query or body, which are checked as those of a request.

    Raises:
        ApiError: it refuses.
    """
    places, arguments = iter(path), []
    for parameter in list(signature(view).parameters.values())[1:]:
        kind = parameter.annotation
        kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        if kind is HttpResponse:
            arguments.append(HttpResponse())
        elif issubclass(kind, In):
            arguments.append(kind.model_validate(values))
        else:
            arguments.append(next(places))
    return _value_of(view(request, *arguments))


def _value_of(result: Any) -> Any:
    if isinstance(result, HttpResponse):
        content = json.loads(result.content or b"null")
        if result.status_code >= 400:
            raise ApiError(result.status_code, content)
        return content
    return result.value if isinstance(result, Status) else result


def _refusal(request: HttpRequest, error: Exception) -> HttpResponse:
    """Return the API's answer to an error; raise what it does not expect."""
    if isinstance(error, ValidationError):
        error = RequestError([dict(entry) for entry in error.errors(include_url=False)])
    api = import_string("evaluations.web.api.app.api")
    return cast(HttpResponse, api.on_exception(request, error))


def _named(project: str, kind: str, name: str, rows: Sequence[Named]) -> Named:
    """
    Raises:
        Http404: there is none; the message lists the existing ones.
    """
    for row in rows:
        if name in (row.name, getattr(row, "label", "")):
            return row
    names = ", ".join(dict.fromkeys(row.name for row in rows)) or "none yet"
    raise Http404(f"{project} has no {name!r} among its {kind} ({names}).")
