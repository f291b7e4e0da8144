"""Owners see what their project uses; administrators see the whole site and change limits."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evaluations.models import MonthlySpending, Project, ProjectLimits, WorkerHeartbeat
from evaluations.models.limits import this_month

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator(make_user: Callable[..., User]) -> Client:
    user = make_user("root")
    User.objects.filter(pk=user.pk).update(is_superuser=True)
    client = Client()
    client.force_login(user)
    return client


def test_who_may_start_runs_sees_what_is_used_and_allowed(
    as_role: Callable[[str], Client], small_project: Project, settings: Any
) -> None:
    settings.PROJECT_RUNS = 3
    MonthlySpending.objects.create(project=small_project, month=this_month(), money="1.25")
    ProjectLimits.objects.create(project=small_project, money_per_month=1)

    page = as_role("owner").get("/p/small/usage/").content.decode()

    assert "1.25" in page
    assert "used up" in page
    assert "no limit" in page
    assert as_role("viewer").get("/p/small/usage/").status_code == 403


def test_administrators_see_projects_users_workers_and_costs(
    administrator: Client, small_project: Project
) -> None:
    MonthlySpending.objects.create(project=small_project, month=this_month(), money="12.5")
    WorkerHeartbeat.objects.create(name="host-7", seen_at=timezone.now())

    page = administrator.get("/site/").content.decode()

    assert "host-7" in page
    assert "12.50" in page
    assert small_project.name in page
    assert "root" in page
    # They are no member: nothing of the project itself.
    assert small_project.documents.first().source not in page
    assert "/p/small/" not in page


def test_administrators_change_a_projects_limits(
    administrator: Client, small_project: Project
) -> None:
    address = f"/site/limits/{small_project.pk}/"

    refused = administrator.post(address, {"money_per_month": "-1"})
    saved = administrator.post(address, {"runs": "2", "money_per_month": "9.5", "storage_mb": ""})

    assert refused.status_code == 422
    assert saved["Location"] == "/site/"
    limits = ProjectLimits.objects.get(project=small_project)
    assert (limits.runs, limits.money_per_month, limits.storage_mb) == (2, Decimal("9.5"), None)
    assert "Its own" in administrator.get("/site/").content.decode()


def test_only_administrators_are_led_there(
    administrator: Client, as_role: Callable[[str], Client]
) -> None:
    assert 'href="/site/"' in administrator.get("/").content.decode()
    assert 'href="/site/"' not in as_role("owner").get("/").content.decode()
