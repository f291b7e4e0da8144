"""Identify the sender of a request, for limits and idempotency keys."""

from django.http import HttpRequest

from evaluations.models.tokens import PREFIX, ApiToken
from geval_site.visitors import client_address, counted_address

API_PREFIX = "/api/"
SCHEME = "bearer "


def is_for_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(API_PREFIX)


def known_sender(request: HttpRequest) -> str:
    """The valid token or user of a request; empty for a visitor, whatever they claim to be."""
    token = valid_token(request)
    if token is not None:
        return f"token {token.pk}"
    return f"user {request.user.pk}" if request.user.is_authenticated else ""


def sender_of(request: HttpRequest) -> str:
    """The token, else the user, else the address. Invalid tokens are ignored."""
    return known_sender(request) or f"address {counted_address(client_address(request))}"


def valid_token(request: HttpRequest) -> ApiToken | None:
    """The token of a request to the API, with its user, read once; None if it is not valid."""
    header = request.headers.get("Authorization", "")
    token = header[len(SCHEME) :]
    if (
        not is_for_api(request)
        or not header.lower().startswith(SCHEME)
        or not token.startswith(PREFIX)
    ):
        return None
    if not hasattr(request, "_valid_token"):
        tokens = ApiToken.objects.valid(token).select_related("user")
        request._valid_token = tokens.first()  # type: ignore[attr-defined]
    stored_token: ApiToken | None = request._valid_token  # type: ignore[attr-defined]
    return stored_token
