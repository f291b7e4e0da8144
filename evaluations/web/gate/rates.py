"""Limit requests per sender, for pages and API, over all web processes of the site.

The database counts. A process takes a share of the rate at once, a hundredth, and counts within it
by itself, so that most requests ask nothing: all processes together never allow more than the rate,
and refuse early by at most the shares that others hold. A rate below a hundred is exact.
"""

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import structlog
from cachetools import LRUCache
from django.conf import settings
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from evaluations.models import RequestCount
from evaluations.people.senders import is_for_api, sender_of
from evaluations.web.api.problems import problem
from geval_site.logs import kind_of
from geval_site.visitors import client_address, counted_address

# Checking a password takes the processor a good part of a second, and whoever guesses passwords of
# many names is locked out of none; a link to reset one is an e-mail to somebody.
ATTEMPT_RATE = "60/m"
ATTEMPT_PAGES = ("login", "admin:login", "password_reset")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
SHARES = 100
# Senders that a process remembers; one that it has forgotten takes another share.
MOST_SENDERS = 10_000
log = structlog.stdlib.get_logger(__name__)


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
# Threads count requests of one sender in turn, or two would take the same share.
_guard = threading.Lock()


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


def forget() -> None:
    """Forget the shares, as a process that has just started knows none."""
    with _guard:
        _shares.clear()


def _taken_share(key: str, rate: str) -> _Share:
    """A share of the window that is open, which is empty where others have taken all."""
    most, seconds = int(rate[:-2]), SECONDS[rate[-1]]
    size = max(1, most // SHARES)
    taken, left = RequestCount.objects.take(key, share=size, seconds=seconds)
    ends_at = time.monotonic() + left
    return _Share(min(size, max(0, most - taken + size)), ends_at, is_last=taken >= most)
