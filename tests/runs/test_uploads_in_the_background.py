"""An upload is worked on by one worker at a time, outlives the loss of one, and is loaded whole or
not at all."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from evaluations.corpus.uploads import loading
from evaluations.corpus.uploads.keeping import ChosenFile, files_of, keep_upload
from evaluations.corpus.uploads.loading import (
    NotReadyError,
    neglected_uploads,
    set_columns,
    start_check,
    start_load,
)
from evaluations.models import CandidateOutput, Project, Upload, UploadPart, UploadState
from evaluations.web.forms.uploads import initial_options
from tests.conftest import OUTPUTS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Uploads that workers were called for: all, as if they were large."""
    monkeypatch.setattr(loading, "AT_ONCE_BYTES", -1)
    return []


@pytest.fixture
def upload(project: Project, tmp_path: Path) -> Upload:
    path = tmp_path / "outputs.jsonl"
    path.write_text(OUTPUTS)
    return keep_upload(
        project, None, [ChosenFile(path, "outputs.jsonl")], initial_options(["outputs.jsonl"])
    )


def state(upload: Upload) -> str:
    upload.refresh_from_db()
    return upload.state


def test_the_bytes_come_out_as_they_went_in(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(bytes(range(256)) * 10_000)  # more than two parts

    upload = keep_upload(project, None, [ChosenFile(path, "big")], initial_options(["big"]))

    assert UploadPart.objects.count() == 3
    with files_of(upload) as (file,):
        assert file.path.read_bytes() == path.read_bytes()


def test_checked_then_loaded_by_whoever_is_called(upload: Upload, called: list[int]) -> None:
    start_check(upload, call_worker=called.append)
    assert (state(upload), called) == ("checking", [upload.pk])
    loading.work_on_upload(upload.pk)
    assert state(upload) == "checked"
    assert not CandidateOutput.objects.exists()

    start_load(upload, call_worker=called.append)
    loading.work_on_upload(upload.pk)
    loading.work_on_upload(upload.pk)  # a message may come twice

    assert state(upload) == "done"
    assert upload.result["outputs"]["created"] == 6
    assert CandidateOutput.objects.count() == 6


def test_two_are_not_at_it_at_once(upload: Upload, called: list[int]) -> None:
    start_check(upload, call_worker=called.append)
    Upload.objects.update(beat_at=timezone.now())

    loading.work_on_upload(upload.pk)

    assert state(upload) == "checking"


def test_a_lost_worker_is_noticed_and_another_takes_it(upload: Upload, called: list[int]) -> None:
    start_check(upload, call_worker=called.append)
    assert neglected_uploads() == [upload.pk]
    Upload.objects.update(beat_at=timezone.now())
    assert neglected_uploads() == []
    Upload.objects.update(beat_at=timezone.now() - timedelta(minutes=1))
    assert neglected_uploads() == [upload.pk]

    loading.work_on_upload(upload.pk)

    assert state(upload) == "checked"


def test_who_was_taken_for_dead_does_not_undo_what_was_done(
    upload: Upload, called: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first worker sleeps too long; another one loads the upload, and its parts are gone when
    the first goes on."""
    start_check(upload, call_worker=called.append)
    loading.work_on_upload(upload.pk)
    start_load(upload, call_worker=called.append)
    real = loading.load_files

    def sleepy(*arguments: object, **named: object) -> object:
        monkeypatch.setattr(loading, "load_files", real)
        Upload.objects.update(beat_at=timezone.now() - timedelta(minutes=1))
        loading.work_on_upload(upload.pk)
        raise RuntimeError("the connection is gone")

    monkeypatch.setattr(loading, "load_files", sleepy)
    with pytest.raises(RuntimeError):
        loading.work_on_upload(upload.pk)

    assert state(upload) in ("done", "faulty")
    assert CandidateOutput.objects.count() == (6 if upload.state == "done" else 0)


def test_what_fails_unexpectedly_leaves_nothing_and_says_so(
    upload: Upload, called: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    start_check(upload, call_worker=called.append)
    loading.work_on_upload(upload.pk)
    start_load(upload, call_worker=called.append)
    monkeypatch.setattr(loading.UploadPart.objects, "filter", lambda **_kwargs: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        loading.work_on_upload(upload.pk)

    assert state(upload) == "faulty"
    assert "ZeroDivisionError" in upload.message
    assert not CandidateOutput.objects.exists()
    monkeypatch.undo()
    assert UploadPart.objects.exists()  # it can be tried again


@pytest.mark.parametrize("at", [UploadState.CHECKING, UploadState.LOADING, UploadState.DONE])
def test_nothing_is_changed_while_it_is_worked_on_or_when_it_is_loaded(
    upload: Upload, called: list[int], at: UploadState
) -> None:
    Upload.objects.update(state=at)

    with pytest.raises(NotReadyError, match="check it again"):
        set_columns(upload, {}, {})
    with pytest.raises(NotReadyError):
        start_check(upload, call_worker=called.append)
    with pytest.raises(NotReadyError):
        start_load(upload, call_worker=called.append)
    assert called == []


def test_only_what_was_checked_is_loaded(upload: Upload, called: list[int]) -> None:
    with pytest.raises(NotReadyError, match="not checked yet"):
        start_load(upload, call_worker=called.append)


def test_forgotten_uploads_go_with_the_next_one(
    project: Project, upload: Upload, tmp_path: Path
) -> None:
    Upload.objects.update(made_at=timezone.now() - timedelta(days=8))
    path = tmp_path / "new"
    path.write_text("x")

    keep_upload(project, None, [ChosenFile(path, "new")], initial_options(["new"]))

    assert [str(one) for one in Upload.objects.all()] == ["new"]
