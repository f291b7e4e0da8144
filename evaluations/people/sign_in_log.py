"""Log refused sign-ins with the address, and count them; names are not logged, because people type
passwords there."""

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
    """Log a refused sign-in. django-axes, which runs first, has marked a request that it locked
    out."""
    locked_out = bool(getattr(request, "axes_locked_out", False))
    log.warning(
        "sign-in refused",
        reason="locked out" if locked_out else "wrong name or password",
        address=client_address(request) if request is not None else None,
    )


@receiver(pre_save, sender=AccessAttempt)
def _keep_no_fields(instance: AccessAttempt, **_more: Any) -> None:
    """Store none of the submitted fields. The address of an invitation, to which a visitor is
    redirected after signing in, contains its token; and django-axes appends the fields of every
    attempt, so that a row would grow without limit."""
    instance.get_data = instance.post_data = ""
