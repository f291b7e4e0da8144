"""From the lock to the last look, no page, endpoint, download and command has a rating of a locked
document or what was said with it; whoever gave it sees it. Afterwards they do."""

import contextlib
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.models import (
    Annotator,
    Assignment,
    Campaign,
    CampaignItem,
    Decision,
    Preference,
    Rating,
)
from assurance.disagreements.causes import give_cause
from evaluations.models import Document, LockedDocuments, Look, Project
from tests.pages import test_rights as rights
from tests.pages.test_rights import place as every_place

pytestmark = pytest.mark.django_db
# A rating that nothing else shows, and what was said with it.
RATINGS, MEAN, SAID = (3.8219, 4.8219), "4.32", "quagmire"
# Not within a number: seconds of a time may be 34.32.
PLANTED = re.compile(
    "|".join(rf"(?<!\d){re.escape(each)}" for each in (*map(str, RATINGS), MEAN, SAID))
)
place = every_place


@pytest.fixture
def planted(place: dict[str, Any], make_user: Callable[..., User]) -> dict[str, Any]:
    """Two annotators' answers on a locked document: ratings, comments, a preference, a decision."""
    project: Project = place["project"]
    document = project.documents.get(doc_id="d1")
    LockedDocuments.objects.update(seed=seed_that_locks(project, document))
    Rating.objects.filter(output__document=document).delete()
    campaign = Campaign.objects.get(pk=place["campaign"])
    Campaign.objects.update(state="open", overlap=2, show_others=True, adjudicate_beyond=0.5)
    campaign.criteria.set(project.criteria.all())
    outputs = list(document.outputs.order_by("pk"))
    criteria = list(project.criteria.all())
    item = CampaignItem.objects.get(pk=place["campaign_item"])
    # The mean is the planted one, and the two are far enough apart to be decided.
    for number, score in enumerate(RATINGS):
        user = make_user(f"rater{number}")
        project.memberships.create(user=user, role="annotator")
        annotator = Annotator.objects.create(project=project, user=user, name=f"rater{number}")
        campaign.seats.create(annotator=annotator)
        for output in outputs:
            for criterion in criteria:
                Rating.objects.create(
                    output=output, criterion=criterion, annotator=annotator, score=score
                )
        Assignment.objects.create(
            campaign=campaign,
            item=item,
            annotator=annotator,
            state="submitted",
            lease_until=timezone.now(),
            submitted_at=timezone.now(),
            shown=[item.outputs[0]],
            answer={
                "scores": {str(one.pk): score for one in criteria},
                "comment": f"{SAID} {number}",
            },
        )
        Preference.objects.create(
            output_a=outputs[0], output_b=outputs[1], annotator=annotator, value=1
        )
    Decision.objects.create(item=item, answer={"scores": {}}, note=SAID)
    give_cause(
        project.judges.get(pk=place["judge"]), criteria[0], outputs[0], "judge is wrong",
        note=SAID, by=user,
    )  # fmt: skip
    return place | {"document": document.pk}


def take_the_last_look(place: dict[str, Any]) -> None:
    LockedDocuments.objects.update(looks_allowed=1)
    Look.objects.create(
        locked=LockedDocuments.objects.get(),
        candidate_id=place["candidate"],
        outcome="not proven",
        documents=1,
        confidence=0.95,
    )


def seed_that_locks(project: Project, document: Document) -> str:
    others = project.documents.exclude(pk=document.pk)
    for number in range(1000):
        lock = LockedDocuments(seed=str(number), share=0.4)
        if lock.holds(document.doc_id) and not any(lock.holds(one.doc_id) for one in others):
            return lock.seed
    raise AssertionError


def pages(place: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every address that is read, by name; those of outputs and items for each of them."""
    for method, name, _right in rights.ROWS:
        if method != "GET":
            continue
        address = rights.address(name, place, 0)
        yield name, address
        if name == "annotations:export":
            for other in ("ratings.jsonl", "preferences.csv", "preferences.jsonl"):
                yield f"{name} {other}", address.replace("ratings.csv", other)
    project = place["project"]
    for run in project.runs.all():
        for item in run.items.all():
            yield "every item", reverse("evaluations:item_detail", args=["small", run.pk, item.pk])
    cases = reverse("evaluations:disagreement_list", args=["small"])
    for output in Document.objects.get(pk=place["document"]).outputs.all():
        for criterion in project.criteria.all():
            yield (
                "every case",
                f"{cases}?output={output.pk}&criterion={criterion.pk}&judge={place['judge']}",
            )
    for ending in ("csv", "json", "html", "tex", "md", "txt"):
        yield f"report {ending}", reverse("evaluations:report_export", args=["small", ending])


def in_zip(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return "\n".join(archive.read(name).decode(errors="replace") for name in archive.namelist())


def text_of(path: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".parquet":
        return str(pyarrow.parquet.read_table(path).to_pylist())
    return in_zip(content) if content[:2] == b"PK" else content.decode(errors="replace")


def shown_on(client: Client, place: dict[str, Any]) -> set[str]:
    """The names of the pages that show what was planted."""
    found = set()
    session = client.cookies["sessionid"].value
    for name, address in pages(place):
        client.cookies["sessionid"] = session
        response = client.get(address)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        is_zip = response.get("Content-Type") == "application/zip"
        text = in_zip(content) if is_zip else content.decode(errors="replace")
        if PLANTED.search(text):
            found.add(name)
        # Who rates is no secret, but a line of preferences is one's answer.
        if name.startswith("annotations:export pref") and "rater0" in text:
            found.add(name)
    return found


def commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Every command that reads a project's ratings, in each of its forms."""
    for form in ("text", "json", "csv", "latex", "markdown"):
        yield f"report {form}", ["report", "small", "--format", form]
    for form in ("archive", "hugging-face", "label-studio", "argilla"):
        yield f"export {form}", ["export_project", "small", str(folder / form), "--as", form]
    yield "criteria", ["criteria", "small"]
    yield "runs", ["runs", "small"]


def printed_by(folder: Path) -> set[str]:
    """The names of the commands that print or write what was planted."""
    folder.mkdir()
    found = set()
    for name, words in commands(folder):
        output = io.StringIO()
        with contextlib.suppress(CommandError):
            call_command(*words, stdout=output)
        text = output.getvalue()
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            text += text_of(path)
            path.unlink()
        if PLANTED.search(text):
            found.add(name)
    return found


@pytest.mark.slow
def test_nothing_that_was_planted_is_anywhere_until_the_last_look(
    planted: dict[str, Any], as_role: Callable[[str], Client]
) -> None:
    owner = as_role("owner")
    assert shown_on(owner, planted) == set()
    take_the_last_look(planted)
    seen = shown_on(owner, planted)
    assert seen >= {
        "annotations:export",
        "annotations:export ratings.jsonl",
        "annotations:export preferences.csv",
        "annotations:export preferences.jsonl",
        "annotations:adjudication_item",
        "evaluations:document_list",
        "evaluations:document_detail",
        "evaluations:project_export",
        "every item",
        "every case",
        "/api/v1/projects/{slug}/ratings",
        "/api/v1/projects/{slug}/archive",
    }, seen


def test_no_command_prints_what_was_planted_until_the_last_look(
    planted: dict[str, Any], tmp_path: Path
) -> None:
    assert printed_by(tmp_path / "before") == set()
    take_the_last_look(planted)
    assert printed_by(tmp_path / "after") >= {
        "export archive", "export hugging-face", "export label-studio", "export argilla",
    }  # fmt: skip


def test_an_owner_who_opens_them_early_sees_them_and_is_on_the_certificate(
    planted: dict[str, Any], as_role: Callable[[str], Client], tmp_path: Path
) -> None:
    owner = as_role("owner")
    owner.post(reverse("evaluations:lock_open", args=["small"]))

    assert "export archive" in printed_by(tmp_path / "opened")
    certificate = owner.get("/api/v1/projects/small/locked").json()
    assert not certificate["withheld"]
    opened = certificate["history"][-1]
    assert (opened["what"], opened["by"]) == ("unlocked", "owner")
    assert opened["at"] == certificate["unlocked_at"]


def test_annotators_see_their_own_answers_and_not_those_of_others(
    planted: dict[str, Any], client: Client
) -> None:
    client.force_login(User.objects.get(username="rater0"))
    mine = Assignment.objects.get(annotator__name="rater0")
    campaign = planted["campaign"]
    own = client.get(reverse("annotations:task_list", args=["small", campaign])).content.decode()
    assert f"{SAID} 0" in own
    address = reverse("annotations:task_compare", args=["small", campaign, mine.pk])
    compared = client.get(address).content.decode()
    assert f"{SAID} 0" in compared
    assert f"{SAID} 1" not in compared
    assert "this document are not shown" in compared
    take_the_last_look(planted)
    assert f"{SAID} 1" in client.get(address).content.decode()
