"""Count requests by method, route and status, and measure how long they take."""

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter, Histogram

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# From a page out of a cache to a large report that is opened for the first time.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

requests = Counter("geval_requests", "Requests answered.", ["method", "route", "status"])
latency = Histogram(
    "geval_request_seconds", "Time to answer a request.", ["method", "route"], buckets=SECONDS
)


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


def route_label(request: HttpRequest) -> str:
    """The pattern of an address; addresses without one share a label, so that visitors cannot add
    time series."""
    match = request.resolver_match
    if match is not None:
        return f"/{match.route}"
    static = request.path_info.startswith(f"/{settings.STATIC_URL.strip('/')}/")
    return "static" if static else "none"
