"""Limits on what a project, and all projects of a user together, may use: storage, concurrent runs,
money per month.

The site's settings apply to everybody; an administrator may set other limits for a project. A
project counts for the user who has owned it longest.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from django.conf import settings
from django.db.models import Sum

from evaluations.models import (
    Document,
    ErrandState,
    EvaluationRun,
    ItemState,
    Membership,
    MonthlySpending,
    Project,
    ProjectLimits,
    Role,
    RunTally,
    Search,
)
from evaluations.models.limits import this_month
from evaluations.models.sizes import read_seldom
from geval_site.sql import fetch_value

MB = 2**20
# For pages, the texts of projects with more documents are measured at most once a minute.
LARGE = 1000
KEPT_SECONDS = 60.0


class Resource(StrEnum):
    """A limited resource."""

    STORAGE = "storage"
    RUNS = "runs at the same time"
    MONEY = "money this month"


class LimitError(ValueError):
    """A limit would be exceeded; the message says which, by how much, and what to do."""


@dataclass(frozen=True)
class MonthlyAllowance:
    """A limit and its current use. `most` is None without a limit.

    Storage is in bytes, money in the currency of the judges' prices. `whose` says whose limit it
    is: the project's, or its owner's over all their projects.
    """

    resource: Resource
    whose: str
    used: Decimal
    most: Decimal | None

    @property
    def left(self) -> Decimal | None:
        return None if self.most is None else max(Decimal(0), self.most - self.used)

    @property
    def used_up(self) -> bool:
        return self.most is not None and self.used >= self.most

    @property
    def used_shown(self) -> str:
        return shown(self.resource, self.used)

    @property
    def most_shown(self) -> str:
        return "no limit" if self.most is None else shown(self.resource, self.most)


def shown(resource: Resource, amount: Decimal) -> str:
    """Format an amount for pages and messages."""
    if resource == Resource.STORAGE:
        return f"{amount / MB:,.1f} MB"
    return f"{amount:,.0f}" if resource == Resource.RUNS else f"{amount:,.2f}"


@dataclass(frozen=True)
class Scope:
    """Projects that share limits, by resource; 0 means no limit."""

    whose: str
    projects: tuple[int, ...]
    limits: dict[Resource, Decimal]

    def most(self, resource: Resource) -> Decimal | None:
        return self.limits[resource] or None


def scopes_of(project: Project) -> tuple[Scope, ...]:
    """Return the project alone, and all projects of the user for whom it counts."""
    limits = ProjectLimits.objects.filter(project=project).first() or ProjectLimits()
    alone = Scope(
        "this project",
        (project.pk,),
        _limits(
            _either(limits.storage_mb, settings.PROJECT_STORAGE_MB),
            _either(limits.runs, settings.PROJECT_RUNS),
            _either(limits.money_per_month, settings.PROJECT_MONEY_PER_MONTH),
        ),
    )
    of_users = _limits(settings.USER_STORAGE_MB, settings.USER_RUNS, settings.USER_MONEY_PER_MONTH)
    owner = first_owners([project.pk]).get(project.pk)
    if owner is None or not any(of_users.values()):
        return (alone,)
    owned = first_owners().items()
    theirs = tuple(sorted(pk for pk, user in owned if user == owner))
    return alone, Scope("all projects of its owner", theirs, of_users)


def first_owners(projects: Sequence[int] | None = None) -> dict[int, int]:
    """Return, by project, the user for whom it counts: its longest-standing owner."""
    owners = Membership.objects.filter(role=Role.OWNER).order_by("-pk")
    if projects is not None:
        owners = owners.filter(project__in=projects)
    return dict(owners.values_list("project_id", "user_id"))


def allowances(project: Project) -> list[MonthlyAllowance]:
    """Return all limits and their use, for the page of the project's owners."""
    return [
        MonthlyAllowance(resource, scope.whose, _used_lately(resource, scope), scope.most(resource))
        for scope in scopes_of(project)
        for resource in Resource
    ]


def _used_lately(resource: Resource, scope: Scope) -> Decimal:
    """Return the use that pages show, cached because measuring a large storage takes a good part of
    a second."""
    documents = Document.objects.filter(project__in=scope.projects).order_by()
    if resource != Resource.STORAGE or not documents[LARGE:].exists():
        return used(resource, scope.projects)
    key = ("storage", scope.projects)
    return read_seldom(key, lambda: used(resource, scope.projects), seconds=KEPT_SECONDS)


def used(resource: Resource, projects: Sequence[int]) -> Decimal:
    """Return how much of a resource some projects use now."""
    if resource == Resource.STORAGE:
        return Decimal(storage(projects))
    return Decimal(open_runs(projects)) if resource == Resource.RUNS else spent_this_month(projects)


def storage(projects: Sequence[int]) -> int:
    """Return the bytes of texts, turns and metadata in UTF-8, and of replies as stored in the
    database."""
    value = fetch_value(
        """SELECT (SELECT coalesce(sum(octet_length(source) + octet_length(context)
                          + octet_length("references"::text)
                          + coalesce(octet_length(nullif(metadata, '{}')::text), 0)), 0)
                   FROM evaluations_document WHERE project_id = ANY(%(projects)s))
                + (SELECT coalesce(sum(octet_length(turns::text)), 0)
                   FROM evaluations_conversation WHERE project_id = ANY(%(projects)s))
                + (SELECT coalesce(sum(octet_length(o.text)
                          + coalesce(octet_length(nullif(o.turns, '[]')::text), 0)), 0)
                   FROM evaluations_candidateoutput o
                   JOIN evaluations_document d ON d.id = o.document_id
                   WHERE d.project_id = ANY(%(projects)s))
                + (SELECT coalesce(sum(pg_column_size(choices)), 0)
                   FROM evaluations_modelreply WHERE project_id = ANY(%(projects)s))""",
        {"projects": list(projects)},
    )
    return int(value)


def open_runs(projects: Sequence[int]) -> int:
    """Return the number of runs and searches in progress or waiting."""
    runs = EvaluationRun.objects.active().counting().of_judges_that_run()
    at_it = (ErrandState.WAITING, ErrandState.ASKING)
    searches = Search.objects.filter(project__in=projects, state__in=at_it)
    return runs.filter(project__in=projects).count() + searches.count()


def spent_this_month(projects: Sequence[int]) -> Decimal:
    rows = MonthlySpending.objects.of_this_month().filter(project__in=projects)
    return rows.aggregate(money=Sum("money"))["money"] or Decimal(0)


def check_storage(project: Project) -> None:
    """Check the storage limit after writing, in the same transaction.

    Raises:
        LimitError: it exceeds the allowed storage.
    """
    for scope in scopes_of(project):
        most = scope.most(Resource.STORAGE)
        if most is not None and (taken := used(Resource.STORAGE, scope.projects)) > most:
            raise LimitError(_says(Resource.STORAGE, scope, taken, most, "would take"))


def check_start(project: Project) -> None:
    """Check that the limits of the project and its owner allow another run or search.

    Raises:
        LimitError: the limit of concurrent runs, of the month's money or of storage is reached.
    """
    for scope in scopes_of(project):
        for resource in Resource:
            most = scope.most(resource)
            if most is not None and (taken := used(resource, scope.projects)) >= most:
                raise LimitError(_says(resource, scope, taken, most, "takes"))


def limits_money(project: Project) -> bool:
    """Whether the cost of the project's runs per month is limited."""
    return any(scope.most(Resource.MONEY) is not None for scope in scopes_of(project))


def money_left(project: Project) -> Decimal | None:
    """Return the month's remaining money for items that are not claimed yet; None without a limit.

    The highest possible cost of items in progress is reserved. Call this in a transaction: workers
    of all runs that share the limit then take turns.
    """
    amounts: list[Decimal] = []
    for scope in scopes_of(project):
        most = scope.most(Resource.MONEY)
        if most is None:
            continue
        _lock_month(scope.projects)
        amounts.append(most - spent_this_month(scope.projects) - _in_work(scope.projects))
    return min(amounts) if amounts else None


def money_reached(project: Project) -> str:
    """Return the message of a run that the monthly limit pauses."""
    for scope in scopes_of(project):
        most = scope.most(Resource.MONEY)
        if most is not None:
            spent = spent_this_month(scope.projects)
            if spent + _dearest(scope.projects) > most or spent >= most:
                return _says(Resource.MONEY, scope, spent, most, "takes")
    return "The limit of money this month would be exceeded by the next item."


def next_month() -> datetime.datetime:
    """Return when the next month's money becomes available."""
    after = (this_month() + datetime.timedelta(days=32)).replace(day=1)
    return datetime.datetime.combine(after, datetime.time(), datetime.UTC)


def _dearest(projects: Sequence[int]) -> Decimal:
    """Return the highest possible cost of one item of the projects' active runs."""
    runs = EvaluationRun.objects.active().filter(project__in=projects)
    return max((run.frozen.most_each or Decimal(0) for run in runs), default=Decimal(0))


def _in_work(projects: Sequence[int]) -> Decimal:
    """Return the highest possible cost of these projects' claimed items."""
    runs = EvaluationRun.objects.unfinished().filter(project__in=projects)
    held = RunTally.objects.filter(run__in=runs).by_run()
    return sum(
        (
            held[run.pk][ItemState.LEASED] * (run.frozen.most_each or Decimal(0))
            for run in runs
            if run.pk in held
        ),
        Decimal(0),
    )


def _lock_month(projects: Sequence[int]) -> None:
    month = this_month()
    MonthlySpending.objects.bulk_create(
        [MonthlySpending(project_id=pk, month=month) for pk in projects], ignore_conflicts=True
    )
    rows = MonthlySpending.objects.filter(project__in=projects, month=month)
    # In one order, to prevent deadlocks of runs of several projects.
    list(rows.order_by("project_id").select_for_update())


def _either(own: Decimal | int | None, sites: Decimal | int) -> Decimal:
    return Decimal(sites if own is None else own)


def _limits(
    storage_mb: Decimal | int, runs: Decimal | int, money: Decimal | int
) -> dict[Resource, Decimal]:
    return {
        Resource.STORAGE: Decimal(storage_mb) * MB,
        Resource.RUNS: Decimal(runs),
        Resource.MONEY: Decimal(money),
    }


WHAT_TO_DO = {
    Resource.STORAGE: "Remove documents that you do not need, or ask",
    Resource.RUNS: "Wait until one has finished, pause or cancel one, or ask",
    Resource.MONEY: "Wait until next month, or ask",
}


def _says(resource: Resource, scope: Scope, taken: Decimal, most: Decimal, verb: str) -> str:
    return (
        f"The limit of {resource} for {scope.whose} is {shown(resource, most)}, and it {verb}"
        f" {shown(resource, taken)}. {WHAT_TO_DO[resource]} the site's administrator for more."
    )
