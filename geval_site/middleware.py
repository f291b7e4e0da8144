"""What every request passes, on pages and in the API: it is counted and measured, its response gets
security headers, and its log lines an id."""

import time
from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponse
from django_structlog.middlewares import RequestMiddleware
from prometheus_client import Counter, Histogram

from geval_site.logs import route_of
from geval_site.visitors import client_address

# The site uses none of these, so an injected script must not be able to either.
UNUSED = (
    "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media",
    "fullscreen",
    "geolocation", "gyroscope", "hid", "magnetometer", "microphone", "midi", "payment",
    "picture-in-picture",
    "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
PERMISSIONS = ", ".join(f"{name}=()" for name in UNUSED)
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# From a page out of a cache to a large report that is opened for the first time.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

requests = Counter("geval_requests", "Requests answered.", ["method", "route", "status"])
latency = Histogram(
    "geval_request_seconds", "Time to answer a request.", ["method", "route"], buckets=SECONDS
)
log = structlog.stdlib.get_logger(__name__)


class RequestMetricsMiddleware:
    """Comes first, so that it sees what the others refuse."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = self.get_response(request)
        # Anyone can invent methods, and each would be a new time series.
        method = request.method if request.method in METHODS else "other"
        route = route_label(request)
        requests.labels(method, route, str(response.status_code)).inc()
        latency.labels(method, route).observe(time.perf_counter() - began)
        return response


class HeadersMiddleware:
    """Security headers of every response: pages, redirects, static files, errors, the API.

    Django's and django-csp's follow inside it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if _is_of_somebody(request):
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response


def _is_of_somebody(request: HttpRequest) -> bool:
    """Whether a page was made for a user who is signed in; whoever uses the browser after them must
    not find it. A view that did not read the session made no such page."""
    session: Any = getattr(request, "session", None)
    match = request.resolver_match
    is_api = match is not None and match.namespace == "api"
    is_read = session is not None and session.accessed and not is_api
    return bool(is_read and session.get(SESSION_KEY))


class RequestLogMiddleware(RequestMiddleware):
    """Gives each request an id in the log, with its user and address; slow ones leave a line.

    It is django-structlog's, without what addresses contain: links to share and to reset a password
    have tokens in them."""

    def __call__(self, request: HttpRequest) -> Any:
        request.log_started = time.perf_counter()  # type: ignore[attr-defined]
        return super().__call__(request)

    def handle_response(self, request: HttpRequest, response: HttpResponse) -> None:
        seconds = time.perf_counter() - request.log_started  # type: ignore[attr-defined]
        self.bind_user_id(request)
        if seconds >= settings.SLOW_REQUEST_SECONDS:
            log.warning(
                "slow request",
                request=self.format_request(request),
                status=response.status_code,
                seconds=round(seconds, 3),
            )
        # Django logs some refusals only after the ids are gone.
        request.log_ids = structlog.contextvars.get_contextvars()  # type: ignore[attr-defined]
        super().handle_response(request, response)

    def process_got_request_exception(
        self, sender: type[Any], request: HttpRequest, **kwargs: Any
    ) -> None:
        """Django logs exceptions; two lines for one would not help."""

    @classmethod
    def bind_ip(cls, request: HttpRequest) -> None:
        structlog.contextvars.bind_contextvars(ip=client_address(request))

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        return f"{request.method} {route_of(request)}"


def route_label(request: HttpRequest) -> str:
    """The pattern of an address; addresses without one share a label, so that visitors cannot add
    time series."""
    match = request.resolver_match
    if match is not None:
        return f"/{match.route}"
    static = request.path_info.startswith(f"/{settings.STATIC_URL.strip('/')}/")
    return "static" if static else "none"
