"""A judge's page says how far its replies to the same question differ."""

import json
from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.corpus.store import LoadResult
from evaluations.models import Judge, Project
from evaluations.reports.steadiness import steadiness

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
DOCUMENTS, SYSTEMS = 12, 2


def replies_of(document: int, system: int) -> list[str]:
    """Nine equal replies and one a point off; even documents get one that cannot be read."""
    rating = 1 + (document + 2 * system) % 4
    return (
        [str(rating)] * 9
        + [str(rating - 1 if rating > 1 else 2)]
        + ["No idea."] * (document % 2 == 0)
    )


@pytest.fixture
def asked(project: Project, load: Load) -> Judge:
    """A judge whose raw replies were loaded, and people who rate as most of them do."""
    places = [(d, s) for d in range(DOCUMENTS) for s in range(SYSTEMS)]
    outputs = "".join(f"d{d},s{s},Text {d}.,Output {d} {s}.\n" for d, s in places)
    ratings = "".join(f"d{d},s{s},fluency,ann,{replies_of(d, s)[0]}\n" for d, s in places)
    load(
        project,
        {
            "outputs.csv": "doc_id,system_id,source,output\n" + outputs,
            "ratings.csv": "doc_id,system_id,criterion,annotator,score\n" + ratings,
        },
    )
    replies = [
        {
            "doc_id": f"d{d}", "system_id": f"s{s}", "criterion": "fluency",
            "all_responses": replies_of(d, s),
        }
        for d, s in places
    ]  # fmt: skip
    load(project, {"replies.json": json.dumps(replies)}, judge="sampled")
    return project.judges.get(name="sampled")


def test_replies_are_read_from_what_is_kept(asked: Judge) -> None:
    (found,) = steadiness(asked)

    assert found.criterion == "fluency"
    assert (found.found.items, found.found.replies) == (24, 10)
    # Of 45 pairs of replies, the nine with the odd one differ.
    assert found.found.differ.value == pytest.approx(9 / 45)
    # One reply in ten is a point off: a variance of 0.09, times 10 / 9.
    assert found.found.reply_error.value == pytest.approx(0.1**0.5)
    assert found.found.pearson.value == pytest.approx(1, abs=0.01)


def test_the_api_says_the_same(asked: Judge, as_role: Callable[[str], Client]) -> None:
    address = f"/api/v1/projects/small/judges/{asked.pk}/steadiness"

    found = as_role("viewer").get(address).json()["criteria"]["fluency"]

    assert (found["items"], found["replies"]) == (24, 10)
    assert found["replies_differ"] == {"value": pytest.approx(0.2)}
    assert set(found["pearson_with_replies"]) == {"1", "5", "20"}
