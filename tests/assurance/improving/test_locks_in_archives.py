"""Archives carry locks, searches and looks; copies on this site and on another count the draw and
the looks of the original, however often and whenever they are imported."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.utils import timezone

from annotations.models import Rating
from assurance.improving.certificate import certificate
from assurance.improving.looking import look, looks_taken
from assurance.improving.work import request_search, work_on_search
from evaluations.corpus.locks.locking import drawn_before, lock_documents, unlock_documents
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
from geval.files.archive.errors import ArchiveError
from geval.improving.ground import ImproveError
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

    assert (copy.locked.seed, copy.locked.draw) == (locked.seed, locked.draw)
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


def test_looks_in_a_copy_and_in_the_original_are_the_same_looks(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    copy = read_archive(archived(judge.project, with_locked=True), slug="copy")
    twin = copy.judges.get(name=judge.name), copy.criteria.get()
    assert withheld_documents(copy.pk)

    look(found_by(*twin, Change.PANEL))
    look(found_by(judge, criterion, Change.CALIBRATION))

    assert locked.looks_used() == copy.locked.looks_used() == 2
    assert not withheld_documents(copy.pk)
    assert not withheld_documents(judge.project_id)
    another = found_by(*twin, Change.CALIBRATION)
    with pytest.raises(ImproveError, match="All 2 looks"):
        look(another)
    history = [event["what"] for event in certificate(locked)["history"]]
    assert history == ["drawn", "copied", "look", "look"]


@pytest.mark.parametrize("moment", ["before the lock", "after a look"])
def test_four_imports_give_no_second_draw(judge: Judge, criterion: Criterion, moment: str) -> None:
    early = archived(judge.project)
    locked = lock_documents(judge.project, seed="fixed", looks=2)
    look(found_by(judge, criterion, Change.PANEL))
    archive = early if moment == "before the lock" else archived(judge.project)

    for number in range(4):
        archive.seek(0)
        copy = read_archive(archive, slug=f"copy-{number}")
        assert copy.locked.document_ids() == [
            copy.documents.get(doc_id=one.doc_id).pk
            for one in judge.project.documents.filter(pk__in=locked.document_ids())
        ]
        assert looks_taken(copy.locked) == 1
        assert withheld_documents(copy.pk)
        with pytest.raises(ValidationError, match="locked documents already"):
            lock_documents(copy)


@pytest.mark.parametrize("is_removed", [False, True])
def test_deleting_the_project_gives_no_new_draw_either(
    judge: Judge, criterion: Criterion, is_removed: bool
) -> None:
    archive = archived(judge.project)
    locked = lock_documents(judge.project, seed="fixed", looks=2)
    look(found_by(judge, criterion, Change.PANEL))
    names = {one.doc_id for one in judge.project.documents.filter(pk__in=locked.document_ids())}
    Project.objects.filter(pk=judge.project_id).update(archived_at=timezone.now())
    delete_project(judge.project, by="ada")
    if is_removed:
        list(remove_deleted())

    copy = read_archive(archive, slug="copy")

    held = copy.documents.filter(pk__in=copy.locked.document_ids())
    assert {one.doc_id for one in held} == names
    assert looks_taken(copy.locked) == 1
    assert "1 of its 2 looks are used" in drawn_before(copy.locked)


def test_documents_with_other_names_are_locked_as_they_were(
    locked: LockedDocuments, project: Project, load: Callable[..., object]
) -> None:
    texts = set(
        locked.project.documents.filter(pk__in=locked.document_ids()).values_list(
            "source", flat=True
        )
    )
    other = Project.objects.create(slug="other", name="Other")
    rows = "\n".join(f"n{number},s,Text {number}.,Out" for number in range(60))
    load(other, {"outputs.csv": f"doc_id,system_id,source,output\n{rows}\n"})

    again = lock_documents(other, share=0.9, looks=9, seed="wished")

    held = other.documents.filter(pk__in=again.document_ids())
    assert set(held.values_list("source", flat=True)) == texts
    assert (again.seed, again.looks_allowed) == ("fixed", 2)
    assert "locked before" in drawn_before(again)


def test_nine_known_texts_are_a_coincidence(
    locked: LockedDocuments, load: Callable[..., object]
) -> None:
    other = Project.objects.create(slug="other", name="Other")
    rows = "\n".join(f"n{number},s,Text {number}.,Out" for number in range(51, 90))
    load(other, {"outputs.csv": f"doc_id,system_id,source,output\n{rows}\n"})

    assert drawn_before(lock_documents(other)) == ""


def test_what_was_opened_is_not_locked_again(locked: LockedDocuments) -> None:
    archive = archived(locked.project)
    unlock_documents(locked)
    archive.seek(0)
    copy = read_archive(archive, slug="copy")
    LockedDocuments.objects.filter(project=copy).delete()

    with pytest.raises(ValidationError, match="opened on"):
        lock_documents(copy)


def test_another_site_counts_the_looks_that_an_archive_brings(
    judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    look(found_by(judge, criterion, Change.PANEL))
    archive = archived(judge.project)
    forget_site()

    copy = read_archive(archive, slug="copy")
    archive.seek(0)
    again = read_archive(archive, slug="again")

    assert looks_taken(copy.locked) == looks_taken(again.locked) == 1
    events = LockEvent.objects.filter(draw=locked.draw)
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
