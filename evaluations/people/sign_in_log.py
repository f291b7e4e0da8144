"""Refused sign-ins leave a line with the address, and a count; names are not in the line, since
people type passwords there."""

from typing import Any

import structlog
from axes.models import AccessAttempt
from django.contrib.auth.signals import user_login_failed
from django.db.models.signals import pre_save
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


@receiver(pre_save, sender=AccessAttempt)
def _keep_no_fields(instance: AccessAttempt, **_more: Any) -> None:
    """Of what was sent with a wrong password nothing is stored. The address of an invitation, to
    which a visitor goes on after signing in, has its token; and django-axes joins what was sent
    with every attempt, so that a row grew for as long as somebody went on."""
    instance.get_data = instance.post_data = ""
