"""An upload is undone as a whole, or not at all: nothing that others made is lost."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotations.models import Annotator, Preference, Rating
from evaluations.models import (
    CandidateOutput,
    Criterion,
    Document,
    Judge,
    Project,
    Score,
    System,
    Upload,
    UploadState,
)
from tests.conftest import OUTPUTS, RATINGS

pytestmark = pytest.mark.django_db
KINDS = (Document, CandidateOutput, System, Rating, Annotator, Criterion, Preference, Score, Judge)
SCORES = "doc_id,system_id,criterion,judge,score\nd1,good,quality,gpt-4,4.5\n"
PREFERENCES = "doc_id,system_a,system_b,winner,annotator\nd1,good,odd,a,ann\n"


@pytest.fixture
def client(owner: User) -> Client:
    signed_in = Client()
    signed_in.force_login(owner)
    return signed_in


@pytest.fixture
def load(client: Client) -> Callable[[dict[str, str]], Upload]:
    def load_files(files: dict[str, str], **about: Any) -> Upload:
        sent = [SimpleUploadedFile(name, text.encode()) for name, text in files.items()]
        client.post("/p/small/data/upload/", {"files": sent, **about})
        upload = Upload.objects.latest("pk")
        client.post(f"{upload.get_absolute_url()}load/")
        upload.refresh_from_db()
        assert upload.state == UploadState.DONE
        return upload

    return load_files


def undo(client: Client, upload: Upload) -> str:
    page = client.post(f"{upload.get_absolute_url()}undo/", follow=True).content.decode()
    upload.refresh_from_db()
    return page


def counts() -> dict[str, int]:
    return {kind.__name__: kind.objects.count() for kind in KINDS}


def test_upload_of_everything_is_undone(
    client: Client, load: Callable[..., Upload], project: Project
) -> None:
    before = counts()
    upload = load({"o.jsonl": OUTPUTS, "r.csv": RATINGS, "s.csv": SCORES, "p.csv": PREFERENCES})
    assert all(counts().values())

    page = undo(client, upload)

    assert counts() == before
    assert upload.state == UploadState.UNDONE
    assert "This upload was undone." in page
    load({"o.jsonl": OUTPUTS, "r.csv": RATINGS})
    assert Rating.objects.exists()


def test_earlier_uploads_stay(
    client: Client, load: Callable[..., Upload], project: Project
) -> None:
    load({"o.jsonl": OUTPUTS})
    before = counts()
    later = load({"r.csv": RATINGS, "s.csv": SCORES})

    undo(client, later)

    assert counts() == before


@pytest.mark.parametrize(
    ("dependent", "reason"),
    [
        ({"r.csv": RATINGS}, "ratings depend on it"),
        ({"s.csv": SCORES}, "1 score depends on it"),
        ({"p.csv": PREFERENCES}, "1 preference depends on it"),
        (
            {"o.jsonl": OUTPUTS.splitlines()[0].replace('"good"', '"third"')},
            "1 output depends on it",
        ),
    ],
    ids=["ratings", "score", "preference", "output"],
)
def test_upload_that_others_depend_on_stays(
    client: Client,
    load: Callable[..., Upload],
    project: Project,
    dependent: dict[str, str],
    reason: str,
) -> None:
    first = load({"o.jsonl": OUTPUTS})
    load(dependent)
    before = counts()

    page = undo(client, first)

    assert reason in page
    assert counts() == before
    assert first.state == UploadState.DONE


def test_upload_that_changed_texts_stays(
    client: Client, load: Callable[..., Upload], project: Project
) -> None:
    load({"o.jsonl": OUTPUTS})
    record = json.loads(OUTPUTS.splitlines()[0]) | {"references": ["At one."]}
    later = load({"o.jsonl": json.dumps(record)})
    assert Document.objects.exclude(references=[]).count() == 1

    page = undo(client, later)

    assert "changed 1 existing documents" in page
    assert later.state == UploadState.DONE


def test_viewers_cannot_undo(
    load: Callable[..., Upload], project: Project, as_role: Callable[[str], Client]
) -> None:
    upload = load({"o.jsonl": OUTPUTS})

    answer = as_role("viewer").post(f"{upload.get_absolute_url()}undo/")

    assert answer.status_code in (403, 404)
    assert Document.objects.exists()
