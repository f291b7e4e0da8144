"""Short names of projects tell nobody of other projects: on pages and in the API each new one gets
its own."""

import io
import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from evaluations.models import ApiToken, Project
from evaluations.models.project import new_slug
from evaluations.models.tokens import new_token
from evaluations.projects.archive.write import write_archive


@given(st.text(max_size=300))
def test_any_name_gives_a_short_name_that_fits(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*-[a-z0-9]{8}", new_slug(name))
    assert len(new_slug(name)) <= 50


def test_a_short_name_can_be_read() -> None:
    assert new_slug("News, in short (2026)").startswith("news-in-short-2026-")


@pytest.fixture
def stranger(db: None) -> User:
    return User.objects.create_user("stranger")


@pytest.mark.django_db
def test_whoever_tries_the_name_of_another_project_learns_nothing(
    small_project: Project, stranger: User
) -> None:
    small_project.slug = small_project.name = "secret"
    small_project.save()
    client = Client()
    client.force_login(stranger)
    token, digest = new_token()
    ApiToken.objects.create(user=stranger, name="t", digest=digest)
    archive = io.BytesIO()
    write_archive(small_project, archive)

    answers = [
        client.post("/new/", {"name": "secret"}),
        client.post(
            "/new/archive/", {"file": SimpleUploadedFile("secret.zip", archive.getvalue())}
        ),
        client.post(
            "/api/v1/projects",
            {"name": "secret", "slug": "secret"},
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        ),
    ]

    made = Project.objects.filter(memberships__user=stranger)
    assert [answer.status_code for answer in answers] == [302, 302, 201]
    assert len({project.slug for project in made} - {"secret"}) == 3
    assert {re.sub(r"-\w{8}$", "", project.slug) for project in made} == {"secret"}
