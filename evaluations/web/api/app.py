"""The API's application object; errors are RFC 9457 problem details."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError
from ninja.errors import ValidationError as RequestError
from ninja.operation import Operation

from evaluations.corpus.removing import StillInUseError
from evaluations.judging.judges.judges import ProbeNeededError
from evaluations.judging.runs.errands import request_probe
from evaluations.judging.runs.lifecycle import RunError
from evaluations.models import ErrandState
from evaluations.people.audit import note_action, note_refusal
from evaluations.people.members import MemberError, TooManyInvitationsError
from evaluations.people.waking import MessageLostError
from evaluations.projects.deletion import DeletionError
from evaluations.web.agents.server import router as agents
from evaluations.web.api.auth import AUTH, ForbiddenError
from evaluations.web.api.corpus import router as corpus
from evaluations.web.api.judges import probe_address
from evaluations.web.api.judges import router as judges
from evaluations.web.api.members import router as members
from evaluations.web.api.problems import problem
from evaluations.web.api.projects import router as projects
from evaluations.web.api.runs import router as runs
from evaluations.web.api.schemas import (
    PARAMETERS,
    parameters_of,
    refuse_unread,
)
from evaluations.web.parameters import TITLE, UnknownFieldError
from evaluations.web.revisions import StaleError
from geval.files.questions import StatementError, wider_scales, written_columns
from geval.files.recognised import UnclearColumnsError
from geval.files.rows import LoadError
from geval.llm.errors import EndpointError
from geval.llm.prompts import PromptError
from geval_site.extensions import added


class Api(NinjaAPI):
    """The API. Operations are named after their functions in the OpenAPI document."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return str(operation.view_func.__name__).removesuffix("_by_id")


api = Api(title="geval_site", version="1", auth=AUTH, urls_namespace="api", docs_url="/docs")
api.add_router("/projects", projects, tags=["projects"])
api.add_router("/projects/{slug}", members, tags=["members"])
api.add_router("/projects/{slug}", corpus, tags=["corpus"])
api.add_router("/projects/{slug}", judges, tags=["judges"])
api.add_router("/projects/{slug}", runs, tags=["runs and reports"])
api.add_router("", agents)
for _add_to in added("api"):
    _add_to(api)


def _named(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Name requests in the audit log after their operation, because an address has the same name
    for all of its methods; and note the parameters that it reads."""
    operation: Operation = run.__self__  # type: ignore[attr-defined]
    parameters = parameters_of(operation)

    @wraps(run)
    def named(request: HttpRequest, **values: Any) -> HttpResponse:
        note_action(request, f"api:{operation.view_func.__name__}")
        setattr(request, PARAMETERS, parameters)
        return run(request, **values)

    return named


api.add_decorator(_named, mode="view")
api.add_decorator(refuse_unread, mode="operation")


# Titles of refusals whose message says everything.
TITLES: dict[type[Exception], tuple[int, str]] = {
    UnknownFieldError: (400, TITLE),
    ForbiddenError: (403, "Forbidden"),
    RunError: (409, "The run cannot be started"),
    PromptError: (409, "The run cannot be started"),
    StillInUseError: (409, "Still in use"),
    TooManyInvitationsError: (409, "Too many invitations"),
    MemberError: (409, "The member cannot be changed"),
    DeletionError: (409, "The project cannot be deleted"),
    StatementError: (422, "Invalid columns or scales"),
}


def _titled(_request: HttpRequest, error: Any) -> HttpResponse:
    status, title = next(TITLES[kind] for kind in type(error).__mro__ if kind in TITLES)
    return problem(status, title, str(error))


for _kind in TITLES:
    api.add_exception_handler(_kind, _titled)


@api.exception_handler(Http404)
def _not_found(_request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(404, "Not found", str(error) or "There is nothing at this address.")


@api.exception_handler(AuthenticationError)
def _unauthorised(_request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
    return problem(401, "Not signed in", "Send a token as `Authorization: Bearer …`, or sign in.")


@api.exception_handler(RequestError)
def _unreadable(_request: HttpRequest, error: RequestError) -> HttpResponse:
    errors = [
        {"at": ".".join(map(str, entry["loc"])), "message": entry["msg"]} for entry in error.errors
    ]
    return problem(422, "Invalid request", "Some fields are invalid or missing.", errors=errors)


@api.exception_handler(ValidationError)
def _refused(request: HttpRequest, error: ValidationError) -> HttpResponse:
    note_refusal(request, error)
    fields = error.message_dict if hasattr(error, "error_dict") else {"": error.messages}
    errors = [{"at": name, "message": text} for name, texts in fields.items() for text in texts]
    return problem(
        422, "Invalid values", " ".join(entry["message"] for entry in errors), errors=errors
    )


@api.exception_handler(StaleError)
def _stale(_request: HttpRequest, error: StaleError) -> HttpResponse:
    states = {"stored": error.stored, "sent": error.sent}
    return problem(409, "Changed since", str(error), **states)


@api.exception_handler(LoadError)
def _errors(_request: HttpRequest, error: LoadError) -> HttpResponse:
    errors = [
        {"at": row_error.column, "line": row_error.line, "message": row_error.message}
        for row_error in error.errors
    ]
    scales = wider_scales(error.contents)
    more = {"wider_scales": scales} if scales else {}
    return problem(422, "Invalid rows", str(error), errors=errors, total=error.total, **more)


@api.exception_handler(UnclearColumnsError)
def _unclear(_request: HttpRequest, error: UnclearColumnsError) -> HttpResponse:
    """Return questions with their possible answers, as parameters of the same request."""
    questions = [
        {
            "text": question.text,
            "choices": [
                {
                    "label": choice.label,
                    "gives": choice.gives,
                    "columns": written_columns(choice.columns),
                }
                for choice in question.choices
            ],
        }
        for question in error.questions
    ]
    detail = (
        f"{error} Send the body again, with the `columns` of one of the `choices` of each question"
        " as parameters; nothing was loaded."
    )
    return problem(422, "Unclear columns", detail, questions=questions)


@api.exception_handler(EndpointError)
def _endpoint(_request: HttpRequest, error: EndpointError) -> HttpResponse:
    return problem(502, "The endpoint did not answer", error.message, kind=str(error.kind))


@api.exception_handler(ProbeNeededError)
def _ask_first(_request: HttpRequest, error: ProbeNeededError) -> HttpResponse:
    """Say that a worker asks the endpoint, or why it could not; another probe is asked for by
    itself."""
    if error.endpoint.retired_at:
        return problem(
            422,
            "Invalid values",
            "This endpoint is retired and is not called. Restore it first.",
        )
    asked = {"model": error.model, "request_options": error.options}
    failed = error.endpoint.probes.filter(**asked, state=ErrandState.FAILED).first()
    if failed:
        anew = f"{probe_address(failed).rpartition('/probes/')[0]}/probe"
        detail = (
            f"The endpoint could not be probed: {failed.message} Fix the cause, then start another"
            f" probe with POST {anew}."
        )
        return problem(422, "Invalid values", detail)
    address = probe_address(request_probe(error.endpoint, error.model, error.options))
    response = problem(
        409,
        "The endpoint is being asked",
        "A probe was started to find out what the endpoint can do with this model. Poll `probe`, "
        "and send this request again when it is done.",
        probe=address,
    )
    response["Location"], response["Retry-After"] = address, "1"
    return response


@api.exception_handler(MessageLostError)
def _not_sent(_request: HttpRequest, _error: MessageLostError) -> HttpResponse:
    return problem(503, "Not sent", "No mail can be sent at the moment. Try again later.")


@api.exception_handler(HttpError)
def _http(_request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(error.status_code, "The request was refused", str(error))
