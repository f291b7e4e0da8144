"""Responses to requests that fail: problem details (RFC 9457) for programs, a page for people."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from evaluations.people.senders import is_for_api

CONTENT_TYPE = "application/problem+json"


def problem(status: int, title: str, detail: str, **more: Any) -> HttpResponse:
    """A problem details object (RFC 9457)."""
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return JsonResponse(content, status=status, content_type=CONTENT_TYPE)


def refused(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    """Args:
    message: what was wrong, and what to do.
    """
    if is_for_api(request):
        return problem(status, title, message)
    return render(request, "refused.html", {"title": title, "message": message}, status=status)
