"""Certificates that others wrote: an archive's are checked when they are imported, numbers beyond
64 bits crash nothing, and what another site signed is that site's word."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import Client

from assurance.certifying import verifying
from assurance.certifying.certificates import (
    certify,
    read_requirements,
    signed_part,
)
from assurance.certifying.sealed import fingerprint
from assurance.certifying.verifying import REFUSED, VerifyError, read_certificate, verify
from evaluations.models import Certificate, Criterion, Judge
from evaluations.models.sealing import public_key
from evaluations.projects.archive.read import read_archive
from geval.files.archive.record_file import ArchiveError
from tests.archive.test_hostile_archives import edited

pytestmark = pytest.mark.django_db(transaction=True)
BEYOND = 2**64


@pytest.fixture
def made(judge: Judge, criterion: Criterion) -> Certificate:
    """A certificate of what is met."""
    found = certify(judge, criterion, read_requirements(["documents>=1"]))
    assert found.outcome == "met"
    return found


def nested(content: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A content with another value at a path such as "bound_to.texts.count"."""
    copy = orjson.loads(orjson.dumps(content))
    put(copy, path, value)
    return copy


def put(place: Any, path: str, value: object) -> None:
    *parents, last = [int(name) if name.isdigit() else name for name in path.split(".")]
    for name in parents:
        place = place[name]
    place[last] = value


def signed_elsewhere(content: dict[str, Any]) -> dict[str, Any]:
    theirs = Ed25519PrivateKey.generate()
    key = base64.b64encode(theirs.public_key().public_bytes_raw()).decode()
    content = content | {"public_key": key}
    content["signature"] = base64.b64encode(theirs.sign(signed_part(content))).decode()
    return content


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("outcome", "splendid", "outcome"),
        ("outcome", 1, "outcome"),
        ("epsilon", "0.2", "epsilon"),
        ("epsilon", 7.0, "epsilon"),
        ("requirements", [], "requirements"),
        ("requirements", [7], "requirements.0"),
        ("requirements.0.more_documents", -1, "requirements.0.more_documents"),
        ("requirements.0.more_documents", BEYOND, "requirements.0.more_documents"),
        ("requirements.0.value", "much", "requirements.0.value"),
        ("bound_to", {}, "has no bound_to.prompt"),
        ("bound_to.texts.count", BEYOND, "bound_to.texts.count"),
        ("bound_to.texts.digest", "<b>", "bound_to.texts.digest"),
        ("bound_to.answered_by", "gpt", "bound_to.answered_by"),
        ("made_at", "yesterday", "made_at"),
        ("public_key", None, "public_key"),
        ("format", "another", "format"),
        ("more", "fields", "more"),
    ],
)
def test_odd_values_of_an_archives_certificate_are_refused_with_where(
    made: Certificate, path: str, value: object, said: str
) -> None:
    def edit(row: dict[str, Any]) -> None:
        put(row["content"], path, value)

    with pytest.raises(ArchiveError) as refused:
        read_archive(edited(made.project, "certificates", edit), slug="copy")

    assert str(refused.value).startswith(f"certificates.jsonl, line 1: content: {said}") or (
        said == "format" and "not a certificate of this format" in str(refused.value)
    )


def test_the_outcome_of_another_site_is_said_to_be_its_word(
    made: Certificate, as_role: Callable[[str], Client]
) -> None:
    Certificate.objects.filter(pk=made.pk).update(content=signed_elsewhere(made.content))
    client = as_role("owner")

    answer = client.get(f"/api/v1/projects/small/certificates/{made.pk}").json()
    listed = client.get("/api/v1/projects/small/certificates").json()["items"][0]
    badge = client.get(f"{made.get_absolute_url()}badge.svg")
    page = client.get(made.get_absolute_url()).content.decode()

    assert answer["outcome"] == listed["outcome"] == "met, says another site"
    assert not answer["signed_here"]
    assert answer["fits"]
    assert badge.status_code == 404
    assert "badge.svg" not in page
    assert "Met, says another site." in page
    assert fingerprint(Certificate.objects.get().content["public_key"]) in page


@pytest.mark.parametrize("key", ["ours", "theirs"])
def test_verify_checks_the_signature_before_anything_is_compared(
    made: Certificate, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    def compared(*_arguments: object) -> None:
        raise AssertionError("it was compared")

    monkeypatch.setattr(verifying, "bindings_now", compared)
    content = made.content if key == "ours" else signed_elsewhere(made.content)
    changed = content | {"outcome": "not met"}

    found = verify(changed, key=public_key())

    assert found.exit == REFUSED
    assert found.said[0].startswith("Refused: it was changed after")
    assert len(found.said) == 1


@pytest.mark.parametrize(
    ("path", "value"),
    [("bound_to.texts", 5), ("bound_to.texts.count", BEYOND), ("requirements.0", {})],
)
def test_a_file_with_odd_values_is_no_certificate(
    made: Certificate, tmp_path: Path, path: str, value: object
) -> None:
    file = tmp_path / "certificate.json"
    text = orjson.dumps(nested(made.content, path, "PLACE")).decode()
    written = str(value) if isinstance(value, int) else "{}"
    file.write_text(text.replace('"PLACE"', written))

    with pytest.raises(VerifyError, match="not a whole certificate"):
        read_certificate(file)
