"""Identify the sender of a request, for limits and idempotency keys."""

from django.http import HttpRequest

from evaluations.models.tokens import PREFIX, ApiToken, digest_of
from geval_site.visitors import client_address, counted_address

API_PREFIX = "/api/"
SCHEME = "bearer "


def is_for_api(request: HttpRequest) -> bool:
    return request.path.startswith(API_PREFIX)


def known_sender(request: HttpRequest) -> str:
    """The valid token or user of a request; empty for a visitor, whatever they claim to be."""
    token_id = _token_id(request)
    if token_id is not None:
        return f"token {token_id}"
    return f"user {request.user.pk}" if request.user.is_authenticated else ""


def sender_of(request: HttpRequest) -> str:
    """The token, else the user, else the address. Invalid tokens are ignored."""
    return known_sender(request) or f"address {counted_address(client_address(request))}"


def _token_id(request: HttpRequest) -> int | None:
    """The id of the valid token of a request to the API, looked up once."""
    header = request.headers.get("Authorization", "")
    token = header[len(SCHEME) :]
    if (
        not is_for_api(request)
        or not header.lower().startswith(SCHEME)
        or not token.startswith(PREFIX)
    ):
        return None
    if not hasattr(request, "_token_id"):
        tokens = ApiToken.objects.filter(digest=digest_of(token), user__is_active=True)
        request._token_id = tokens.values_list("pk", flat=True).first()  # type: ignore[attr-defined]
    token_id: int | None = request._token_id  # type: ignore[attr-defined]
    return token_id
