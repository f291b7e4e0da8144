"""A project is seen by its members only, and changed by owners and researchers only."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluations.models import EvaluationRun, Judge, Project, Role
from evaluations.people.access import ARCHIVED, why_not_call_out

pytestmark = pytest.mark.django_db


def address(name: str, *arguments: int) -> str:
    return reverse(f"evaluations:{name}", args=["small", *arguments])


def test_annotators_are_led_to_what_they_annotate(
    as_role: Callable[[str], Client], small_project: Project
) -> None:
    answer = as_role("annotator").get(address("project_detail"))
    page = as_role("viewer").get(address("project_detail"))

    assert answer["Location"] == "/p/small/annotate/"
    assert page.status_code == 200


def test_a_document_and_a_run_are_found_in_their_own_project_only(
    as_role: Callable[[str], Client], run: EvaluationRun
) -> None:
    other = Project.objects.create(name="Other", slug="other")
    document = other.documents.create(doc_id="secret", source="Secret text")
    judge = Judge.objects.create(project=other, name="j", model="m", mode="direct")
    theirs = EvaluationRun.objects.create(project=other, judge=judge)
    client = as_role("owner")

    assert client.get(address("document_detail", document.pk)).status_code == 404
    assert client.get(address("run_detail", theirs.pk)).status_code == 404
    assert client.post(address("run_pause", theirs.pk)).status_code == 404
    assert client.get(address("run_detail", run.pk)).status_code == 200


def test_viewers_see_no_buttons_that_change_and_cannot_press_them_anyway(
    as_role: Callable[[str], Client], run: EvaluationRun
) -> None:
    client = as_role("viewer")

    page = client.get(address("run_detail", run.pk)).content.decode()

    assert "Retry failed items" not in page
    assert client.post(address("run_resume", run.pk), {"failed": "1"}).status_code == 403
    assert client.post(address("run_start"), {}).status_code == 403


@pytest.mark.parametrize("role", ["owner", "researcher"])
def test_an_archived_project_is_read_and_not_changed_until_it_is_restored(
    as_role: Callable[[str], Client], small_project: Project, role: str
) -> None:
    client = as_role(role)
    form = {"name": "beauty", "scale_min": "1", "scale_max": "5", "scale_step": "1"}
    Project.objects.update(archived_at=timezone.now())

    refused = client.post(address("criterion_create"), form)
    page = client.get(address("criterion_list")).content.decode()
    restored = client.post(address("project_archive"), {"back": "1"})
    changed = client.post(address("criterion_create"), form)

    assert refused.status_code == 403
    assert ARCHIVED in refused.content.decode()
    assert client.head(address("criterion_list")).status_code == 200
    assert "New criterion" not in page
    assert restored.status_code == (302 if role == "owner" else 403)
    assert changed.status_code == (302 if role == "owner" else 403)
    assert small_project.criteria.filter(name="beauty").exists() is (role == "owner")


def test_only_who_may_change_a_project_may_have_the_site_call_out(settings: object) -> None:
    settings.WHO_MAY_CALL_OUT = "editors"  # type: ignore[attr-defined]
    nobody = AnonymousUser()

    assert [why_not_call_out(nobody, role) for role in (Role.OWNER, Role.RESEARCHER)] == ["", ""]
    assert why_not_call_out(User(is_superuser=True), Role.VIEWER) == (
        "The role viewer cannot do this."
    )


def test_the_list_of_projects_holds_only_ones_own(
    as_role: Callable[[str], Client], small_project: Project
) -> None:
    Project.objects.create(name="Nobody sees this", slug="hidden")

    mine = as_role("owner").get("/").content.decode()
    strangers = as_role("stranger").get("/").content.decode()

    assert "Small" in mine
    assert "Nobody sees this" not in mine
    assert "not a member of any project" in strangers


def test_signing_in_leads_to_the_page_that_was_asked_for(
    owner: object, small_project: Project
) -> None:
    client = Client()

    asked = client.get(address("report_detail"))
    done = client.post(asked["Location"], {"username": "olga", "password": "secret-of-olga"})

    assert asked["Location"].startswith("/sign-in/?next=")
    assert done["Location"] == address("report_detail")
