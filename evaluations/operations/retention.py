"""How long raw replies and entries of the audit log are kept; scores are never removed.

A reply's row keeps its tokens, calls and time, on which counts and costs are based; the model's
text is removed. The audit log records every removal, including removals of its own entries.
"""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, QuerySet
from django.db.models.functions import Now
from django.template.defaultfilters import pluralize
from django.utils import timezone

from evaluations.models import AuditEntry, ModelReply, Project
from evaluations.models.upkeep import alone

ACTION = "retention"
# Short statements, so that others wait little for locked rows.
AT_ONCE = 2000
LONGEST_DAYS = 36_500  # within the range of dates
TIDY_LOCK = 0x74696479  # any constant: one process at a time


@dataclass(frozen=True)
class Policy:
    """Days for which something is kept; 0 means for good."""

    replies: int
    audit: int


@dataclass(frozen=True)
class Due:
    """The data of one project older than the policy allows; entries of no project have no name."""

    project_id: int | None
    slug: str
    replies: int
    entries: int


def policy_of_site() -> Policy:
    """Return the policy in the settings."""
    return Policy(replies=settings.KEEP_REPLIES_DAYS, audit=settings.KEEP_AUDIT_DAYS)


def begin_of(days: int) -> datetime.datetime:
    """Return the time before which data may be removed: the beginning of a day, so that a project
    is tidied at most daily."""
    today = timezone.now().astimezone(datetime.UTC).replace(hour=0, minute=0, second=0)
    return today.replace(microsecond=0) - datetime.timedelta(days=min(days, LONGEST_DAYS))


def due(policy: Policy) -> list[Due]:
    """Return what a policy removes now, by project."""
    replies = _by_project(_old_replies(policy))
    # Notes of earlier removals go with other entries, and cause no removal on their own.
    entries = _by_project(_old_entries(policy).exclude(action=ACTION))
    slugs = dict(Project.objects.values_list("pk", "slug"))
    projects = sorted(replies.keys() | entries.keys(), key=lambda pk: slugs.get(pk or 0, ""))
    return [
        Due(pk, slugs.get(pk or 0, ""), replies.get(pk, 0), entries.get(pk, 0)) for pk in projects
    ]


def replies_in_words(count: int) -> str:
    """Format a count, as in “2 raw replies”."""
    return f"{count:,} raw repl{pluralize(count, 'y,ies')}"


def entries_in_words(count: int) -> str:
    """Format a count, as in “2 audit entries”."""
    return f"{count:,} audit entr{pluralize(count, 'y,ies')}"


def tidy(policy: Policy) -> list[Due]:
    """Remove what is older than a policy allows, a few thousand rows at a time. Return what was
    removed: nothing if another process is doing so."""
    if not (policy.replies or policy.audit):
        return []
    with alone(TIDY_LOCK) as is_alone:
        return (
            [_tidy_project(policy, project_due) for project_due in due(policy)] if is_alone else []
        )


def _tidy_project(policy: Policy, project_due: Due) -> Due:
    """Remove what is due in one project. A note is written to the audit log first, so that nothing
    is removed without one."""
    parts = []
    if project_due.replies:
        begin = begin_of(policy.replies).date()
        parts.append(f"{replies_in_words(project_due.replies)} from before {begin}")
    if project_due.entries:
        begin = begin_of(policy.audit).date()
        parts.append(f"{entries_in_words(project_due.entries)} from before {begin}")
    AuditEntry.objects.note_by_site(
        project_due.project_id, ACTION, f"removed {' and '.join(parts)}"
    )
    if project_due.replies:
        for ids in _chunks(_old_replies(policy).filter(project=project_due.project_id)):
            old = ModelReply.objects.filter(pk__in=ids)
            # Without a key the reply is never reused.
            old.update(choices=[], request_key="", removed_at=Now())
    if project_due.entries:
        for ids in _chunks(_old_entries(policy).filter(project=project_due.project_id)):
            AuditEntry.objects.filter(pk__in=ids).delete()
    return project_due


def _old_replies(policy: Policy) -> "QuerySet[ModelReply]":
    if not policy.replies:
        return ModelReply.objects.none()
    return ModelReply.objects.filter(created_at__lt=begin_of(policy.replies), removed_at=None)


def _old_entries(policy: Policy) -> "QuerySet[AuditEntry]":
    if not policy.audit:
        return AuditEntry.objects.none()
    return AuditEntry.objects.filter(created_at__lt=begin_of(policy.audit))


def _by_project(rows: "QuerySet[Any]") -> dict[int | None, int]:
    return dict(rows.order_by().values_list("project").annotate(n=Count("pk")))


def _chunks(rows: "QuerySet[Any]") -> Iterator[list[int]]:
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]
