"""Limits of storage, runs and money: what would exceed one is refused, or pauses at it."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from evaluations.judging.runs.lifecycle import RunError, resume_run
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    EvaluationRun,
    ItemState,
    Judge,
    MonthlySpending,
    Project,
    ProjectLimits,
    Role,
    RunState,
)
from evaluations.models.limits import this_month
from evaluations.people.limits import (
    Resource,
    allowances,
    money_left,
    next_month,
    scopes_of,
    storage,
)
from evaluations.projects.archive.read import read_archive
from geval.files.archive.record_file import ArchiveError
from geval.files.rows import LoadError
from geval.llm.calls import RetryPolicy
from tests.archive.test_round_trip import archived

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = RetryPolicy(attempts=6, first_wait=0.01, longest_wait=0.05)
PRICES = {"price_in": Decimal(1000), "price_out": Decimal(2000)}


@pytest.fixture
def judge(small_project: Project, make_judge: Callable[..., Judge]) -> Judge:
    return make_judge(small_project, use_steps=False, **PRICES)


def start(judge: Judge, **options: Any) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()), RunRequest(**options))


def worked_on(run: EvaluationRun) -> EvaluationRun:
    work_on_run(run.pk, "tester", policy=QUICK)
    run.refresh_from_db()
    return run


def allow(project: Project, **limits: Any) -> None:
    ProjectLimits.objects.update_or_create(project=project, defaults=limits)


def test_without_limits_nothing_is_refused_and_money_is_counted(judge: Judge) -> None:
    run = worked_on(start(judge))

    spent = MonthlySpending.objects.get(project=judge.project)
    assert run.state == RunState.DONE
    assert (spent.month, spent.money) == (this_month(), run.cost)
    assert {entry.most for entry in allowances(judge.project)} == {None}
    assert money_left(judge.project) is None


@pytest.mark.slow
def test_a_run_pauses_before_the_months_money_is_exceeded(judge: Judge) -> None:
    run = worked_on(start(judge))
    each = run.frozen.most_each
    assert run.cost
    assert each
    allow(judge.project, money_per_month=run.cost + 2 * each)

    again = worked_on(start(judge, fresh=True))

    assert again.state == RunState.PAUSED
    assert again.message.startswith("The limit of money this month")
    assert "ask the site's administrator for more" in again.message
    assert again.resumes_at == next_month()
    assert again.items.filter(state=ItemState.DONE).exists()
    assert MonthlySpending.objects.get().money <= run.cost + 2 * each


def test_the_money_of_all_projects_of_a_user_counts(
    judge: Judge, make_user: Callable[..., User], settings: Any
) -> None:
    owner = make_user("first")
    judge.project.memberships.create(user=owner, role=Role.OWNER)
    other = Project.objects.make("Other", "", owner_id=owner.pk)
    MonthlySpending.objects.create(project=other, month=this_month(), money=9)
    settings.USER_MONEY_PER_MONTH = Decimal(10)

    with transaction.atomic():
        left = money_left(judge.project)
    MonthlySpending.objects.filter(project=other).update(money=10)

    assert left == 1
    with pytest.raises(RunError, match=r"for all projects of its owner is 10\.00, and it takes 10"):
        start(judge)


def test_a_project_counts_for_who_has_owned_it_longest(
    small_project: Project, make_user: Callable[..., User], settings: Any
) -> None:
    settings.USER_RUNS = 1
    for name in ("first", "second"):
        small_project.memberships.create(user=make_user(name), role=Role.OWNER)
    seconds = Project.objects.make(
        "Other", "", owner_id=small_project.memberships.get(user__username="second").user_id
    )

    assert seconds.pk not in scopes_of(small_project)[1].projects
    assert scopes_of(seconds)[1].projects == (seconds.pk,)


def test_only_so_many_runs_at_the_same_time(
    judge: Judge, make_judge: Callable[..., Judge], settings: Any
) -> None:
    settings.PROJECT_RUNS = 1
    other = make_judge(judge.project, name="Other", use_steps=False)
    first = start(judge)

    with pytest.raises(RunError, match=r"is 1, and it takes 1\. Wait until one has finished"):
        start(other)
    worked_on(first)
    second = start(other)

    assert second.state == RunState.PREPARING


def test_a_paused_run_is_not_resumed_beyond_the_limit(
    judge: Judge, make_judge: Callable[..., Judge], settings: Any
) -> None:
    settings.PROJECT_RUNS = 1
    first = start(judge)
    EvaluationRun.objects.filter(pk=first.pk).update(state=RunState.PAUSED)
    start(make_judge(judge.project, name="Other", use_steps=False))

    with pytest.raises(RunError, match="runs at the same time"):
        resume_run(first)


def test_an_administrator_can_allow_a_project_more_or_everything(
    judge: Judge, settings: Any
) -> None:
    settings.PROJECT_RUNS, settings.PROJECT_STORAGE_MB = 1, 7
    allow(judge.project, runs=5, storage_mb=0)

    (scope,) = scopes_of(judge.project)

    assert scope.most(Resource.RUNS) == 5
    assert scope.most(Resource.STORAGE) is None


def test_storage_is_bytes_of_texts_and_replies(small_project: Project, judge: Judge) -> None:
    before = storage([small_project.pk])
    texts = sum(
        len(text.encode())
        for document in small_project.documents.all()
        for text in (document.source, document.context, "[]")
    ) + sum(
        len(output.text.encode())
        for document in small_project.documents.all()
        for output in document.outputs.all()
    )

    worked_on(start(judge))

    assert before == texts
    assert storage([small_project.pk]) > texts


def test_an_upload_beyond_the_storage_is_refused_and_writes_nothing(
    small_project: Project, load: Callable[..., Any], settings: Any
) -> None:
    settings.PROJECT_STORAGE_MB = 1
    row = '{"doc_id": "long", "system_id": "a", "source": "s", "output": "%s"}' % ("x " * 600_000)

    with pytest.raises(LoadError) as refused:
        load(small_project, {"long.jsonl": row})

    (error,) = refused.value.errors
    assert error.message.startswith("The limit of storage for this")
    assert not small_project.documents.filter(doc_id="long").exists()


def test_an_archive_beyond_the_storage_is_refused_and_writes_nothing(
    small_project: Project, load: Callable[..., Any], make_user: Callable[..., User], settings: Any
) -> None:
    row = '{"doc_id": "long", "system_id": "a", "source": "s", "output": "%s"}' % ("x " * 600_000)
    load(small_project, {"long.jsonl": row})
    archive = archived(small_project)
    owner = make_user("olaf")

    def give(copy: Project) -> None:
        copy.memberships.create(user=owner, role="owner")

    settings.PROJECT_STORAGE_MB = 1
    with pytest.raises(ArchiveError, match=r"storage for this project is 1\.0 MB"):
        read_archive(archive, slug="copy")
    settings.PROJECT_STORAGE_MB, settings.USER_STORAGE_MB = 0, 1
    with pytest.raises(ArchiveError, match="storage for all projects"):
        read_archive(archive, slug="copy", give_to=give)

    assert not Project.objects.filter(slug="copy").exists()
    settings.USER_STORAGE_MB = 2
    assert read_archive(archive, slug="copy", give_to=give).slug == "copy"


def test_batches_are_refused_where_money_is_limited(judge: Judge) -> None:
    allow(judge.project, money_per_month=100)

    with pytest.raises(RunError, match="no limit can stop a batch"):
        start(judge, transport="batch")
