"""Refuse requests before a view: text that the database cannot store, such as NUL, bodies that are
too large, and senders who ask too often.

Ordinary pages and the API accept the size of a form. Only uploads may be larger, and only from
people who may upload: Django would write anybody's body to disk before a view could refuse it.

The database counts requests. A process takes a share of the rate at once, a hundredth, and counts
within it by itself, so that most requests ask nothing: all processes together never allow more than
the rate, and refuse early by at most the shares that others hold. A rate below a hundred is exact.
"""

import hashlib
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import structlog
from cachetools import LRUCache
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import DataError
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import parse_header_parameters

from evaluations.models import RequestCount
from evaluations.models.row_by_row import FULL, is_disk_full
from evaluations.people.access import EDITORS, member_of
from evaluations.people.senders import is_for_api, sender_of, valid_token
from evaluations.web.api.problems import problem, refused
from geval_site.logs import kind_of
from geval_site.visitors import client_address, counted_address

NUL = "\0"
UTF_8 = ("utf-8", "utf8", "us-ascii", "ascii")
TITLE = "The request cannot be read"
# The addresses of uploads, archives and the API's bulk loads; a test compares them with the URLs.
UPLOADS = re.compile(
    r"/(p/[-\w]+/data/upload/|new/archive/|api/v1/projects/[-\w]+/(outputs|ratings|preferences|scores))"
)
# A browser shows no response before it has sent its whole body, so a little more is read and
# discarded.
DISCARDED_BYTES = 16 * 2**20
PIECE_BYTES = 2**16
SMALLER = " Send less; load outputs, ratings and scores on the upload page."
# The form data around the files.
FORM_BYTES = 2**20
# Checking a password takes the processor a good part of a second, and whoever guesses passwords of
# many names is locked out of none; a link to reset one is an e-mail to somebody.
ATTEMPT_RATE = "60/m"
ATTEMPT_PAGES = ("login", "admin:login", "password_reset")
UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
SHARES_OF_A_RATE = 100
# Senders that a process remembers; one that it has forgotten takes another share.
MOST_SENDERS = 10_000
log = structlog.stdlib.get_logger(__name__)
# Threads count requests of one sender in turn, or two would take the same share.
_guard = threading.Lock()


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


class BodyLimitMiddleware:
    """Refuses bodies that are too large, or do not state their length."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
            message = (
                "State the length of the body (Content-Length); chunked transfer encoding is not "
                "supported."
            )
            return refused(request, 411, "Length required", message)
        most = settings.BODY_LIMIT_BYTES
        if UPLOADS.fullmatch(request.path_info):
            most = settings.UPLOAD_LIMIT_BYTES + FORM_BYTES
        return _too_large(request, most) if _length(request) > most else self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: Any, _args: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Here the user is known and nothing has been read yet: the CSRF check comes later."""
        if _length(request) <= settings.BODY_LIMIT_BYTES or _may_upload(
            request, kwargs.get("slug")
        ):
            return None
        return _too_large(
            request, settings.BODY_LIMIT_BYTES, " Sign in as a user who may upload to send more."
        )


def _length(request: HttpRequest) -> int:
    """The stated length of a body; Django reads no more than that, and nothing without it."""
    written = request.META.get("CONTENT_LENGTH") or "0"
    return int(written) if written.isdecimal() and len(written) < 20 else 0


def _may_upload(request: HttpRequest, slug: str | None) -> bool:
    """Whether the sender may change the project (for an archive: whether they are signed in)."""
    token = valid_token(request)
    user_id = token.user_id if token is not None else request.user.pk
    if slug is None or user_id is None:
        return user_id is not None
    member = member_of(slug, user_id)
    return member is not None and member.role in EDITORS


def _too_large(request: HttpRequest, most: int, more: str = "") -> HttpResponse:
    _discard_body(request)
    size = f"{most / 2**20:,.1f}".removesuffix(".0")
    response = refused(
        request,
        413,
        "The request is too large",
        f"This address accepts at most {size} MB.{more or SMALLER}",
    )
    response["Connection"] = "close"
    return response


def _discard_body(request: HttpRequest) -> None:
    left = min(_length(request), DISCARDED_BYTES)
    stream = request.META.get("wsgi.input")
    while stream is not None and left > 0 and (piece := stream.read(min(PIECE_BYTES, left))):
        left -= len(piece)


class RequestRateMiddleware:
    """Answers 429 to senders of more requests than the site allows."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        rate = settings.REQUEST_RATE
        refusal = f"This site accepts {rate} requests from one sender (GEVAL_REQUEST_RATE)"
        wait = seconds_to_wait(sender_of(request), rate)
        if not wait and request.method == "POST" and request.path_info in _attempt_pages():
            refusal = f"This page accepts {ATTEMPT_RATE} attempts from one address"
            address = counted_address(client_address(request))
            wait = seconds_to_wait(f"passwords of {address}", ATTEMPT_RATE)
        if not wait:
            return self.get_response(request)
        refusal = f"{refusal}; try again in {wait} s."
        if is_for_api(request):
            response = problem(429, "Too many requests", refusal)
        else:
            response = render(request, "429.html", {"refusal": refusal}, status=429)
        response["Retry-After"] = str(wait)
        return response


@cache
def _attempt_pages() -> frozenset[str]:
    return frozenset(map(reverse, ATTEMPT_PAGES))


@dataclass
class _Share:
    """What a process may still allow a sender until a moment of its monotonic clock, which nobody
    sets; an `is_last` share is followed by none."""

    left: int
    ends_at: float
    is_last: bool

    def use(self) -> int:
        """Use one of its requests; 0, or the seconds to wait if it has none."""
        if self.left > 0:
            self.left -= 1
            return 0
        return max(1, round(self.ends_at - time.monotonic()))


_shares: LRUCache[str, _Share] = LRUCache(MOST_SENDERS)


def seconds_to_wait(sender: str, rate: str) -> int:
    """Count a request of a sender; 0 if the rate allows it, else the seconds until one may come.

    While the database is away, every request is allowed: pages say that better.

    Args:
        rate: such as "600/m", as `environment.rate` reads it.
    """
    key = hashlib.sha256(f"{rate} {sender}".encode()).hexdigest()
    with _guard:
        share = _shares.get(key)
        if share is not None and share.ends_at > time.monotonic() and (share.left or share.is_last):
            return share.use()
    try:
        taken = _taken_share(key, rate)
    except DatabaseError as error:
        log.warning("requests are not counted", reason=kind_of(error))
        return 0
    with _guard:
        share = _shares.get(key)
        if share is not None and share.ends_at > time.monotonic():
            taken.left += share.left  # another thread took one at the same time
        _shares[key] = taken
        return taken.use()


def forget_shares() -> None:
    """Forget the shares, as a process that has just started knows none."""
    with _guard:
        _shares.clear()


def _taken_share(key: str, rate: str) -> _Share:
    """A share of the window that is open, which is empty where others have taken all."""
    most, seconds = int(rate[:-2]), UNIT_SECONDS[rate[-1]]
    size = max(1, most // SHARES_OF_A_RATE)
    taken, left = RequestCount.objects.take(key, share=size, seconds=seconds)
    ends_at = time.monotonic() + left
    return _Share(min(size, max(0, most - taken + size)), ends_at, is_last=taken >= most)
