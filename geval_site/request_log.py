"""Each request has an id in the log, with its user and address; slow ones leave a line."""

import time
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django_structlog.middlewares import RequestMiddleware

from geval_site.logs import route_of
from geval_site.visitors import client_address

log = structlog.stdlib.get_logger(__name__)


class RequestLogMiddleware(RequestMiddleware):
    """django-structlog's, without what addresses contain: links to share and to reset a password
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
