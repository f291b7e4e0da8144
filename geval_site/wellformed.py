"""Requests with what no database text can hold (NUL) are refused at the door, and never an error of ours."""

from collections.abc import Callable

from django.db import DataError
from django.http import HttpRequest, HttpResponse

from geval_site.disk import FULL, is_disk_full
from geval_site.refusals import refused

NUL = "\0"
TITLE = "The request cannot be read"


class WellFormedMiddleware:
    """Refuses NUL in addresses and cookies; where a form's value cannot be stored, says that instead of failing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if _has_nul(request):
            return refused(request, 400, TITLE, "Its address or a cookie holds a NUL character; leave it out.")
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """PostgreSQL's own refusals of a value (NUL in a text, a number out of range), and a full disk."""
        if is_disk_full(error):
            return refused(request, 507, "The disk is full", FULL)
        if isinstance(error, DataError) or (isinstance(error, ValueError) and "NUL" in str(error)):
            return refused(
                request,
                400,
                TITLE,
                "A value in it cannot be stored; look for odd characters or numbers.",
            )
        return None


def _has_nul(request: HttpRequest) -> bool:
    if NUL in request.path or "%00" in request.META.get("QUERY_STRING", ""):
        return True
    return any(NUL in name or NUL in value for name, value in request.COOKIES.items())
