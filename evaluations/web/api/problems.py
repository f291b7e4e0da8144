"""Responses to requests that fail: problem details (RFC 9457) for programs, a page for people."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from evaluations.people.senders import is_for_api

CONTENT_TYPE = "application/problem+json"
DETAILS = {
    400: "The request cannot be read.",
    404: "There is nothing at this address.",
    405: "This address does not support this method.",
    500: "Something went wrong on the server; its log has the details. Try again later.",
}


def problem(status: int, title: str, detail: str, **more: Any) -> HttpResponse:
    """A problem details object (RFC 9457)."""
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return JsonResponse(content, status=status, content_type=CONTENT_TYPE)


class ApiProblemMiddleware:
    """Converts every error under the API's addresses to problem details; Django's own are HTML
    pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        status = response.status_code
        if status < 400 or not is_for_api(request) or response["Content-Type"] == CONTENT_TYPE:
            return response
        title = HTTPStatus(status).phrase.capitalize() if status in list(HTTPStatus) else "Error"
        answer = problem(status, title, DETAILS.get(status, title + "."))
        for name in ("Allow", "Retry-After", "WWW-Authenticate"):
            if name in response:
                answer[name] = response[name]
        answer.cookies = response.cookies
        return answer


def refused(request: HttpRequest, status: int, title: str, said: str) -> HttpResponse:
    """Args:
    said: what was wrong, and what to do.
    """
    if is_for_api(request):
        return problem(status, title, said)
    return render(request, "refused.html", {"title": title, "said": said}, status=status)
