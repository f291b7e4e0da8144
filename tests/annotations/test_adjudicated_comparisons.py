"""Rankings and best-worst choices are adjudicated like ratings: by the distance between preferences
for two outputs, and a decision becomes practice of the next round."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.answering.submission import submit
from annotations.models import Assignment, Campaign, Decision, Seat
from annotations.planning.assignment import queue_of
from annotations.planning.known_answers import ids_by_name, known_answers
from annotations.results.adjudication import disputed_items, prepare_round
from evaluations.models import CandidateOutput, Document, Project, System
from geval.files.answers.gold import csv_of_rows, read_gold

pytestmark = pytest.mark.django_db
Answered = Callable[..., Campaign]
RANKING, BEST_WORST = "ranking", "best_worst"


def fields_of(kind: str, order: str, outputs: list[int]) -> dict[str, str]:
    """The form of an answer: the ranks of the outputs by their ids, such as "122", or the place of
    the best and of the worst, such as "13"."""
    if kind == RANKING:
        return {f"rank-0-{pk}": rank for pk, rank in zip(sorted(outputs), order, strict=True)}
    best, worst = (str(sorted(outputs)[int(place) - 1]) for place in order)
    return {"best-0": best, "worst-0": worst}


@pytest.fixture
def answered(
    small_project: Project, make_campaign: Callable[..., Campaign], annotators: list[User],
    seat_of: Callable[..., Seat],
) -> Answered:  # fmt: skip
    """A campaign on three documents of three outputs; each annotator gives one answer throughout,
    as `fields_of` reads it."""
    third = System.objects.create(project=small_project, name="third")
    for document in Document.objects.filter(project=small_project):
        CandidateOutput.objects.create(document=document, system=third, text="Third.")

    def make(kind: str, *orders: str, beyond: float = 0) -> Campaign:
        campaign = make_campaign(
            kind=kind, overlap=len(orders), users=annotators[: len(orders)],
            adjudicate_beyond=beyond,
        )  # fmt: skip
        for user, order in zip(annotators, orders, strict=False):
            seat = seat_of(campaign, user)
            while queue := queue_of(seat):
                shown = Assignment.objects.get(pk=queue[0]).shown
                sent = fields_of(kind, order, shown)
                submit(seat, queue[0], sent, user=user, version=0, seconds=1)
        return campaign

    return make


@pytest.mark.parametrize(
    ("kind", "orders", "spread"),
    [
        (RANKING, ("123", "123"), 0),
        # 1 and 2, or 1 and 3, the other way round.
        (RANKING, ("123", "213"), 2),
        (RANKING, ("123", "321"), 2),
        # Only the order counts, and a tie is between both.
        (RANKING, ("122", "133"), 0),
        (RANKING, ("122", "123"), 1),
        (RANKING, ("123", "122", "132"), 2),
        (BEST_WORST, ("13", "13"), 0),
        (BEST_WORST, ("13", "23"), 2),
        (BEST_WORST, ("13", "12"), 2),
        (BEST_WORST, ("13", "31"), 2),
    ],
)
def test_distance_between_preferences_decides_what_is_disputed(
    answered: Answered, kind: str, orders: tuple[str, ...], spread: int
) -> None:
    campaign = answered(kind, *orders)

    shown = {row.spread for row in disputed_items(campaign)}
    Campaign.objects.update(adjudicate_beyond=1)
    campaign.refresh_from_db()

    assert shown == ({spread} if spread else set())
    assert len(disputed_items(campaign)) == (3 if spread > 1 else 0)


@pytest.mark.parametrize(
    ("kind", "orders", "decided"),
    [(RANKING, ("123", "321"), "221"), (BEST_WORST, ("13", "31"), "12")],
)
def test_a_decision_is_taken_on_the_page_and_becomes_practice(
    answered: Answered, as_role: Callable[[str], Client], kind: str, orders: tuple[str, ...],
    decided: str,
) -> None:  # fmt: skip
    campaign, client = answered(kind, *orders, beyond=1), as_role("owner")
    base = f"/p/small/annotate/{campaign.pk}/adjudicate/"
    item = disputed_items(campaign)[0].item

    listed = client.get(base).content.decode()
    incomplete = client.post(f"{base}{item.pk}/", {"note": "unclear"})
    sent = fields_of(kind, decided, item.outputs) | {"note": "Read the end."}
    client.post(f"{base}{item.pk}/", sent)
    draft = prepare_round(campaign)

    assert f"{base}{item.pk}/" in listed
    assert incomplete.status_code == 422
    parts = {"best", "worst"} if kind == BEST_WORST else {"ranks"}
    assert set(Decision.objects.get().answer) == parts
    assert disputed_items(campaign)[-1].decided
    (entry,) = draft.gold
    assert set(entry["expected"]) == parts | {"reason"}
    # The form writes and reads the same.
    written = csv_of_rows(known_answers(draft))
    read = read_gold(written, kind, [], lambda: ids_by_name(campaign.project))
    assert [each["expected"] for each in read] == [entry["expected"]]
