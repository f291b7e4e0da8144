"""The audit log of every change made on a page or by the API, and of refused attempts; refused
sign-ins are in the log of the site.

Of rows that were locked for an edit, it has each setting before and after, but for secrets. The
number of refusals is limited, so that nobody can fill the log.
Sign-ins are logged with the address; names are not, because people type passwords there.
"""

import datetime
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import structlog
from axes.models import AccessAttempt
from axes.signals import user_locked_out
from django.contrib.auth.signals import user_login_failed
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.db.models.signals import pre_save
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from evaluations.models import ApiToken, AuditEntry, Membership, Project
from geval_site.visitors import client_address

CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# Annotators' answers have their own history, item by item; drafts and navigation are not changes.
LEFT_OUT = frozenset(
    f"annotations:task_{name}"
    for name in (
        *("current", "next", "back", "token"),
        *("list", "detail", "submit", "draft", "skip", "ask", "guidelines"),
    )
)
# HTTP's statuses of errors begin here.
REFUSED = 400
log = structlog.stdlib.get_logger(__name__)
MOST_REFUSED_AN_HOUR = 100
# The columns of secrets, of codes and addresses that open something, and of personal data.
NOT_SHOWN = ("sealed_", "banned", "address", "ed_code", "ed_url", "done_", "incomplete_")
MOST_CHARACTERS = 200
# The rows that the current request has locked for an edit, with their settings at that moment.
# None where a request only reads.
_BEFORE: ContextVar[list[tuple[Model, dict[str, str]]] | None] = ContextVar(
    "rows before a request", default=None
)
# Fields that decide which server the site calls, and with which key.
TELLING = {
    "base_url": "address",
    "url": "address",
    "key_env": "key variable",
    "key": "key",
    "headers": "headers",
}


class AuditMiddleware:
    """Records every request that changed something in a project or was refused. Views can add
    details."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        _BEFORE.set([] if request.method in CHANGING else None)
        response = self.get_response(request)
        match = request.resolver_match
        if request.method not in CHANGING or match is None or match.view_name in LEFT_OUT:
            return response
        if getattr(request, "changes_nothing", False) and response.status_code < REFUSED:
            return response
        if not request.user.is_authenticated or "slug" not in match.kwargs:
            return response
        refused = _refused(request, response.status_code)
        if response.status_code < REFUSED or refused:
            project = Project.objects.filter(slug=match.kwargs["slug"]).first()
            if project is not None:
                _note(request, project, refused=refused)
        return response


def note_before(row: Model, *, becomes: Model | None = None) -> None:
    """Keep a row's settings as they are before the current request changes them, or puts another
    row in its place."""
    if (rows := _BEFORE.get()) is not None:
        rows.append((becomes or row, settings_of(row)))


def settings_of(row: Model) -> dict[str, str]:
    """Return what people can change of a row, in words, by the column's name; many-to-many
    relations as lists of names."""
    shown = {
        field.name: _in_words(field.value_from_object(row), dict(field.flatchoices))
        for field in row._meta.concrete_fields
        if field.editable and not (field.primary_key or field.is_relation)
    }
    for many in row._meta.many_to_many:
        shown[many.name] = ", ".join(sorted(map(str, getattr(row, many.name).all()))) or "–"
    return shown


def _in_words(value: Any, choices: dict[Any, Any]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (None, "", [], {}):
        return "–"
    return str(choices.get(value, value) if choices else value)


def note_action(request: HttpRequest, action: str) -> None:
    """Name a request in the log, where several methods share the address that has a name."""
    request.audit_action = action  # type: ignore[attr-defined]


def note_detail(request: HttpRequest, detail: str) -> None:
    """Describe in the log what a request changed, in a few words."""
    request.audit_detail = detail  # type: ignore[attr-defined]


def note_nothing(request: HttpRequest) -> None:
    """Leave a request out of the log that only shows what a change would look like."""
    request.changes_nothing = True  # type: ignore[attr-defined]


def note_refusal(request: HttpRequest, error: ValidationError) -> None:
    """Record that an address or a key was refused, if an error is about one of these."""
    named = {TELLING[name] for name in getattr(error, "error_dict", {}) if name in TELLING}
    if named:
        request.audit_refused = f"{' and '.join(sorted(named))} refused"  # type: ignore[attr-defined]


def note_refused(request: HttpRequest) -> None:
    """Record that a page refused a change with a message, which may contain what was typed."""
    request.audit_refused = "not possible at that time"  # type: ignore[attr-defined]


@receiver(user_locked_out)
def _note_lockout(request: HttpRequest, username: str | None, **_more: Any) -> None:
    """Record a lockout after wrong passwords, once per name and address while the lock lasts."""
    name, address = (username or "")[:150], client_address(request)
    lately = timezone.now() - datetime.timedelta(minutes=15)
    same = AuditEntry.objects.filter(project=None, refused=True, created_at__gt=lately)
    if same.filter(user_name=name, address=address).exists() or _is_full(None):
        return
    AuditEntry.objects.create(
        user_name=name,
        action="login",
        path=request.path[:500],
        detail="locked out",
        refused=True,
        address=address,
    )


def _refused(request: HttpRequest, status: int) -> str:
    """What was refused, in a few words; empty if nothing relevant was."""
    reason: str = getattr(request, "audit_refused", "")
    if reason:
        return reason
    if status == 403:
        return "no right to do this"
    if status == 404 and request.resolver_match is not None:
        slug = request.resolver_match.kwargs["slug"]
        is_member = Membership.objects.filter(project__slug=slug, user=request.user.pk).exists()
        return "" if is_member else "not a member"
    return ""


def _note(request: HttpRequest, project: Project, *, refused: str) -> None:
    if refused and _is_full(project.pk):
        return
    assert request.resolver_match is not None
    action: str = getattr(request, "audit_action", request.resolver_match.view_name)
    changes = [] if refused else list(_changes())
    if refused:
        log.warning("change refused", action=action, reason=refused)
    AuditEntry.objects.create(
        project=project,
        user_id=request.user.pk,
        user_name=request.user.get_username(),
        action=action[:100],
        path=request.path[:500],
        detail=(refused or getattr(request, "audit_detail", ""))[:300],
        changes=changes,
        by_api=isinstance(getattr(request, "auth", None), ApiToken),
        refused=bool(refused),
        address=client_address(request),
    )


def _changes() -> Iterator[tuple[str, str | None, str | None]]:
    """Yield the settings that are not as they were before the request."""
    for row, before in _BEFORE.get() or ():
        now = type(row)._base_manager.filter(pk=row.pk).first()
        for name, value in {} if now is None else settings_of(now).items():
            if value == before[name]:
                continue
            shown = str(row._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
            if any(part in name for part in NOT_SHOWN):
                yield shown, None, None
            else:
                yield shown, before[name][:MOST_CHARACTERS], value[:MOST_CHARACTERS]


def _is_full(project_id: int | None) -> bool:
    """Whether a project or the sign-in page has reached its limit of recorded refusals per hour."""
    lately = timezone.now() - datetime.timedelta(hours=1)
    noted = AuditEntry.objects.filter(project=project_id, refused=True, created_at__gt=lately)
    return noted.count() >= MOST_REFUSED_AN_HOUR


@receiver(user_login_failed)
def _log_refused_sign_in(request: HttpRequest | None = None, **_more: Any) -> None:
    """Log a refused sign-in. django-axes, which runs first, has marked a request that it locked
    out."""
    locked_out = bool(getattr(request, "axes_locked_out", False))
    log.warning(
        "sign-in refused",
        reason="locked out" if locked_out else "wrong name or password",
        address=client_address(request) if request is not None else None,
    )


@receiver(pre_save, sender=AccessAttempt)
def _store_no_fields(instance: AccessAttempt, **_more: Any) -> None:
    """Store none of the submitted fields. The address of an invitation, to which a visitor is
    redirected after signing in, contains its token; and django-axes appends the fields of every
    attempt, so that a row would grow without limit."""
    instance.get_data = instance.post_data = ""
