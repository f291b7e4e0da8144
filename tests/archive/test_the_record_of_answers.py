"""The record of annotation comes back from a project's archive: every answer with its comment,
flag, time, check, history and review, and adjudicators' decisions; with pseudonyms on request."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.answering.submission import submit
from annotations.models import Assignment, Campaign, Rating
from annotations.planning.assignment import queue_of, skip
from annotations.planning.campaigns import open_campaign, seat_annotators
from annotations.results.adjudication import decide
from annotations.results.reviewing import exclude, hand_out_again, reject
from evaluations.models import Membership, Project, Role
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from evaluations.reports.ratings.answers import answer_records, decision_records
from geval.files.archive.record_file import ArchiveError
from tests.archive.test_hostile_archives import edited, setting

pytestmark = pytest.mark.django_db(transaction=True)


def fields_for(campaign: Campaign, assignment: Assignment, point: str) -> dict[str, str]:
    keys = list(campaign.criteria.values_list("pk", flat=True)) or [0]
    first, last = assignment.shown[0], assignment.shown[-1]
    fields = {
        "rating": {f"score-{key}": point for key in keys},
        "pairwise": {f"choice-{key}": "1" for key in keys},
        "best_worst": {f"best-{key}": str(first) for key in keys}
        | {f"worst-{key}": str(last) for key in keys},
        "ranking": {
            f"rank-{key}-{pk}": str(rank)
            for key in keys
            for rank, pk in enumerate(assignment.shown, start=1)
        },
    }[campaign.kind]
    return fields | {"comment": f"Said of {assignment.item.position}.", "flagged": "1"}


@pytest.fixture
def recorded(small_project: Project, make_user: Callable[..., User]) -> Project:
    """Campaigns of ratings and of pairs: answers, changes, skips, a rejection, a hand-out, and
    decisions."""
    users = [make_user(name) for name in ("ann", "bob")]
    owner = make_user("olga")
    for user in users:
        Membership.objects.create(project=small_project, user=user, role=Role.ANNOTATOR)
    for kind in ("rating", "pairwise"):
        campaign = Campaign.objects.create(
            project=small_project, name=kind, kind=kind, overlap=2, adjudicate_beyond=0.5,
            span_categories=["Style"] if kind == "rating" else [],
            attention_checks=True, check_percent=50,
        )  # fmt: skip
        if kind == "rating":
            campaign.criteria.set(small_project.criteria.all())
        seat_annotators(campaign, users)
        open_campaign(campaign)
        for user, point in zip(users, ("2", "4"), strict=True):
            seat = campaign.seats.select_related("campaign__project").get(annotator__user=user)
            for pk in queue_of(seat)[:4]:
                row = Assignment.objects.select_related("item").get(pk=pk)
                fields = fields_for(campaign, row, point)
                if kind == "rating":
                    marks = [{"start": 0, "end": 1, "category": "Style"}]
                    fields["spans"] = json.dumps(marks)
                submit(seat, pk, fields, user=user, version=0, seconds=0.01)
            changed = Assignment.objects.filter(campaign=campaign, annotator__user=user).first()
            assert changed is not None
            submit(seat, changed.pk, fields_for(campaign, changed, "5") | {"comment": "Changed."},
                   user=user, version=1, seconds=0.02)  # fmt: skip
            for pk in queue_of(seat)[:1]:
                skip(seat, pk, "I know who wrote it")
    submitted = Assignment.objects.filter(state="submitted", item__kind="ordinary").order_by("pk")
    reject(submitted[0].pk, user=owner, reason="Guessed.")
    reject(submitted[1].pk, user=owner, reason="Guessed too.")
    hand_out_again(
        Assignment.objects.filter(state="rejected").order_by("pk").values_list("pk", flat=True)[1],
        user=owner,
    )
    for campaign in small_project.campaigns.all():
        item = campaign.items.filter(kind="ordinary").order_by("position")[0]
        model = Assignment(item=item, shown=item.outputs)
        decide(item, fields_for(campaign, model, "3"), user=owner, note="Read it again.")
    return small_project


def copied(project: Project, **how: bool) -> Project:
    content = io.BytesIO()
    write_archive(project, content, **how)
    content.seek(0)
    return read_archive(content, slug="copy", name="Copy")


def record_of(project: Project) -> list[dict[str, Any]]:
    return [
        row | {"systems": list(row["systems"])}
        for row in (*answer_records(project), *decision_records(project))
    ]


def test_every_answer_comes_back(recorded: Project) -> None:
    original = record_of(recorded)
    assert {row.get("state") for row in original} >= {"submitted", "skipped", "rejected", "expired"}
    assert any(row.get("passed") is not None for row in original)
    assert any(row.get("changes") for row in original)
    assert any(row.get("reviews") for row in original)
    assert any(row.get("answer", {}).get("spans") for row in original)

    copy = copied(recorded)

    assert record_of(copy) == original
    names = ("criterion__name", "annotator__name", "score", "comment", "output__text")
    of = {"criterion__project": recorded}, {"criterion__project": copy}
    before, after = (sorted(Rating.objects.filter(**one).values_list(*names)) for one in of)
    assert before == after
    assert any(comment for _, _, _, comment, _ in after)


def test_pseudonyms_leave_no_name_of_an_annotator_or_reviewer(recorded: Project) -> None:
    person = recorded.annotators.get(name="bob")
    exclude(person, user=User.objects.get(username="olga"), reason="Random.")
    content = io.BytesIO()
    write_archive(recorded, content, pseudonyms=True)

    with zipfile.ZipFile(content) as archive:
        text = "".join(archive.read(name).decode() for name in archive.namelist())
    names = [f'"{name}"' for name in ("ann", "bob", "olga")]
    assert [name for name in names if name in text] == []
    content.seek(0)
    copy = read_archive(content, slug="copy", name="Copy")
    assert {row["annotator"] for row in answer_records(copy)} <= {
        f"annotator {number}" for number in range(1, 1 + recorded.annotators.count())
    }
    assert copy.annotators.filter(exclusions__reason="Random.").count() == 1


def test_the_command_and_the_page_give_pseudonyms(
    recorded: Project, as_role: Callable[[str], Client]
) -> None:
    browser = as_role("owner")

    for address in ("/p/small/archive/?pseudonyms", "/api/v1/projects/small/archive?pseudonyms=1"):
        content = io.BytesIO(b"".join(browser.get(address)))
        with zipfile.ZipFile(content) as archive:
            assert b'"bob"' not in archive.read("annotators.jsonl")
            assert b'"annotator 1"' in archive.read("annotators.jsonl")


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("answers", {"answer": {"scores": {"coherence": "5"}}}, "scores"),
        ("answers", {"answer": {"unknown": 1}}, "unknown"),
        ("answers", {"systems": []}, "systems"),
        ("answers", {"state": "open"}, "state"),
        ("answers", {"systems": ["nobody"]}, "nobody"),
        ("campaign_items", {"places": -1}, "refuses"),
    ],
)
def test_an_answer_that_no_form_gives_is_refused(
    recorded: Project, name: str, values: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ArchiveError, match=problem):
        read_archive(edited(recorded, name, setting(**values)), slug="copy")
