"""Errors of the API as problem details (RFC 9457)."""

from typing import Any

from django.http import HttpResponse, JsonResponse


def problem(status: int, title: str, detail: str, **more: Any) -> HttpResponse:
    """A problem details object (RFC 9457)."""
    content = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    return JsonResponse(content, status=status, content_type="application/problem+json")
