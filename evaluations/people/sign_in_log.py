"""Refused sign-ins leave a line with the address; names do not, since people type passwords
there."""

from typing import Any

import structlog
from django.contrib.auth.signals import user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from geval_site.visitors import client_address

log = structlog.stdlib.get_logger(__name__)


@receiver(user_login_failed)
def _note_refusal(request: HttpRequest | None = None, **_more: Any) -> None:
    """django-axes, which is asked first, has marked a request that it locked out."""
    locked_out = bool(getattr(request, "axes_locked_out", False))
    log.warning(
        "sign-in refused",
        reason="locked out" if locked_out else "wrong name or password",
        address=client_address(request) if request is not None else None,
    )
