"""A request sent again with its key does nothing more; keys of others, used keys and odd keys are told apart."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import ApiToken, Criterion, IdempotentAnswer, Project
from evaluations.models.tokens import new_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def token(owner: User) -> str:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)
    return token


def make(token: str, name: str, key: str | None, path: str = "small/criteria", **more: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"} | ({"Idempotency-Key": key} if key is not None else {})
    return Client(**more).post(
        f"/api/v1/projects/{path}", {"name": name}, content_type="application/json", headers=headers
    )


def test_sent_again_it_gets_the_same_answer_and_does_nothing_more(token: str, project: Project) -> None:
    first = make(token, "fluency", "k1")
    again = make(token, "fluency", "k1")

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert "Idempotency-Replayed" not in first
    assert again["Idempotency-Replayed"] == "true"
    assert Criterion.objects.count() == 1


def test_refusals_are_repeated_too(token: str, project: Project) -> None:
    Criterion.objects.create(project=project, name="fluency")
    refused = make(token, "fluency", "k1")
    Criterion.objects.all().delete()

    assert refused.status_code == 422
    assert make(token, "fluency", "k1").json() == refused.json()
    assert not Criterion.objects.exists()


def test_another_request_with_a_used_key_is_refused(token: str, project: Project) -> None:
    make(token, "fluency", "k1")

    answer = make(token, "a longer name", "k1")

    assert (answer.status_code, answer.json()["title"]) == (422, "The key was used")


def test_keys_count_for_a_sender(token: str, owner: User, project: Project) -> None:
    other, digest = new_token()
    ApiToken.objects.create(user=owner, name="other", digest=digest)

    assert make(token, "fluency", "k1").status_code == 201
    assert make(other, "Fluency2", "k1").status_code == 201


def test_while_the_first_is_being_answered_the_second_waits(token: str, project: Project) -> None:
    make(token, "fluency", "k1")
    IdempotentAnswer.objects.update(status=None)

    assert make(token, "fluency", "k1").status_code == 409


def test_who_is_not_let_in_uses_no_key_up(token: str, project: Project) -> None:
    assert make("geval_wrong", "fluency", "k1").status_code == 401
    assert not IdempotentAnswer.objects.exists()


@pytest.mark.parametrize("key", ["", " ", "k" * 201, "a\x01b"])
def test_odd_keys_are_refused(token: str, project: Project, key: str) -> None:
    assert make(token, "fluency", key).status_code == 400
    assert not Criterion.objects.exists()


def test_without_a_key_nothing_is_kept(token: str, project: Project) -> None:
    make(token, "fluency", None)

    assert not IdempotentAnswer.objects.exists()


def test_the_token_itself_is_not_kept(token: str, project: Project) -> None:
    make(token, "fluency", "k1")

    kept = IdempotentAnswer.objects.get()
    assert token not in f"{kept.sender}{kept.key}{kept.request}{bytes(kept.body)!r}"
