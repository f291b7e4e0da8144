"""A request sent again with its key does nothing more; keys of others, used keys and odd keys are
told apart."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evaluations.models import ApiToken, Criterion, IdempotentAnswer, Project
from evaluations.models.tokens import RESERVED_SECONDS, new_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def token(owner: User) -> str:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)
    return token


def make(token: str, name: str, key: str | None, path: str = "small/criteria", **more: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"} | (
        {"Idempotency-Key": key} if key is not None else {}
    )
    return Client(**more).post(
        f"/api/v1/projects/{path}", {"name": name}, content_type="application/json", headers=headers
    )


def test_sent_again_it_gets_the_same_answer_and_does_nothing_more(
    token: str, project: Project
) -> None:
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


@pytest.mark.parametrize("other", ["coherency", "Fluency!"])
def test_a_body_of_the_same_length_is_another_request(
    token: str, project: Project, other: str
) -> None:
    make(token, "x" * len(other), "k1")

    assert make(token, other, "k1").status_code == 422


@pytest.mark.slow
def test_a_long_body_is_taken_as_it_comes_and_distinguished(
    token: str, small_project: Project
) -> None:
    def load(score: int) -> Any:
        row = (
            '{{"doc_id": "d1", "system_id": "good", "criterion": "c{}", "annotator": "z", "score":'
            " {}}}"
        )
        rows = "\n".join(row.format(number, score) for number in range(2000))
        return Client().post(
            "/api/v1/projects/small/ratings?check=true", rows, content_type="application/x-ndjson",
            headers={"Authorization": f"Bearer {token}", "Idempotency-Key": "k1"},
        )  # fmt: skip

    first, again, other = load(3), load(3), load(4)

    assert (first.status_code, again["Idempotency-Replayed"]) == (200, "true")
    assert (again.content, other.status_code) == (first.content, 422)


def test_a_reservation_of_a_process_that_died_runs_out(token: str, project: Project) -> None:
    make(token, "fluency", "k1")
    Criterion.objects.all().delete()
    IdempotentAnswer.objects.update(status=None)
    refused = make(token, "fluency", "k1")
    assert (refused.status_code, 0 < int(refused["Retry-After"]) <= RESERVED_SECONDS) == (409, True)

    IdempotentAnswer.objects.update(
        created_at=timezone.now() - timedelta(seconds=RESERVED_SECONDS + 1)
    )

    assert make(token, "fluency", "k1").status_code == 201


def test_nobody_who_is_not_let_in_reserves_or_reads_a_key(
    token: str, owner: User, project: Project
) -> None:
    first = make(token, "fluency", "k1")
    visitor = make("geval_made-up", "fluency", "k1")
    assert (first.status_code, visitor.status_code) == (201, 401)
    assert "fluency" not in visitor.content.decode()
    assert IdempotentAnswer.objects.count() == 1

    owner.memberships.all().delete()

    assert make(token, "fluency", "k1").status_code == 404


def test_a_request_without_the_right_keeps_no_key(
    token: str, owner: User, project: Project
) -> None:
    owner.memberships.update(role="viewer")
    assert make(token, "fluency", "k1").status_code == 403

    owner.memberships.update(role="owner")

    assert make(token, "fluency", "k1").status_code == 201


def test_keys_count_for_a_sender(token: str, owner: User, project: Project) -> None:
    other, digest = new_token()
    ApiToken.objects.create(user=owner, name="other", digest=digest)

    assert make(token, "fluency", "k1").status_code == 201
    assert make(other, "Fluency2", "k1").status_code == 201


@pytest.mark.parametrize("key", ["", " ", "k" * 201, "a\x01b"])
def test_odd_keys_are_refused(token: str, project: Project, key: str) -> None:
    assert make(token, "fluency", key).status_code == 400
    assert not Criterion.objects.exists()


def test_the_token_itself_is_not_kept(token: str, project: Project) -> None:
    make(token, "fluency", "k1")

    kept = IdempotentAnswer.objects.get()
    assert token not in f"{kept.sender}{kept.key}{kept.request}{bytes(kept.body)!r}"
