"""`/healthz`, `/readyz` and `/metrics`, for what watches the site.

A middleware answers them before hosts, HTTPS, sessions and rates are looked at: a load balancer
calls a process by its address, over HTTP, many times a minute.
"""

import hmac
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse

from evaluations.operations.doctor import readiness
from evaluations.operations.metrics import CONTENT_TYPE, metrics_text

METHODS = ("GET", "HEAD")
UNPROTECTED = "Set GEVAL_METRICS_TOKEN, and send it as Authorization: Bearer TOKEN.\n"


class ProbesMiddleware:
    """Answers the three addresses and hands on all others."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = PROBES.get(request.path_info)
        if answer is None:
            return self.get_response(request)
        if request.method not in METHODS:
            return HttpResponse(status=405, headers={"Allow": ", ".join(METHODS)})
        response = answer(request)
        response["Cache-Control"] = "no-store"
        return response


def healthz(_request: HttpRequest) -> HttpResponse:
    """Whether this process answers; nothing else is asked, so that a database that is away does
    not have it restarted."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(_request: HttpRequest) -> HttpResponse:
    """Whether the site can work, and each part that it needs for that."""
    parts = readiness()
    ready = all(part.is_ok for part in parts)
    content = {
        "ready": ready,
        "parts": {part.subject: {"ok": part.is_ok, "message": part.seen} for part in parts},
    }
    return JsonResponse(content, status=200 if ready else 503)


def metrics(request: HttpRequest) -> HttpResponse:
    """All metrics as Prometheus reads them, for those who have the token."""
    if not _may_scrape(request):
        return HttpResponse(
            UNPROTECTED,
            status=401,
            content_type="text/plain",
            headers={"WWW-Authenticate": "Bearer"},
        )
    return HttpResponse(metrics_text(), content_type=CONTENT_TYPE)


def _may_scrape(request: HttpRequest) -> bool:
    """Whether the request has the token. A local site without one answers this machine only, and
    only by its own names: a page of another site, whose name leads here, reads nothing."""
    if not settings.METRICS_TOKEN:
        return not settings.PRODUCTION and _is_called_by_its_name(request)
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return hmac.compare_digest(token.encode(), settings.METRICS_TOKEN.encode())


def _is_called_by_its_name(request: HttpRequest) -> bool:
    try:
        request.get_host()
    except DisallowedHost:
        return False
    return True


PROBES: dict[str, Callable[[HttpRequest], HttpResponse]] = {
    "/healthz": healthz,
    "/readyz": readyz,
    "/metrics": metrics,
}
