"""A project goes out as an archive and comes in elsewhere; the copy's report is the same to the
last digit."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotations.models import Preference, Rating, Span
from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    GapCause,
    ItemState,
    ModelReply,
    PairScore,
    Project,
    RunItem,
    RunState,
    Score,
)
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from evaluations.reports.report import build_report
from geval.files.archive.record_file import ArchiveError
from geval.reports.downloads.report_json import as_json

pytestmark = pytest.mark.django_db(transaction=True)
Load = Callable[..., object]
HOSTILE = 'a "quoted"\ttext\\n with \u2028, <script>, \u202e and =cmd|x'


def archived(project: Project) -> io.BytesIO:
    content = io.BytesIO()
    write_archive(project, content)
    content.seek(0)
    return content


def changed(archive: io.BytesIO, **files: Callable[[bytes], bytes | None]) -> io.BytesIO:
    """The archive with files changed, or left out where the change gives None."""
    content = io.BytesIO()
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(content, "w") as new:
        for name in old.namelist():
            change = files.get(name.replace(".", "_"))
            data = change(old.read(name)) if change else old.read(name)
            if data is not None:
                new.writestr(name, data)
    content.seek(0)
    return content


@pytest.fixture
def rich(judged_project: Project, load: Load, start_standin: Callable[..., object]) -> Project:
    """Ratings, preferences, spans, a G-Eval run with a failure, a pairwise run, chrF, imported
    scores and replies."""
    project = judged_project
    references = json.dumps(
        {
            "doc_id": "x",
            "system_id": "good",
            "source": HOSTILE,
            "output": HOSTILE,
            "references": [HOSTILE, "r"],
        }
    )
    preferences = (
        "doc_id,system_a,system_b,criterion,annotator,winner\nd1,good,odd,coherence,ann,odd\n"
    )
    preferences += "d2,odd,good,,ann,tie\n"
    scores = (
        "doc_id,system_id,criterion,judge,score\n"
        "d1,good,,ROUGE,0.1234567890123456\nd2,odd,fluency,other,3\n"
    )
    replies = [
        {
            "doc_id": "d1",
            "system_id": "odd",
            "criterion": "fluency",
            "all_responses": ["2", "3", "Hm."],
        }
    ]
    load(
        project,
        {
            "more.jsonl": references,
            "p.csv": preferences,
            "s.csv": scores,
            "r.json": json.dumps(replies),
        },
    )
    endpoint = project.endpoints.create(name="pairs", base_url=start_standin().base_url)  # type: ignore[attr-defined]
    pairs = JudgeDraft("Pairs", endpoint=endpoint, model="offline-stand-in", kind="pairwise")
    for draft, criteria in (
        (pairs, list(project.criteria.all())),
        (JudgeDraft("R", kind="chrf"), []),
    ):
        run = start_run(create_judge(project, draft)[0], criteria)
        work_on_run(run.pk, "tester")
    output = Rating.objects.filter(criterion__project=project).first().output  # type: ignore[union-attr]
    annotator = project.annotators.get(name="ann")
    Span.objects.create(
        annotator=annotator, output=output, start=0, end=3, quote="The", category="style"
    )
    return project


def test_the_copys_report_is_equal_byte_for_byte(rich: Project) -> None:
    before = as_json(build_report(rich))
    archive = archived(rich)
    Project.objects.update(slug="the-first")

    copy = read_archive(archive)

    assert (copy.slug, copy.name) == ("small", "Small")
    assert as_json(build_report(copy)) == before


def test_every_record_is_there_again(rich: Project) -> None:
    archive = archived(rich)

    copy = read_archive(archive, slug="copy")

    def counts(project: Project) -> dict[str, int]:
        return {
            "outputs": sum(document.outputs.count() for document in project.documents.all()),
            "ratings": Rating.objects.filter(criterion__project=project).count(),
            "preferences": Preference.objects.filter(annotator__project=project).count(),
            "spans": Span.objects.filter(annotator__project=project).count(),
            "scores": Score.objects.filter(run__project=project).count(),
            "pairs": PairScore.objects.filter(run__project=project).count(),
            "items": RunItem.objects.filter(run__project=project).count(),
            "failed": RunItem.objects.filter(run__project=project, state=ItemState.FAILED).count(),
            "replies": ModelReply.objects.filter(project=project).count(),
            "judges": project.judges.count(),
        }

    assert counts(copy) == counts(rich)
    assert all(count > 0 for count in counts(copy).values())
    assert copy.documents.get(doc_id="x").references == [HOSTILE, "r"]
    assert copy.documents.get(doc_id="x").outputs.get().text == HOSTILE


def test_exporting_the_copy_gives_the_same_files(rich: Project) -> None:
    first = archived(rich)
    second = archived(read_archive(first, slug="copy"))

    with zipfile.ZipFile(first) as a, zipfile.ZipFile(second) as b:
        for name in a.namelist():
            if name in (
                "criteria.jsonl",
                "documents.jsonl",
                "outputs.jsonl",
                "ratings.jsonl",
                "preferences.jsonl",
            ):
                assert a.read(name) == b.read(name), name


def test_keys_are_not_in_an_archive(rich: Project) -> None:
    endpoint = rich.endpoints.first()
    assert endpoint is not None
    endpoint.keep_key("sk-secret-key")
    endpoint.save()

    with zipfile.ZipFile(archived(rich)) as archive:
        assert all(b"sk-secret" not in archive.read(name) for name in archive.namelist())
        assert "sealed" not in archive.read("endpoints.jsonl").decode()


def test_causes_of_gaps_are_there_again(rich: Project, owner: User) -> None:
    judge, criterion = rich.judges.get(name="Judge Judy"), rich.criteria.get(name="fluency")
    output = rich.documents.get(doc_id="d1").outputs.first()
    assert output is not None
    given = GapCause.objects.create(
        judge=judge, criterion=criterion, output=output, cause="source is cut", note=HOSTILE,
        given_by=owner, given_by_name="olga", given_at=timezone.now(),
    )  # fmt: skip

    copy = read_archive(archived(rich), slug="copy")

    (found,) = GapCause.objects.of_project(copy)
    assert (found.cause, found.note, found.given_by, found.given_by_name, found.given_at) == (
        "source is cut",
        HOSTILE,
        None,
        "olga",
        given.given_at,
    )
    assert (found.output.document.doc_id, found.judge.name) == ("d1", "Judge Judy")


def test_an_active_run_is_paused_in_the_copy(rich: Project) -> None:
    run = rich.runs.first()
    assert run is not None
    run.state = RunState.RUNNING
    run.save()

    copy = read_archive(archived(rich), slug="copy")

    assert not copy.runs.active().exists()
    assert copy.runs.filter(state=RunState.PAUSED).count() == 1


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"manifest_json": lambda _data: None}, "This zip is not a project archive"),
        (
            {"manifest_json": lambda data: data.replace(b'"version": 1', b'"version": 9')},
            "The archive has version 9",
        ),
        ({"ratings_jsonl": lambda _data: None}, "ratings.jsonl is missing in the archive"),
        ({"gap_causes_jsonl": lambda _data: None}, "gap_causes.jsonl is missing in the archive"),
        ({"ratings_jsonl": lambda data: data + b"{broken"}, "ratings.jsonl, line 25: "),
        (
            {"ratings_jsonl": lambda data: data.replace(b'"score":4', b'"points":4', 1)},
            "there is no 'score'",
        ),
        (
            {"ratings_jsonl": lambda data: b"\n".join(data.splitlines()[:-1])},
            "the manifest says 24",
        ),
        (
            {"ratings_jsonl": lambda data: data.replace(b'"doc_id":"d1"', b'"doc_id":"d9"', 1)},
            "ratings.jsonl, line 1: doc_id 'd9' system_id 'good' is not in outputs.jsonl",
        ),
        (
            {"ratings_jsonl": lambda data: data.replace(b'"score":4', b'"score":"x"', 1)},
            "ratings.jsonl, line 1: score is not a number that can be stored (x)",
        ),
        ({"ratings_jsonl": lambda data: data + data}, "the database refuses its rows"),
    ],
)
def test_a_damaged_archive_is_refused_with_the_place_and_leaves_nothing(
    small_project: Project, files: dict[str, Callable[[bytes], bytes | None]], said: str
) -> None:
    archive = changed(archived(small_project), **files)

    with pytest.raises(ArchiveError) as refused:
        read_archive(archive, slug="copy")

    assert said in str(refused.value)
    assert list(Project.objects.values_list("slug", flat=True)) == ["small"]


def test_what_is_no_zip_a_zip_bomb_and_a_taken_name_are_refused(
    small_project: Project, settings: object
) -> None:
    with pytest.raises(ArchiveError, match="cannot be read as a zip"):
        read_archive(io.BytesIO(b"no zip at all"))
    with pytest.raises(ArchiveError, match="A project 'small' already exists"):
        read_archive(archived(small_project))
    settings.ARCHIVE_LIMIT_BYTES = 100  # type: ignore[attr-defined]
    with pytest.raises(ArchiveError, match="this site accepts 0 MB"):
        read_archive(archived(small_project), slug="copy")


def test_commands_write_and_read_an_archive(rich: Project, tmp_path: Path) -> None:
    from io import StringIO

    from django.core.management import CommandError, call_command

    path, out = tmp_path / "small.zip", StringIO()

    call_command("export_project", "small", str(path), stdout=out)
    call_command("import_project", str(path), "--as", "copy", stdout=out)

    assert "7 outputs, 3 annotators" in out.getvalue() or "7 outputs" in out.getvalue()
    assert "Project copy was created: 4 documents" in out.getvalue()
    with pytest.raises(CommandError, match="already exists"):
        call_command("export_project", "small", str(path))
    assert not list(tmp_path.glob("*.part"))


def test_conversations_come_back_with_their_turns(project: Project, load: Load) -> None:
    turns = [
        {"role": "user", "text": HOSTILE},
        {"role": "assistant", "tool_calls": [{"name": "t", "arguments": "{}", "result": HOSTILE}]},
    ]
    session = {"session_id": "s", "system_id": "bot", "rate": "assistant", "turns": turns}
    whole = {"doc_id": "w", "system_id": "bot", "rate": "session", "turns": turns}
    load(project, {"said.jsonl": json.dumps(session) + "\n" + json.dumps(whole)})

    copy = read_archive(archived(project), slug="copy")

    there, here = (list(one.documents.order_by("pk")) for one in (project, copy))
    assert [one.history() for one in here] == [one.history() for one in there]
    assert [one.unit for one in here] == ["s", "w"]
    assert [one.outputs.get().turns for one in here] == [one.outputs.get().turns for one in there]
    assert not load(copy, {"said.jsonl": json.dumps(session)}).changed  # type: ignore[attr-defined]
