"""Query parameters: an address that does not read one refuses it, on pages, in exports and in the
API, so that nobody takes an ignored wish (`pseudonyms`, a filter) for a granted one."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse

from evaluations.reports.data import SINGLE
from evaluations.web.api.problems import refused
from geval.reports.options import LISTS, WORDS
from geval.texts.sentences import unknown_field

TITLE = "Unknown field or parameter"
PSEUDONYMS = "pseudonyms"
LICENCE = "licence"
# The parameters of a view of the report, which its pages hand on to each other.
REPORT = (*WORDS, *LISTS, *SINGLE, "round", "documents")
# Of an address that takes any: another site adds its own, or a form's fields depend on a choice.
ANY = "*"
# Senders of mails add these to links; they ask for nothing.
TRACKERS = "utm_"
_SITES_OWN = ("evaluations", "annotations")
View = TypeVar("View", bound=Callable[..., Any])


class UnknownFieldError(Exception):
    """A request has an unknown field or parameter; the message lists the allowed ones."""


def refuse_unknown(values: Iterable[str], allowed: Sequence[str], kind: str = "field") -> None:
    """
    Raises:
        UnknownFieldError: a field or a parameter is not among those that are read.
    """
    if unknown := [name for name in values if name not in allowed]:
        raise UnknownFieldError(unknown_field(unknown[0], allowed, kind))


def reads(*names: str) -> Callable[[View], View]:
    """Name the query parameters that a page reads; without it, a page reads none."""

    def mark(view: View) -> View:
        view.reads = names  # type: ignore[attr-defined]
        return view

    return mark


def wants_pseudonyms(request: HttpRequest, *, usually: bool) -> bool:
    """Whether an export is to call annotators by pseudonyms; the bare name means yes.

    Raises:
        UnknownFieldError: the value is neither yes nor no.
    """
    value = request.GET.get(PSEUDONYMS)
    if value is None:
        return usually
    if value.lower() not in ("", "1", "true", "0", "false"):
        raise UnknownFieldError(f"{PSEUDONYMS} is true or false, not {value[:40]!r}.")
    return value.lower() in ("", "1", "true")


class ParametersMiddleware:
    """Refuses the parameters that a page does not read; the API's operations do so themselves."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, _args: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        match = request.resolver_match
        # Panels add parameters of their own to the address of an open link.
        is_page = match is not None and match.app_name in _SITES_OWN and "address" not in kwargs
        allowed = getattr(view, "reads", ())
        if is_page and ANY not in allowed:
            try:
                names = [name for name in request.GET if not name.startswith(TRACKERS)]
                refuse_unknown(names, allowed, "parameter")
            except UnknownFieldError as error:
                return refused(request, 400, TITLE, str(error))
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        is_unknown = isinstance(error, UnknownFieldError)
        return refused(request, 400, TITLE, str(error)) if is_unknown else None
