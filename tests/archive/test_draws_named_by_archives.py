"""What an archive says of draws is said of its copy, and opens no ratings and takes no looks in
another project."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluations.corpus.locks.locking import lock_documents
from evaluations.corpus.store import LoadResult
from evaluations.models import Judge, LockedDocuments, LockedText, LockEvent, Project
from evaluations.models.improving import EventKind, withheld_documents
from evaluations.projects.archive.read import read_archive
from geval.files.archive.record_file import ArchiveError
from tests.archive.test_hostile_archives import changed, edited, setting
from tests.archive.test_round_trip import archived
from tests.strict_judge import judge, locked, rated_project

__all__ = ["judge", "locked", "rated_project"]
pytestmark = pytest.mark.django_db(transaction=True)


def event(draw: str, kind: EventKind, minute: int, **content: Any) -> bytes:
    at = f"2020-01-01T00:{minute:02}:00+00:00"
    row = {"draw": draw, "kind": kind, "at": at, "by": "", "project": "", "content": content}
    return json.dumps(row).encode() + b"\n"


def saying(project: Project, *events: bytes) -> io.BytesIO:
    """The archive of a project with more lock events."""

    def count(data: bytes) -> bytes:
        manifest = json.loads(data)
        manifest["records"]["lock_events"] += len(events)
        return json.dumps(manifest).encode()

    return changed(
        archived(project),
        lock_events_jsonl=lambda data: data + b"".join(events),
        manifest_json=count,
    )


@pytest.fixture
def other(load: Callable[..., LoadResult]) -> Project:
    """Somebody else's project, with a lock of its own."""
    other = Project.objects.create(slug="other", name="Other")
    rows = "\n".join(f"n{number},s,Another text {number}.,Out" for number in range(60))
    load(other, {"outputs.csv": f"doc_id,system_id,source,output\n{rows}\n"})
    lock_documents(other)
    return other


def test_events_of_another_projects_draw_are_refused(
    locked: LockedDocuments, other: Project
) -> None:
    looks = [event(locked.draw, EventKind.LOOK, minute) for minute in range(2)]

    with pytest.raises(ArchiveError, match=r"lock_events.jsonl, line 2: draw .* is not in locks"):
        read_archive(saying(other, *looks), slug="copy")

    assert locked.looks_used() == 0
    assert withheld_documents(locked.project_id)


def test_a_lock_with_the_name_of_another_draw_takes_none_of_its_looks(
    locked: LockedDocuments, other: Project
) -> None:
    def posing(data: bytes) -> bytes:
        return data.replace(other.locked.draw.encode(), locked.draw.encode())

    archive = saying(other, event(other.locked.draw, EventKind.LOOK, 1))

    copy = read_archive(changed(archive, locks_jsonl=posing, lock_events_jsonl=posing), slug="copy")

    assert copy.locked.looks_used() == 1
    assert locked.looks_used() == 0
    assert withheld_documents(locked.project_id)


def test_the_key_of_a_lock_does_not_stand_for_a_draw(
    locked: LockedDocuments, other: Project
) -> None:
    def posing(data: bytes) -> bytes:
        return json.dumps(json.loads(data) | {"lock": locked.draw}).encode() + b"\n"

    archive = saying(other, event(locked.draw, EventKind.LOOK, 1))

    with pytest.raises(ArchiveError, match="is not in locks"):
        read_archive(changed(archive, locks_jsonl=posing), slug="copy")


@pytest.mark.parametrize("kind", [EventKind.LOOK, EventKind.UNLOCKED])
def test_events_of_an_archive_are_those_of_its_copy(
    judge: Judge, locked: LockedDocuments, kind: EventKind
) -> None:
    events = [event(locked.draw, kind, minute) for minute in range(2)]

    read_archive(saying(judge.project, *events), slug="copy")

    assert locked.looks_used() == 0
    assert withheld_documents(locked.project_id)


def test_a_lock_that_an_archive_opened_is_open_in_its_copy_alone(locked: LockedDocuments) -> None:
    archive = edited(locked.project, "locks", setting(unlocked_at="2020-01-01T00:00:00+00:00"))

    copy = read_archive(archive, slug="copy")

    assert copy.locked.is_open
    assert withheld_documents(locked.project_id)


def test_a_draw_that_the_site_learns_from_an_archive_has_its_events(
    judge: Judge, locked: LockedDocuments
) -> None:
    archive = saying(judge.project, event(locked.draw, EventKind.LOOK, 1))
    LockEvent.objects.all().delete()
    LockedText.objects.all().delete()

    copy = read_archive(archive, slug="copy")

    assert copy.locked.looks_used() == 1
    assert LockEvent.objects.get(kind=EventKind.LOOK).from_archive
