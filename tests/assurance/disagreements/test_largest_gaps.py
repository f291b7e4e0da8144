"""The largest gaps between a judge and people are the same by file and API."""

import csv
import io
from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.models import Judge, Project
from evaluations.reports.serving import live

pytestmark = pytest.mark.django_db
API = "/api/v1/projects/small/disagreements"
# People give (d1, good) 4 and 5, (d2, good) 4, (d1, odd) 1 and 2, (d2, odd) 1.
SCORES = {("d1", "good"): 4, ("d2", "good"): 1, ("d1", "odd"): 2, ("d2", "odd"): 3}
EXPECTED = [("d2", "good", -3.0), ("d2", "odd", 2.0), ("d1", "good", -0.5), ("d1", "odd", 0.5)]


@pytest.fixture
def judged(small_project: Project, load: Callable[..., object]) -> Project:
    live.forget()
    rows = "".join(f"{d},{s},coherence,imported,{v}\n" for (d, s), v in SCORES.items())
    load(small_project, {"s.csv": "doc_id,system_id,criterion,judge,score\n" + rows})
    return small_project


def gaps(rows: list[dict[str, str]]) -> list[tuple[str, str, float]]:
    return [(row["doc_id"], row["system_id"], float(row["gap"])) for row in rows]


def test_file_and_api_list_the_same(judged: Project, as_role: Callable[[str], Client]) -> None:
    client = as_role("viewer")

    by_api = client.get(API).json()
    by_page = client.get("/p/small/report/disagreements/export/").content.decode()

    assert gaps(by_api) == EXPECTED
    assert gaps(list(csv.DictReader(io.StringIO(by_page)))) == EXPECTED
    assert by_api[0]["output"].startswith("The 2. ferry sails")
    assert (by_api[0]["people"], by_api[0]["score"], by_api[0]["rank"]) == (4.0, 1.0, 1)


def test_judge_criterion_and_number_can_be_chosen(
    judged: Project, as_role: Callable[[str], Client]
) -> None:
    judge = Judge.objects.get()
    client = as_role("viewer")

    assert len(client.get(API, {"most": 2, "judge": judge.pk}).json()) == 2
    assert client.get(API, {"criterion": "COHERENCE"}).json()[0]["criterion"] == "coherence"
    assert client.get(API, {"criterion": "fluency"}).json() == []


@pytest.mark.parametrize(
    ("query", "status"),
    [({"most": 1000}, 200), ({"most": 1001}, 422), ({"most": 0}, 422), ({"criterion": "x"}, 422),
     ({"judge": 10**9}, 404), ({"by": "size"}, 422)],
)  # fmt: skip
def test_what_cannot_be_listed_is_refused(
    judged: Project, as_role: Callable[[str], Client], query: dict[str, str], status: int
) -> None:
    assert as_role("viewer").get(API, query).status_code == status


def test_annotators_read_none_of_it(judged: Project, as_role: Callable[[str], Client]) -> None:
    annotator = as_role("annotator")

    assert annotator.get(API).status_code == 403
    assert annotator.get("/p/small/report/disagreements/export/").status_code == 403
