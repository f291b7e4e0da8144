"""Whatever people did in two rounds of every kind of campaign comes back from an archive, and the
copy's archive has the same records."""

import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotations.answering.submission import submit
from annotations.errors import AnnotationError
from annotations.models import (
    Assignment,
    Campaign,
    CampaignKind,
    GuidelinesVersion,
    OpenLink,
    Seat,
)
from annotations.planning.assignment import keep_draft, queue_of, skip
from annotations.planning.campaigns import close_campaign, open_campaign, seat_annotators
from annotations.planning.known_answers import ids_by_name, known_answers
from annotations.results.adjudication import decide
from annotations.results.reviewing import exclude, hand_out_again, lift, reject, restore
from evaluations.models import CandidateOutput, Membership, Project, Role, System
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from geval.files.answers.gold import gold_of_rows
from geval.files.answers.pairs import with_ids, with_names

pytestmark = pytest.mark.django_db
Records = dict[str, list[dict[str, Any]]]
PEOPLE = ("ann", "bob", "cid")
EXPECTED = {
    "rating": [{"doc_id": "d1", "system_id": "good", "criterion": "fluency", "score": 4}],
    "pairwise": [{"doc_id": "d1", "system_a": "odd", "system_b": "good", "winner": "tie"}],
    "best_worst": [
        {"doc_id": "d2", "system_id": "good", "place": "best"},
        {"doc_id": "d2", "system_id": "odd", "place": "worst"},
        {"doc_id": "d2", "system_id": "third", "place": ""},
    ],
    "ranking": [
        {"doc_id": "d3", "system_id": system, "rank": rank}
        for rank, system in enumerate(("third", "odd", "good"), start=1)
    ],
}


def answer_to(row: Assignment, rng: random.Random) -> dict[str, str]:
    """The form of some answer to an item."""
    campaign, shown = row.campaign, row.shown
    fields = {"comment": rng.choice(["", 'So "so"\n\u2028']), "flagged": rng.choice(["", "1"])}
    for key in list(campaign.criteria.values_list("pk", flat=True)) or [0]:
        if campaign.kind == CampaignKind.RATING:
            fields[f"score-{key}"] = rng.choice(["1", "3", "5", "n/a", "n/a"])
        elif campaign.kind == CampaignKind.PAIRWISE:
            most = 2 if campaign.strength else 1
            fields[f"choice-{key}"] = str(rng.randint(-most, most))
        elif campaign.kind == CampaignKind.BEST_WORST:
            best, worst = rng.sample(shown, 2)
            fields |= {f"best-{key}": str(best), f"worst-{key}": str(worst)}
        else:
            fields |= {f"rank-{key}-{pk}": str(rng.randint(1, len(shown))) for pk in shown}
    if campaign.span_categories:
        start = rng.randint(0, 3)
        mark = {"start": start, "end": start + 2, "category": "Style", "severity": "minor"}
        fields["spans"] = json.dumps([mark] * rng.randint(1, 2))
    return fields


def act(row: Assignment, seat: Seat, rng: random.Random, users: list[User], *, place: int) -> None:
    """Somebody answers, changes, skips, or begins; an owner reviews it. What a walk may leave out
    is done for sure: the first item is answered and changed, and the second skipped."""
    user, owner = seat.annotator.user, users[-1]
    if place == 1:
        skip(seat, row.pk, "I wrote it")
        return
    for step in range(rng.randint(2, 8)):
        row.refresh_from_db()
        actions: list[Callable[[], object]] = [
            lambda: submit(seat, row.pk, answer_to(row, rng), user=user, version=row.version,
                           seconds=rng.choice([None, 0.01])),
        ]  # fmt: skip
        actions += [
            actions[0],
            lambda: skip(seat, row.pk, rng.choice(["", "I wrote it"])),
            lambda: keep_draft(seat, row.pk, number=row.draft_number + 1, draft={"comment": "hm"},
                               seconds=None),
            lambda: reject(row.pk, user=owner, reason="Guessed."),
            lambda: restore(row.pk, user=owner),
            lambda: hand_out_again(row.pk, user=owner),
        ]  # fmt: skip
        try:
            (actions[0] if place == 0 and step < 2 else rng.choice(actions))()
        except AnnotationError:
            continue  # not everything follows everything


def plan_round(
    project: Project, kind: str, number: int, users: list[User], rng: random.Random
) -> Campaign:
    with_criteria = kind == "rating" or number == 2
    criteria = list(project.criteria.all()) if with_criteria else []
    gold = [row | ({"criterion": "fluency"} if criteria else {}) for row in EXPECTED[kind]]
    campaign = Campaign.objects.create(
        project=project, name=f"{kind} {number}", kind=kind, overlap=2, group_size=3,
        strength=number == 2, order=rng.choice(["document", "random"]), seed=number,
        attention_checks=kind in ("rating", "pairwise"), check_percent=30,
        practice_items=number % 2, adjudicate_beyond=0.5, show_scores=number == 2,
        span_categories=["Style"] if kind == "rating" else [], span_severities=["minor"],
        gold=gold_of_rows(gold, kind, criteria, lambda: ids_by_name(project)),
    )  # fmt: skip
    campaign.criteria.set(criteria)
    OpenLink.objects.create(campaign=campaign, title="T", consent="C", address=f"{kind}-{number}")
    seat_annotators(campaign, users[:-1])
    if number == 3:
        annotator = campaign.seats.all()[0].annotator
        campaign.named_items.create(annotator=annotator, field="doc_id", wanted=["d1"])
    return campaign


@pytest.fixture
def lived_in(
    small_project: Project,
    load: Callable[..., object],
    make_user: Callable[..., User],
) -> Project:
    """Two rounds of every kind in which much happened, and a third that is not open yet."""
    rng = random.Random(0)
    small_project.criteria.update(allows_not_applicable=True)
    third = System.objects.create(project=small_project, name="third")
    for document in small_project.documents.all():
        CandidateOutput.objects.create(document=document, system=third, text="A third text.")
    chosen = "doc_id,system_a,system_b,criterion,annotator,winner\nd1,good,odd,fluency,ann,odd\n"
    load(small_project, {"p.csv": chosen})
    users = [make_user(name) for name in (*PEOPLE, "olga")]
    for user in users:
        Membership.objects.create(project=small_project, user=user, role=Role.RESEARCHER)
    for kind in CampaignKind.values:
        for number in (1, 2):
            campaign = plan_round(small_project, kind, number, users, rng)
            small_project.guidelines = f"Round {number} of {kind}s."
            GuidelinesVersion.objects.current(small_project, by=users[-1])
            small_project.save(update_fields=["guidelines"])
            open_campaign(campaign)
            for seat in campaign.seats.select_related("annotator__user", "campaign__project"):
                for index, pk in enumerate(queue_of(seat)):
                    row = Assignment.objects.select_related("item", "campaign").get(pk=pk)
                    act(row, seat, rng, users, place=index)
            # The walk may leave out the rarest steps.
            done = campaign.assignments.filter(state="submitted", item__kind="ordinary")[:2]
            for index, answer in enumerate(done):
                reject(answer.pk, user=users[-1], reason="Guessed.")
                if not index:
                    hand_out_again(answer.pk, user=users[-1])
            for item in campaign.items.filter(kind="ordinary")[:2]:
                model = Assignment(item=item, campaign=campaign, shown=item.outputs)
                decide(item, answer_to(model, rng), user=users[-1], note="Read again.")
            if number == 1:
                close_campaign(campaign)
        plan_round(small_project, kind, 3, users, rng)
    for name, ends in (("ann", True), ("cid", rng.choice([True, False]))):
        annotator = small_project.annotators.get(name=name)
        exclude(annotator, user=users[-1], reason="Careless.")
        if ends:
            lift(annotator, user=users[-1])
    return small_project


def records_of(project: Project) -> tuple[Records, io.BytesIO]:
    """The records of an archive, in which answers have numbers instead of ids."""
    content = io.BytesIO()
    write_archive(project, content)
    with zipfile.ZipFile(content) as archive:
        records: Records = {
            name: [json.loads(line) for line in archive.read(name).splitlines()]
            for name in archive.namelist()
            if name.endswith(".jsonl")
        }
    numbers = {row["answer_id"]: n for n, row in enumerate(records["answers.jsonl"])}
    for row in (row for rows in records.values() for row in rows if "answer_id" in row):
        row["answer_id"] = numbers[row["answer_id"]]
    content.seek(0)
    return records, content


def test_it_comes_back(lived_in: Project) -> None:
    before, archive = records_of(lived_in)
    gold = {row.name: known_answers(row) for row in lived_in.campaigns.all()}
    states = {row["state"] for row in before["answers.jsonl"]}
    assert states == {"submitted", "skipped", "rejected", "expired"}
    filled = {name.removesuffix(".jsonl") for name, rows in before.items() if rows}
    assert filled >= {
        "ratings", "preferences", "spans", "answers", "answer_changes", "answer_reviews",
        "decisions", "exclusions", "campaign_seats", "campaign_items", "open_links",
        "guidelines_versions", "campaign_named_items",
    }  # fmt: skip
    assert any("preferences" in row["before"] for row in before["answer_changes.jsonl"])

    for name in ("answers", "ratings", "preferences"):
        assert any(row["guidelines_version"] for row in before[f"{name}.jsonl"]), name
    assert None in {row["score"] for row in before["ratings.jsonl"]}

    copy = read_archive(archive, slug="copy")

    after, _archive = records_of(copy)
    for name, rows in before.items():
        assert after[name] == rows, name
    assert {row.name: known_answers(row) for row in copy.campaigns.all()} == gold
    assert all(gold.values())


def test_choices_about_a_removed_criterion_are_left_out_of_a_record() -> None:
    replaced = {"preferences": [[7, 8, 3, 1], [7, 8, 4, -1], [7, 8, None, 0]]}
    systems = {7: "good", 8: "odd"}

    named = with_names(replaced, {3: "fluency"}, systems)

    assert named == {"preferences": [["good", "odd", "fluency", 1], ["good", "odd", "", 0]]}
    ids = with_ids(named, {"fluency": 30}, {"good": 70, "odd": 80})
    assert ids == {"preferences": [[70, 80, 30, 1], [70, 80, None, 0]]}
