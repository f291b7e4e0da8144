"""Refuse requests with text that the database cannot store, such as NUL."""

from collections.abc import Callable
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_header_parameters

from evaluations.models.disk import FULL, is_disk_full
from evaluations.web.api.problems import refused

NUL = "\0"
UTF_8 = ("utf-8", "utf8", "us-ascii", "ascii")
TITLE = "The request cannot be read"


class Utf8Request(WSGIRequest):
    """A request whose address and forms are decoded as UTF-8.

    Django decodes them with any Python codec that the visitor names, before any middleware: some
    are not text encodings, and the time of punycode grows with the square of the length.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(
            meta.get("CONTENT_TYPE", "")
        )


class WellFormedMiddleware:
    """Refuses NUL in addresses and cookies, other codecs, and values that cannot be stored."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (request.content_params or {}).get("charset", "utf-8").lower() not in UTF_8:
            return refused(
                request,
                415,
                TITLE,
                "Its text is not in UTF-8; send it as UTF-8, or name no charset.",
            )
        if _has_nul(request):
            return refused(
                request, 400, TITLE, "Its address or a cookie contains a NUL character; remove it."
            )
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """PostgreSQL's own refusals of a value (NUL in a text, a number out of range), and a full
        disk."""
        if is_disk_full(error):
            return refused(request, 507, "The disk is full", FULL)
        if isinstance(error, DataError) or (isinstance(error, ValueError) and "NUL" in str(error)):
            return refused(
                request,
                400,
                TITLE,
                "It contains a value that cannot be stored; look for unusual characters or "
                "numbers.",
            )
        return None


def _has_nul(request: HttpRequest) -> bool:
    if NUL in request.path or "%00" in request.META.get("QUERY_STRING", ""):
        return True
    return any(NUL in name or NUL in value for name, value in request.COOKIES.items())
