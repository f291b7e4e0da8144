"""Archives carry locks, searches and looks; a copy has a draw of its own, which its certificate
counts among those of the same texts."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.utils import timezone

from annotations.models import Rating
from assurance.improving.certificate import certificate
from assurance.improving.looking import look, looks_taken
from assurance.improving.work import request_search, work_on_search
from evaluations.corpus.locks.locking import lock_documents
from evaluations.models import (
    Candidate,
    Change,
    Criterion,
    Judge,
    LockedDocuments,
    LockedText,
    LockEvent,
    Look,
    Project,
    Search,
)
from evaluations.models.improving import withheld_documents
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from evaluations.projects.deletion import delete_project, remove_deleted
from evaluations.reports.report import build_report
from geval.files.archive.record_file import ArchiveError
from tests.archive.test_hostile_archives import edited, setting

pytestmark = pytest.mark.django_db(transaction=True)


def archived(project: Project, *, with_locked: bool = False) -> io.BytesIO:
    content = io.BytesIO()
    write_archive(project, content, with_locked=with_locked)
    content.seek(0)
    return content


def found_by(judge: Judge, criterion: Criterion, change: Change) -> Candidate:
    search = request_search(judge, criterion, [change])
    work_on_search(search.pk)
    return search.candidates.get()


def last_look(judge: Judge, criterion: Criterion) -> None:
    """Both looks of the fixture."""
    look(found_by(judge, criterion, Change.PANEL))
    look(found_by(judge, criterion, Change.CALIBRATION))


def forget_site() -> None:
    """As another site, which knows nothing of this one."""
    LockEvent.objects.all().delete()
    LockedText.objects.all().delete()


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    Look.objects.all().delete()  # they keep their locks and candidates


def test_a_copy_has_the_draw_its_searches_and_its_looks(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    look(found_by(judge, criterion, Change.PANEL))

    copy = read_archive(archived(judge.project), slug="copy")

    assert (copy.locked.seed, copy.locked.share) == (locked.seed, locked.share)
    assert copy.locked.draw != locked.draw
    assert certificate(locked)["earlier_draws"] is None
    assert certificate(copy.locked)["earlier_draws"] == "2nd draw of 60 of these 60 texts"
    assert looks_taken(copy.locked) == 1
    first, second = (certificate(one.locked)["looks"][0] for one in (judge.project, copy))
    assert {**first, "candidate": 0} == {**second, "candidate": 0}
    assert second["by"] == "the command line"
    search = Search.objects.get(project=copy)
    assert search.candidates.get().look.outcome == first["outcome"]


def test_ratings_of_locked_documents_stay_behind_until_the_last_look(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    hidden = locked.document_ids()
    theirs = Rating.objects.filter(output__document__in=hidden).count()
    every = Rating.objects.count()

    early = read_archive(archived(judge.project), slug="early")
    last_look(judge, criterion)
    late = read_archive(archived(judge.project), slug="late")

    def ratings(project: Project) -> int:
        return Rating.objects.filter(annotator__project=project).count()

    assert theirs > 0
    assert ratings(early) == every - theirs
    assert ratings(late) == every


def test_looks_in_a_copy_and_in_the_original_count_apart(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    copy = read_archive(archived(judge.project, with_locked=True), slug="copy")
    twin = copy.judges.get(name=judge.name), copy.criteria.get()

    last_look(*twin)

    assert (copy.locked.looks_used(), locked.looks_used()) == (2, 0)
    assert not withheld_documents(copy.pk)
    assert withheld_documents(judge.project_id)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_draws_of_copies_and_deleted_projects_count(judge: Judge, is_deleted: bool) -> None:
    archive = archived(judge.project)
    lock_documents(judge.project, seed="fixed", looks=2)
    if is_deleted:
        Project.objects.filter(pk=judge.project_id).update(archived_at=timezone.now())
        delete_project(judge.project, by="ada")
        list(remove_deleted())

    copy = read_archive(archive, slug="copy")

    assert not LockedDocuments.objects.filter(project=copy).exists()
    with pytest.raises(ValidationError, match="2nd draw of 60 of these 60 texts"):
        lock_documents(copy, may_redraw=False)
    assert certificate(lock_documents(copy))["earlier_draws"] == "2nd draw of 60 of these 60 texts"


def test_another_site_has_the_looks_that_an_archive_brings(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    look(found_by(judge, criterion, Change.PANEL))
    archive = archived(judge.project)
    forget_site()

    copy = read_archive(archive, slug="copy")
    archive.seek(0)
    again = read_archive(archive, slug="again")

    assert looks_taken(copy.locked) == looks_taken(again.locked) == 1
    events = LockEvent.objects.filter(draw=copy.locked.draw)
    assert sorted(events.values_list("kind", flat=True)) == ["drawn", "look"]
    assert build_report(copy).withheld == len(locked.document_ids())


def test_a_move_with_locked_ratings_says_so_on_the_certificate(
    locked: LockedDocuments, tmp_path: Path
) -> None:
    target = tmp_path / "moved.zip"
    call_command("export_project", locked.project.slug, str(target), "--with-locked")

    copy = read_archive(target, slug="copy")

    assert withheld_documents(copy.pk)
    history = certificate(copy.locked)["history"]
    assert [event["what"] for event in history] == ["drawn", "copied"]
    assert history[-1]["by"] == "the command line"


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("locks", {"share": 2.0}, "share"),
        ("locks", {"looks_allowed": 0}, "looks_allowed"),
        ("locks", {"exceptions": {"d1": 5}}, "exceptions"),
        ("lock_events", {"content": {}}, "content: has no seed"),
        ("searches", {"state": "waiting"}, "searches of an archive are over"),
        ("searches", {"found": {"today": "x"}}, "found: today"),
        ("searches", {"changes": [7]}, "changes"),
        ("candidates", {"training": {}}, "training: has no candidate"),
        ("looks", {"ranked": {"documents": 1}}, "ranked: has no candidate"),
    ],
)
def test_odd_values_are_refused_with_file_and_line(
    judge: Judge,
    criterion: Criterion,
    locked: LockedDocuments,
    name: str,
    values: dict[str, object],
    said: str,
) -> None:
    look(found_by(judge, criterion, Change.PANEL))
    archive = edited(judge.project, name, setting(**values))

    with pytest.raises(ArchiveError) as refused:
        read_archive(archive, slug="copy")

    assert f"{name}.jsonl, line 1: " in str(refused.value)
    assert said in str(refused.value)
