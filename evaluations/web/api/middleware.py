"""What requests to the API pass: errors become problem details, and repeated requests do nothing.

`Idempotency-Key`: a repeated request with the same key does nothing more and gets the same
response. It follows the IETF's draft of that header (draft-ietf-httpapi-idempotency-key-header): a
different request with a used key is refused (422), and so is a repeat while the first is in
progress (409). Keys belong to the token or user of the request, and are kept for a day; without
either, a key is ignored.
"""

import hashlib
from collections.abc import Callable
from http import HTTPStatus
from typing import IO

from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import resolve

from evaluations.models import IdempotentAnswer
from evaluations.people.access import SAFE
from evaluations.people.senders import is_for_api, known_sender
from evaluations.web.api.auth import ForbiddenError, TokenAuth, check_rights
from evaluations.web.api.problems import CONTENT_TYPE, problem

HEADER = "Idempotency-Key"
# As docs/api.md promises and the database's column holds.
LONGEST_KEY = 200
PIECE = 2**16
# Said of a response with a secret.
NOT_STORED = "no-store"
# A request that was not authorised, or is to be repeated later, did nothing worth remembering.
NOT_KEPT = frozenset({401, 403, 409, 411, 413, 429})

DETAILS = {
    400: "The request cannot be read.",
    404: "There is nothing at this address.",
    405: "This address does not support this method.",
    500: "Something went wrong on the server; its log has the details. Try again later.",
}


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


class IdempotencyMiddleware:
    """Stores the responses to requests with a key; other requests pass through."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        key = request.headers.get(HEADER)
        if key is None or request.method in SAFE or not is_for_api(request):
            return self.get_response(request)
        if not key.strip() or len(key) > LONGEST_KEY or not key.isprintable():
            return problem(
                400,
                "Invalid key",
                f"{HEADER} must have 1 to {LONGEST_KEY} printable characters.",
            )
        sender = known_sender(request)
        if not sender:
            return self.get_response(
                request
            )  # it is refused there; before that, nobody can reserve or read a key
        IdempotentAnswer.objects.outdated().delete()
        kept = _reserve(sender, key.strip())
        if kept is None:
            return _repeat(request, sender, key.strip()) or self.get_response(request)
        body = _HashedBody(request)
        try:
            response = self.get_response(request)
        except BaseException:
            kept.delete()
            raise
        _keep(kept, request, body, response)
        return response


class _HashedBody:
    """A request's body that is hashed while it is read, because it may be gigabytes."""

    def __init__(self, request: HttpRequest) -> None:
        self._stream: IO[bytes] = request._stream
        self._hash = hashlib.sha256()
        request._stream = self  # type: ignore[assignment]

    def read(self, *size: int) -> bytes:
        return self._passed(self._stream.read(*size))

    def readline(self, *size: int) -> bytes:
        return self._passed(self._stream.readline(*size))

    def close(self) -> None:
        """Django closes a body that it has read; the digest still needs the rest."""

    def _passed(self, piece: bytes) -> bytes:
        self._hash.update(piece)
        return piece

    def digest(self) -> str:
        """The digest of the whole body; the part not read so far is read now and discarded."""
        while self.read(PIECE):
            pass
        return self._hash.hexdigest()


def _reserve(sender: str, key: str) -> IdempotentAnswer | None:
    """A row for the response; None if the key was used before."""
    try:
        with transaction.atomic():
            return IdempotentAnswer.objects.create(sender=sender, key=key)
    except IntegrityError:
        return None


def _keep(
    kept: IdempotentAnswer, request: HttpRequest, body: _HashedBody, response: HttpResponse
) -> None:
    """Store a response, unless it has a secret; server errors and refused requests can be
    repeated."""
    is_secret = response.get("Cache-Control") == NOT_STORED
    is_final = response.status_code < 500 and response.status_code not in NOT_KEPT
    if is_secret or not is_final or response.streaming:
        kept.delete()
        return
    kept.request = _digest(request, body.digest())
    kept.status, kept.body = response.status_code, response.content
    kept.content_type = response.headers.get("Content-Type", "")[:100]
    # If this took so long that another request got the reservation, its response counts.
    IdempotentAnswer.objects.filter(pk=kept.pk).update(
        request=kept.request, status=kept.status, body=kept.body, content_type=kept.content_type
    )


def _repeat(request: HttpRequest, sender: str, key: str) -> HttpResponse | None:
    """The response to a used key; None if its user has lost the right to see it."""
    kept = IdempotentAnswer.objects.filter(sender=sender, key=key).first()
    if kept is None or kept.status is None:
        response = problem(
            409,
            "Request in progress",
            "The first request with this key is still being answered; try again in a moment.",
        )
        response["Retry-After"] = "1" if kept is None else str(kept.seconds_reserved)
        return response
    if not _may_still(request):
        return None
    if kept.request != _digest(request, _HashedBody(request).digest()):
        return problem(
            422,
            "Key already used",
            f"A different request used this {HEADER}; use a new key for each new request.",
        )
    response = HttpResponse(bytes(kept.body), status=kept.status, content_type=kept.content_type)
    response["Idempotency-Replayed"] = "true"
    return response


def _may_still(request: HttpRequest) -> bool:
    """Whether the request is still authorised: its response may be for members only."""
    try:
        request.resolver_match = resolve(request.path_info)
        if TokenAuth()(request) is None:
            check_rights(request, None)
    except (Http404, ForbiddenError):
        return False
    return True


def _digest(request: HttpRequest, body: str) -> str:
    """What distinguishes one request from another."""
    parts = (
        request.method or "",
        request.get_full_path(),
        request.headers.get("Content-Type", ""),
        body,
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
