"""Responses that refuse a request: a page with the reason, or problem details for programs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluations.people.senders import is_for_api
from evaluations.web.api.problems import problem


def refused(request: HttpRequest, status: int, title: str, said: str) -> HttpResponse:
    """Args:
    said: what was wrong, and what to do.
    """
    if is_for_api(request):
        return problem(status, title, said)
    return render(request, "refused.html", {"title": title, "said": said}, status=status)
