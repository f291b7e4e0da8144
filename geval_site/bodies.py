"""How large a request's body may be, decided before anything reads it.

Ordinary pages and the API take what fits into a form. Only uploads take more, and only from people
who may upload: Django would write anybody's body to disk before a view could say no.
"""

import re
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from evaluations.models import ApiToken
from evaluations.models.tokens import digest_of
from evaluations.people.access import EDITORS, member_of
from geval_site.refusals import refused

# The page of uploads, an archive's, and what the API loads; a test keeps this in step with the
# addresses.
UPLOADS = re.compile(
    r"/(p/[-\w]+/data/upload/|new/archive/|api/v1/projects/[-\w]+/(outputs|ratings|preferences|scores))"
)
# A browser shows no answer before it has sent what it has begun to send, so a little more is read
# and forgotten.
FORGOTTEN_BYTES = 16 * 2**20
PIECE_BYTES = 2**16
SMALLER = " Send less; outputs, ratings and scores go to the page of uploads."
# Around the files of a form.
FORM_BYTES = 2**20


class BodyLimitMiddleware:
    """Refuses bodies that are too large, or do not say how large they are."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
            said = (
                "Say how long the body is (Content-Length); chunked transfer encoding is not"
                " supported."
            )
            return refused(request, 411, "The length is missing", said)
        most = (
            _upload_bytes() if UPLOADS.fullmatch(request.path_info) else settings.BODY_LIMIT_BYTES
        )
        return _too_large(request, most) if _length(request) > most else self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: Any, _args: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Here the user is known, and nothing was read yet: the check of forged requests comes
        later."""
        if _length(request) <= settings.BODY_LIMIT_BYTES or _may_upload(
            request, kwargs.get("slug")
        ):
            return None
        return _too_large(
            request, settings.BODY_LIMIT_BYTES, " Sign in as somebody who may upload to send more."
        )


def _length(request: HttpRequest) -> int:
    """What a request says of its body's length; Django reads no more than that, and nothing without
    it."""
    written = request.META.get("CONTENT_LENGTH") or "0"
    return int(written) if written.isdecimal() and len(written) < 20 else 0


def _upload_bytes() -> int:
    return settings.UPLOAD_LIMIT_BYTES + FORM_BYTES


def _may_upload(request: HttpRequest, slug: str | None) -> bool:
    """Whether somebody who may change the project (or for an archive: anybody we know) sends
    this."""
    user_id = request.user.pk if request.user.is_authenticated else _user_of_token(request)
    if slug is None or user_id is None:
        return user_id is not None
    member = member_of(slug, user_id)
    return member is not None and member.role in EDITORS


def _user_of_token(request: HttpRequest) -> int | None:
    kind, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if kind.lower() != "bearer":
        return None
    tokens = ApiToken.objects.filter(digest=digest_of(token.strip()), user__is_active=True)
    return tokens.values_list("user_id", flat=True).first()


def _too_large(request: HttpRequest, most: int, more: str = "") -> HttpResponse:
    _forget(request)
    size = f"{most / 2**20:,.1f}".removesuffix(".0")
    response = refused(
        request,
        413,
        "The request is too large",
        f"This address takes at most {size} MB.{more or SMALLER}",
    )
    response["Connection"] = "close"
    return response


def _forget(request: HttpRequest) -> None:
    left = min(_length(request), FORGOTTEN_BYTES)
    stream = request.META.get("wsgi.input")
    while stream is not None and left > 0 and (piece := stream.read(min(PIECE_BYTES, left))):
        left -= len(piece)
