"""The whole site at a glance, for its administrators: projects, users, workers, waiting jobs,
costs.

Sizes and counts only: administrators have no access to projects' texts.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import Count, DecimalField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from evaluations.models import MonthlySpending, Project, Role, WorkerHeartbeat
from evaluations.models.limits import this_month
from evaluations.models.runs import ACTIVE_STATES
from evaluations.models.sizes import with_sizes
from evaluations.operations.metrics import waiting_jobs

# A page with more would be slow.
MOST_ROWS = 500
_MONEY = DecimalField(max_digits=18, decimal_places=8)


@dataclass(frozen=True)
class Overview:
    """The site's figures. `waiting` counts waiting and active jobs by kind; `money` is this month's
    cost of all runs."""

    projects: list[Project]
    users: list[User]
    workers: list[WorkerHeartbeat]
    waiting: dict[str, int]
    money: Decimal
    more_projects: int
    more_users: int


def site_at_a_glance() -> Overview:
    """Return the overview with a handful of queries, whatever the number of projects; the most
    expensive projects come first."""
    projects, users = _projects(), _users()
    spent = MonthlySpending.objects.filter(month=this_month()).values_list("money", flat=True)
    return Overview(
        projects=with_sizes(projects[:MOST_ROWS]),
        users=list(users[:MOST_ROWS]),
        workers=list(WorkerHeartbeat.objects.alive().order_by("name")),
        waiting=waiting_jobs(),
        money=sum(spent, Decimal(0)),
        more_projects=max(0, Project.objects.filter(deleted_at=None).count() - MOST_ROWS),
        more_users=max(0, get_user_model().objects.count() - MOST_ROWS),
    )


def _projects() -> QuerySet[Project]:
    """Return projects with `active_runs` and `money_month`."""
    spending = MonthlySpending.objects.filter(project=OuterRef("pk")).order_by()
    active = Count("runs", filter=Q(runs__state__in=ACTIVE_STATES), distinct=True)
    return (
        Project.objects.filter(deleted_at=None)
        .annotate(
            active_runs=active,
            money_month=_or_nothing(spending.filter(month=this_month()).values("money")),
        )
        .select_related("limits")
        .prefetch_related("memberships__user")
        .order_by("-money_month", "name", "pk")
    )


def _or_nothing(query: QuerySet[MonthlySpending, Any]) -> Coalesce:
    return Coalesce(Subquery(query), Value(Decimal(0)), output_field=_MONEY)


def _users() -> QuerySet[User]:
    """Return users with `owned`, the number of projects they own; the last to sign in comes
    first."""
    owned = Count("memberships", filter=Q(memberships__role=Role.OWNER))
    return get_user_model().objects.annotate(owned=owned).order_by("-last_login", "username")
