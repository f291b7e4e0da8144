"""An upload that ends its worker is tried three times and put aside; what a killed process left
behind is cleared."""

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from evaluations.corpus.uploads import keeping, loading
from evaluations.corpus.uploads.keeping import ChosenFile, clear_leftovers, keep_upload
from evaluations.corpus.uploads.loading import neglected_uploads, start_check, work_on_upload
from evaluations.models import Project, Upload, UploadState
from evaluations.web.forms.uploads import initial_options
from tests.conftest import OUTPUTS

pytestmark = pytest.mark.django_db(transaction=True)


class KilledError(BaseException):
    """What a killed process does not handle."""


@pytest.fixture
def upload(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Upload:
    """One that a worker has to check."""
    monkeypatch.setattr(loading, "AT_ONCE_BYTES", -1)
    path = tmp_path / "outputs.jsonl"
    path.write_text(OUTPUTS)
    upload = keep_upload(
        project, None, [ChosenFile(path, "outputs.jsonl")], initial_options(["outputs.jsonl"])
    )
    start_check(upload, call_worker=lambda _pk: None)
    return upload


def killed(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker takes it and is gone; half a minute passes."""

    def kill(*_given: Any, **_named: Any) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(loading, "load_rest", kill)
        with pytest.raises(KilledError):
            work_on_upload(upload.pk)
    Upload.objects.update(beat_at=timezone.now() - timedelta(minutes=1))


def test_after_three_workers_it_is_put_aside_and_said_on_its_page(
    upload: Upload, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for attempt in (1, 2, 3):
        assert neglected_uploads() == [upload.pk]
        killed(upload, monkeypatch)
        assert Upload.objects.get().attempts == attempt

    assert neglected_uploads() == []
    work_on_upload(upload.pk)  # a message that comes late
    parked = Upload.objects.get()
    assert (parked.state, parked.attempts) == (UploadState.INVALID, 3)
    client = Client()
    client.force_login(owner)
    page = client.get(parked.get_absolute_url()).content.decode()
    assert "worker stopped 3 times while it" in page
    assert "Retry upload" in page


def test_trying_again_gives_it_new_attempts(
    upload: Upload, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        killed(upload, monkeypatch)
    assert neglected_uploads() == []
    client = Client()
    client.force_login(owner)
    monkeypatch.setattr("evaluations.people.waking.send", lambda _task, _pk: None)

    client.post(f"{upload.get_absolute_url()}load/")

    assert (Upload.objects.get().state, Upload.objects.get().attempts) == (UploadState.CHECKING, 0)
    work_on_upload(upload.pk)
    assert Upload.objects.get().state == UploadState.CHECKED


def disk_full(*_given: Any, **_named: Any) -> None:
    raise OSError(28, "No space left on device")


def database_full(*_given: Any, **_named: Any) -> None:
    raise OperationalError("could not extend file") from psycopg.errors.DiskFull(
        "could not extend file"
    )


@pytest.mark.parametrize(
    ("target", "name", "failure"),
    [
        (TemporaryFileUploadHandler, "receive_data_chunk", disk_full),
        (keeping, "_keep_parts", database_full),
        (keeping, "_keep_parts", disk_full),
    ],
)
def test_a_full_disk_while_files_arrive_is_an_answer(
    owner: User, monkeypatch: pytest.MonkeyPatch, target: Any, name: str, failure: Any
) -> None:
    monkeypatch.setattr(target, name, failure)
    client = Client(raise_request_exception=False)
    client.force_login(owner)

    answer = client.post(
        "/p/small/data/upload/", {"files": [SimpleUploadedFile("a.jsonl", OUTPUTS.encode())]}
    )

    assert answer.status_code == 507
    assert "free some space" in answer.content.decode()
    assert not Upload.objects.exists()


def test_an_upload_that_fails_while_somebody_waits_is_a_page_and_no_failure(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "load_rest", lambda *_given, **_named: 1 // 0)
    client = Client()
    client.force_login(owner)

    page = client.post(
        "/p/small/data/upload/",
        {"files": [SimpleUploadedFile("a.jsonl", OUTPUTS.encode())]},
        follow=True,
    )

    assert page.status_code == 200
    assert "Unexpected error: ZeroDivisionError" in page.content.decode()


def test_what_is_older_than_a_day_is_cleared(settings: Any, tmp_path: Path) -> None:
    settings.TEMPORARY_DIR = tmp_path
    for name, age in (("old.upload", 90_000), ("new.upload", 100)):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    old = tmp_path / "tmpfolder"
    old.mkdir()
    (old / "1").write_text("x")
    os.utime(old, (time.time() - 90_000,) * 2)

    assert clear_leftovers() == 2
    assert [path.name for path in tmp_path.iterdir()] == ["new.upload"]
