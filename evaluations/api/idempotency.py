"""`Idempotency-Key`: a changing request that is sent again with its key does nothing more, and gets the same answer.

As the IETF's draft of that header has it (draft-ietf-httpapi-idempotency-key-header): another request with a key that
was used is refused (422), as is one that comes while the first is still being worked on (409). Keys count for a token
(or, in a browser, a user) and are kept for a day.
"""

import hashlib
from collections.abc import Callable

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from evaluations.access import SAFE
from evaluations.api.problems import problem
from evaluations.models import IdempotentAnswer
from geval_site.senders import is_for_api, sender_of

HEADER = "Idempotency-Key"
LONGEST_KEY = 200
# Whoever is not let in, or is told to come back, has done nothing that should be remembered.
NOT_KEPT = frozenset({401, 409, 411, 413, 429})


class IdempotencyMiddleware:
    """Keeps the answers to requests with a key; all others pass."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        key = request.headers.get(HEADER)
        if key is None or request.method in SAFE or not is_for_api(request):
            return self.get_response(request)
        if not key.strip() or len(key) > LONGEST_KEY or not key.isprintable():
            return problem(400, "The key does not fit", f"{HEADER} takes 1 to {LONGEST_KEY} printable characters.")
        IdempotentAnswer.objects.outdated().delete()
        kept = _reserve(request, key.strip())
        if kept is None:
            return _repeat(request, key.strip())
        try:
            response = self.get_response(request)
        except BaseException:
            kept.delete()
            raise
        _keep(kept, response)
        return response


def _reserve(request: HttpRequest, key: str) -> IdempotentAnswer | None:
    """A row for the answer to come; None where the key was used before."""
    try:
        with transaction.atomic():
            return IdempotentAnswer.objects.create(sender=sender_of(request), key=key, request=_digest(request))
    except IntegrityError:
        return None


def _keep(kept: IdempotentAnswer, response: HttpResponse) -> None:
    """Keep an answer; what failed here, or was refused at the door, may be tried again."""
    if response.status_code >= 500 or response.status_code in NOT_KEPT or response.streaming:
        kept.delete()
        return
    kept.status, kept.body = response.status_code, response.content
    kept.content_type = response.headers.get("Content-Type", "")[:100]
    kept.save(update_fields=["status", "body", "content_type"])


def _repeat(request: HttpRequest, key: str) -> HttpResponse:
    kept = IdempotentAnswer.objects.filter(sender=sender_of(request), key=key).first()
    if kept is None or kept.status is None:
        return problem(
            409, "Still at it", "The first request with this key is not answered yet; try again in a moment."
        )
    if kept.request != _digest(request):
        return problem(422, "The key was used", f"Another request had this {HEADER}; take a new key for a new request.")
    response = HttpResponse(bytes(kept.body), status=kept.status, content_type=kept.content_type)
    response["Idempotency-Replayed"] = "true"
    return response


def _digest(request: HttpRequest) -> str:
    """What tells one request from another, without reading bodies that may be gigabytes."""
    parts = (request.method or "", request.get_full_path(), request.headers.get("Content-Length", ""))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
