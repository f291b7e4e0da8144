"""Limit requests per sender, for pages and API."""

from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from evaluations.people.senders import is_for_api, sender_of
from evaluations.web.api.problems import problem
from evaluations.web.gate.counting import seconds_to_wait
from geval_site.visitors import client_address, counted_address

# Checking a password takes the processor a good part of a second, and whoever guesses passwords of
# many names is locked out of none; a link to reset one is an e-mail to somebody.
ATTEMPT_RATE = "60/m"
ATTEMPT_PAGES = ("login", "admin:login", "password_reset")


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
