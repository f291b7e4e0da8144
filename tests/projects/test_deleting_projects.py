"""An owner deletes a project: nobody sees it any more, nothing of it is left, and no other project
loses anything."""

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.test import Client
from django.utils import timezone

from annotations.models import Campaign
from annotations.planning.campaigns import annotator_of, open_campaign, seat_annotators
from evaluations.models import (
    ApiToken,
    AuditEntry,
    ErrandState,
    EvaluationRun,
    Judge,
    Membership,
    MonthlySpending,
    Project,
    RunState,
    Score,
    Search,
    Study,
    StudyKind,
)
from evaluations.models.limits import this_month
from evaluations.projects import deletion
from evaluations.projects.deletion import APPS, models_in_order, path_to_project, remove_deleted
from tests.annotations.answered import answer, many_documents

pytestmark = pytest.mark.django_db
PAGE = "/p/small/delete/"


@pytest.fixture
def archived(judged_project: Project, owner: User) -> Project:
    judged_project.archived_at = timezone.now()
    judged_project.save()
    return judged_project


def confirmed(client: Client, name: str = "Small") -> Any:
    return client.post(PAGE, {"name": name}, follow=True)


def rows_left() -> dict[str, int]:
    """How many rows of projects there are, by table."""
    counts = {model._meta.db_table: model._base_manager.count() for model in models_in_order()}
    counts["evaluations_project"] = Project.objects.count()
    return {table: count for table, count in counts.items() if count}


def test_what_belongs_to_a_project_goes_before_what_it_refers_to() -> None:
    order = models_in_order()
    every = {model for app in APPS for model in apps.get_app_config(app).get_models(True)}
    of_the_site = {
        "EventCount", "IdempotentAnswer", "RequestCount", "WorkerHeartbeat", "WorkerSlot",
        "UpkeepJob", "Project", "LockEvent", "LockedText", "AccountBucket", "AccountQuota",
        "PersonalSettings", "Mail",
    }  # fmt: skip
    assert {model.__name__ for model in every - set(order)} == of_the_site
    for model in order:
        assert path_to_project(model)
        for field in model._meta.local_fields:
            if isinstance(field, models.ForeignKey) and field.related_model in order:
                referred = order.index(field.related_model)
                assert field.related_model is model or order.index(model) < referred


@pytest.mark.parametrize("at_once", [deletion.AT_ONCE, 3])
def test_nothing_of_it_is_left_and_other_projects_lose_nothing(
    archived: Project, owner: User, client: Client, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(deletion, "AT_ONCE", at_once)
    other = Project.objects.create(slug="other", name="Other")
    Membership.objects.create(project=other, user=owner, role="owner")
    many_documents(other, 3)
    campaign = Campaign.objects.create(project=archived, name="c", overlap=1)
    campaign.criteria.add(archived.criteria.get(name="coherence"))
    seat_annotators(campaign, [owner])
    open_campaign(campaign)
    answer(campaign, annotator_of(archived, owner), lambda _name: 3.0)

    client.force_login(owner)
    assert "is deleted" in confirmed(client).content.decode()
    (gone,) = remove_deleted()

    assert gone.rows > 80
    left = rows_left()
    assert left.pop("evaluations_auditentry") == 1
    assert left == {
        "evaluations_project": 1,
        "evaluations_membership": 1,
        "evaluations_document": 3,
        "evaluations_system": 2,
        "evaluations_candidateoutput": 6,
        "evaluations_criterion": 1,
    }
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # nothing refers to what is gone


def test_nobody_sees_it_from_the_moment_on(archived: Project, owner: User, client: Client) -> None:
    ApiToken.objects.create(user=owner, project=archived, name="t", digest="d")
    client.force_login(owner)

    confirmed(client)

    assert client.get("/p/small/").status_code == 404
    assert "Small" not in client.get("/projects/").content.decode().replace("Small is deleted", "")
    assert not ApiToken.objects.exists()
    archived.refresh_from_db()
    assert archived.slug != "small"
    assert client.get(f"/p/{archived.slug}/").status_code == 404
    entry = AuditEntry.objects.get(project=None)
    assert (entry.user, entry.action, entry.detail) == (owner, "project deleted", "small: Small")
    Project.objects.create(slug="small", name="Another")


def test_a_slip_deletes_nothing(archived: Project, owner: User, client: Client) -> None:
    client.force_login(owner)

    page = confirmed(client, "small")
    assert page.status_code == 422
    assert "Type: Small" in page.content.decode()

    Project.objects.update(archived_at=None)
    assert "Only archived projects can be deleted" in client.get(PAGE).content.decode()
    assert confirmed(client).status_code == 422
    assert list(remove_deleted()) == []
    assert Score.objects.exists()


def test_only_owners_delete(archived: Project, as_role: Callable[[str], Client]) -> None:
    for role in ("researcher", "annotator", "viewer"):
        client = as_role(role)
        assert client.get(PAGE).status_code == 403
        assert confirmed(client).status_code == 403
        assert "Delete project" not in client.get("/p/small/", follow=True).content.decode()
    assert Project.objects.get().deleted_at is None


def test_money_of_this_month_is_not_forgotten_by_deleting(
    archived: Project, owner: User, client: Client, settings: Any
) -> None:
    settings.USER_MONEY_PER_MONTH = 10
    MonthlySpending.objects.update_or_create(
        project=archived, month=this_month(), defaults={"money": "3.20"}
    )
    client.force_login(owner)

    assert "cost 3.20 this month" in confirmed(client).content.decode()
    assert Project.objects.get().deleted_at is None

    call_command("delete_project", "small", confirm="small")
    assert not Project.objects.exists()


def test_a_run_in_progress_is_cancelled_and_awaited(
    archived: Project, owner: User, client: Client
) -> None:
    run = EvaluationRun.objects.get()
    EvaluationRun.objects.update(state=RunState.RUNNING, finished_at=None)
    item = run.items.all()[:1].get()
    until = timezone.now() + timezone.timedelta(seconds=30)
    run.items.filter(pk=item.pk).update(state="leased", lease_until=until)
    client.force_login(owner)

    confirmed(client)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    assert list(remove_deleted()) == []

    run.items.filter(pk=item.pk).update(state="done", lease_until=None)
    assert len(list(remove_deleted())) == 1


def test_nothing_is_asked_any_more(archived: Project, owner: User, client: Client) -> None:
    about = {
        "project": archived,
        "judge": Judge.objects.get(),
        "criterion": archived.criteria.get(name="coherence"),
    }
    search = Search.objects.create(**about, state=ErrandState.ASKING)
    study = Study.objects.create(**about, kind=StudyKind.AGAIN, is_on=True)
    client.force_login(owner)

    confirmed(client)

    search.refresh_from_db()
    study.refresh_from_db()
    assert (search.state, study.is_on) == (ErrandState.CANCELLED, False)


def test_the_command_asks_for_the_name_again(
    small_project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match="add --confirm small"):
        call_command("delete_project", "small")
    assert Project.objects.exists()

    call_command("delete_project", "small", confirm="small")

    assert "small was deleted, with " in capsys.readouterr().out
    assert rows_left() == {"evaluations_auditentry": 1} or not rows_left()
