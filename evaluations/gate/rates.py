"""Limit requests per sender, for pages and API, counted per web process by django-ratelimit."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_ratelimit.core import get_usage

from evaluations.api.problems import problem
from geval_site.senders import is_for_api, sender_of


class RequestRateMiddleware:
    """Answers 429 to senders of more requests than the site allows."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        usage = get_usage(
            request, group="site", key=_sender, rate=settings.REQUEST_RATE, increment=True
        )
        if usage is None or not usage["should_limit"]:
            return self.get_response(request)
        wait = max(1, usage["time_left"])
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


def _sender(_group: str, request: HttpRequest) -> str:
    return sender_of(request)
