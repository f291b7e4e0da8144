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
    EvaluationRun,
    GapCause,
    ItemState,
    Judge,
    ModelReply,
    Project,
    RunItem,
    RunState,
    Score,
    Study,
    StudyKind,
    StudyPart,
    System,
    Upload,
    UploadState,
)
from evaluations.models.members import AuditEntry
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


def test_upload_of_replies_is_undone_with_what_was_read_from_them(
    client: Client, load: Callable[..., Upload], project: Project
) -> None:
    header = "id,question,answer,human,judge\n"
    lines = [
        f"{n},Which {n}?,Answer {n}.,{v},<reason>{n}</reason><verdict>{v}</verdict>"
        for n, v in enumerate(["pass", "fail", "pass"] * 10)
    ]
    upload = load({"answers.csv": header + "\n".join(lines)})
    assert (RunItem.objects.count(), Score.objects.count(), ModelReply.objects.count()) == (30,) * 3

    client.post(f"{upload.get_absolute_url()}undo/")

    upload.refresh_from_db()
    assert upload.state == UploadState.UNDONE
    left = [kind for kind in (*KINDS, RunItem, ModelReply) if kind.objects.exists()]
    assert left == []


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


@pytest.fixture
def judged(
    load: Callable[..., Upload], project: Project, make_judge: Callable[..., Judge]
) -> Upload:
    """An upload whose outputs a finished run judged, for 3.00."""
    upload = load({"o.jsonl": OUTPUTS, "r.csv": RATINGS})
    judge = make_judge(project, base_url="http://127.0.0.1:1/v1", use_steps=False)
    run = EvaluationRun.objects.create(
        project=project,
        judge=judge,
        state=RunState.DONE,
        prompt_tokens=1_000_000,
        parameters={"price_in": "3", "price_out": "0"},
    )
    criterion = project.criteria.get(name="fluency")
    for output in CandidateOutput.objects.all():
        Score.objects.create(run=run, output=output, criterion=criterion, value=3)
        RunItem.objects.create(run=run, output=output, criterion=criterion, state=ItemState.DONE)
    return upload


def test_runs_that_judged_nothing_else_are_deleted_once_confirmed(
    client: Client, judged: Upload
) -> None:
    asked = client.get(judged.get_absolute_url()).content.decode()
    words = "1 run with 6 scores, which cost 3.00"
    assert words in " ".join(asked.split())

    refused = undo(client, judged)
    assert f"confirm that this also deletes {words}" in refused
    assert judged.state == UploadState.DONE
    run = EvaluationRun.objects.get()
    client.post(f"{judged.get_absolute_url()}undo/", {"run": run.pk})

    judged.refresh_from_db()
    assert judged.state == UploadState.UNDONE
    assert counts() == dict.fromkeys(counts(), 0) | {"Judge": 1}
    assert not EvaluationRun.objects.exists()
    assert words in AuditEntry.objects.latest("pk").detail


@pytest.mark.parametrize("why", ["other outputs", "not over", "a study", "a cause"])
def test_other_runs_keep_an_upload(
    client: Client, load: Callable[..., Upload], judged: Upload, why: str
) -> None:
    run, project = EvaluationRun.objects.get(), judged.project
    if why == "other outputs":
        load({"o.jsonl": OUTPUTS.splitlines()[0].replace('"d1"', '"other"')})
        RunItem.objects.create(run=run, output=CandidateOutput.objects.latest("pk"))
    elif why == "not over":
        EvaluationRun.objects.update(state=RunState.PAUSED)
    elif why == "a study":
        study = Study.objects.create(
            project=project,
            judge=run.judge,
            criterion=project.criteria.first(),
            kind=StudyKind.AGAIN,
        )
        StudyPart.objects.create(study=study, number=1, run=run)
    else:
        GapCause.objects.create(
            judge=run.judge,
            criterion=project.criteria.first(),
            output=CandidateOutput.objects.first(),
        )
    before = counts()

    page = undo(client, judged)

    assert "The upload was not undone" in page
    assert ("based on scores" if why == "a cause" else "6 scores and 6 items of runs") in page
    assert counts() == before


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
