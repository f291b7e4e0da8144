"""Short names of projects can be read: they are like names, with letters added where another
project has the same one, of which nobody learns more than that."""

import io
import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from evaluations.models import ApiToken, Project
from evaluations.models.project import free_slug
from evaluations.models.tokens import new_token
from evaluations.projects.archive.write import write_archive


@pytest.mark.django_db
@given(st.text(max_size=300))
def test_any_name_gives_a_short_name_that_fits(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", free_slug(name))
    assert len(free_slug(name)) <= 45


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Zusammenfassungen", "zusammenfassungen"),
        ("News, in short (2026)", "news-in-short-2026"),
        ("Kohärenz", "koharenz"),
        ("流暢さ", "project"),
    ],
)
def test_a_short_name_is_like_the_name(stranger: User, name: str, short: str) -> None:
    first = Project.objects.make(name, "", owner_id=stranger.pk)
    second = Project.objects.make(name, "", owner_id=stranger.pk)

    assert first.slug == short
    assert re.fullmatch(rf"{short}-[a-z0-9]{{4}}", second.slug)


@pytest.mark.django_db
def test_who_chooses_a_name_at_the_same_time_gets_another_address(
    stranger: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    Project.objects.make("News", "", owner_id=stranger.pk)
    slugs = iter(["news", "news-2345"])
    monkeypatch.setattr("evaluations.models.project.free_slug", lambda _name: next(slugs))

    assert Project.objects.make("News", "", owner_id=stranger.pk).slug == "news-2345"


@pytest.fixture
def stranger(db: None) -> User:
    return User.objects.create_user("stranger")


@pytest.mark.django_db
def test_whoever_tries_the_name_of_another_project_gets_an_address_beside_it(
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
        *(
            client.post(
                "/api/v1/projects",
                {"name": "secret"} | slug,
                content_type="application/json",
                headers={"Authorization": f"Bearer {token}"},
            )
            for slug in ({}, {"slug": "secret"})
        ),
    ]

    made = Project.objects.filter(memberships__user=stranger)
    assert [answer.status_code for answer in answers] == [302, 302, 201, 422]
    assert "choose another one" in answers[-1].content.decode()
    assert len({project.slug for project in made} - {"secret"}) == 3
    assert {re.sub(r"-\w{4}$", "", project.slug) for project in made} == {"secret"}
