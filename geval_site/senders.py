"""Who sends a request, and whether to the API: what limits and keys are counted by."""

import hashlib

from django.http import HttpRequest

API_PREFIX = "/api/"


def is_for_api(request: HttpRequest) -> bool:
    return request.path.startswith(API_PREFIX)


def sender_of(request: HttpRequest) -> str:
    """A token by its digest, else a user, else an address; at most 64 characters."""
    token = request.headers.get("Authorization")
    if token:
        return hashlib.sha256(token.encode()).hexdigest()
    if request.user.is_authenticated:
        return f"user {request.user.pk}"
    return f"address {request.META.get('REMOTE_ADDR', '')}"
