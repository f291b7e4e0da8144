"""Limit requests per sender, for pages and API."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluations.api.problems import problem
from evaluations.gate.counting import seconds_to_wait
from geval_site.senders import is_for_api, sender_of


class RequestRateMiddleware:
    """Answers 429 to senders of more requests than the site allows."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        wait = seconds_to_wait(sender_of(request), settings.REQUEST_RATE)
        if not wait:
            return self.get_response(request)
        said = (
            f"This site accepts {settings.REQUEST_RATE} requests from one sender"
            " (GEVAL_REQUEST_RATE); "
        )
        said += f"try again in {wait} s."
        if is_for_api(request):
            response = problem(429, "Too many requests", said)
        else:
            response = render(request, "429.html", {"said": said}, status=429)
        response["Retry-After"] = str(wait)
        return response
