"""Page, list, badge and API say what was signed: a certificate that was edited is not genuine
wherever it is shown, and one of another site names its key."""

import base64
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import Client

from assurance.certifying.certificates import certify, read_requirements, signed_part
from assurance.certifying.sealed import fingerprint, sealed
from evaluations.models import Certificate, Criterion, Judge, Project
from evaluations.web.api.app import api

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(rated_project: Project, judge: Judge, criterion: Criterion) -> Certificate:
    """A certificate of what is not met."""
    found = certify(judge, criterion, read_requirements(["documents>=100000"]))
    assert found.outcome == "not met"
    return found


def shown(client: Client, made: Certificate) -> list[str]:
    """Page, judge's page, badge (of another site there is none) and API, in small letters."""
    base = made.get_absolute_url()
    slug = made.project.slug
    seal = sealed(made)
    badge = [] if seal.outcome and not seal.is_ours else [f"{base}badge.svg"]
    addresses = (
        base, *badge, f"{made.judge.get_absolute_url()}certificates/",
        f"/api/v1/projects/{slug}/certificates/{made.pk}",
        f"/api/v1/projects/{slug}/certificates",
    )  # fmt: skip
    answers = [client.get(address) for address in addresses]
    assert [answer.status_code for answer in answers] == [200] * len(addresses)
    return [answer.content.decode().lower() for answer in answers]


def test_the_outcome_of_the_row_does_not_count(
    made: Certificate, as_role: Callable[[str], Client]
) -> None:
    Certificate.objects.filter(pk=made.pk).update(outcome="met")

    for text in shown(as_role("owner"), made):
        assert "not met" in text
        assert "every requirement is met" not in text


@pytest.mark.parametrize(
    "edit",
    [
        {"outcome": "met"},
        {"requirements": []},
        {"requirements": [7]},
        {"bound_to": None},
        {"outcome": 1},
        {"outcome": "splendid"},
        {"public_key": "AAAA"},
        {"signature": ""},
        {"format": "another"},
    ],
)
def test_an_edited_content_is_not_genuine_anywhere(
    made: Certificate, as_role: Callable[[str], Client], edit: dict[str, Any]
) -> None:
    Certificate.objects.filter(pk=made.pk).update(content=made.content | edit, outcome="met")

    for text in shown(as_role("owner"), made):
        assert "not genuine" in text
        assert "it still fits" not in text


@pytest.mark.parametrize("content", [[], {}, "text", None])
def test_a_content_that_is_none_breaks_no_page(
    made: Certificate, as_role: Callable[[str], Client], content: object
) -> None:
    made.content = content
    if content is not None:
        made.save()

    assert sealed(made).outcome is None
    if content is not None:
        shown(as_role("owner"), made)


def test_a_certificate_moved_to_another_judge_is_not_genuine_there(
    made: Certificate, rated_project: Project, as_role: Callable[[str], Client]
) -> None:
    other = rated_project.judges.exclude(pk=made.judge_id)[0]
    Certificate.objects.filter(pk=made.pk).update(judge=other)

    found = sealed(Certificate.objects.get(pk=made.pk))
    page = as_role("owner").get(made.get_absolute_url()).content.decode()

    assert found.outcome is None
    assert f"with key <code>{fingerprint(made.content['public_key'])}</code>" in page
    assert found.problem == f"it was signed for {made.judge.label} on {made.criterion.name}"


def test_one_that_another_site_signed_is_shown_as_its(
    made: Certificate, as_role: Callable[[str], Client]
) -> None:
    theirs = Ed25519PrivateKey.generate()
    key = base64.b64encode(theirs.public_key().public_bytes_raw()).decode()
    content = made.content | {"public_key": key}
    content["signature"] = base64.b64encode(theirs.sign(signed_part(content))).decode()
    Certificate.objects.filter(pk=made.pk).update(content=orjson.loads(orjson.dumps(content)))
    made.refresh_from_db()

    page, *_rest, answer, _list = shown(as_role("owner"), made)

    assert "another" in page
    assert fingerprint(key) in page
    assert '"signed_here":false' in answer.replace(" ", "")


def test_one_of_this_site_names_it_with_its_key(
    made: Certificate, as_role: Callable[[str], Client]
) -> None:
    page = shown(as_role("owner"), made)[0]

    assert "signed by this site" in page
    assert fingerprint(made.content["public_key"]) in page


def test_the_document_says_what_was_signed_and_what_never_was_is_given_as_it_is(
    made: Certificate, as_role: Callable[[str], Client]
) -> None:
    address = f"/api/v1/projects/{made.project.slug}/certificates/{made.pk}"
    client = as_role("owner")
    schemas = api.get_openapi_schema()["components"]["schemas"]
    signed = client.get(address).json()["certificate"]
    Certificate.objects.filter(pk=made.pk).update(content=["anything", {"nested": None}])
    never_signed = client.get(address).json()

    shape = schemas["CertificateOut"]["properties"]["certificate"]
    assert shape["anyOf"] == [{"$ref": "#/components/schemas/CertificateContent"}, {}]
    assert signed.keys() >= set(schemas["CertificateContent"]["required"])
    assert signed.keys() <= schemas["CertificateContent"]["properties"].keys()
    assert never_signed["certificate"] == ["anything", {"nested": None}]
    assert not never_signed["is_genuine"]
