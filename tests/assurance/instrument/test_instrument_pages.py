"""Studies on a judge's page, in the report, the API, the command and the archive."""

import io
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from assurance.instrument.studies import make_study
from evaluations.models import Criterion, Judge, Study, StudyItem
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from tests.assurance.instrument.conftest import work

pytestmark = pytest.mark.django_db(transaction=True)
AsRole = Callable[[str], Client]
API = "/api/v1/projects/small"


@pytest.fixture
def study(judge: Judge, criterion: Criterion) -> Study:
    return make_study(judge, criterion, "again", items=20, replies=2)


def address(judge: Judge) -> str:
    return reverse("evaluations:judge_instrument", args=["small", judge.pk])


def test_the_form_starts_a_study_and_the_page_shows_it(
    judge: Judge, criterion: Criterion, as_role: AsRole
) -> None:
    client = as_role("researcher")
    given = {"kind": "again", "criterion": criterion.pk, "items": 20}
    new = reverse("evaluations:judge_study", args=["small", judge.pk])

    refused = client.post(new, given)
    made = client.post(new, given | {"replies": 2})

    assert (refused.status_code, client.post(new, {"kind": "drift"}).status_code) == (422, 404)
    assert made["Location"] == address(judge)
    assert "asking, 0 of 2 done" in client.get(address(judge)).content.decode()


def test_the_api_starts_reads_and_stops(
    judge: Judge, criterion: Criterion, as_role: AsRole
) -> None:
    client = as_role("researcher")
    about = {"kind": "again", "criterion": criterion.pk, "items": 20}
    new = f"{API}/judges/{judge.pk}/studies"

    made = client.post(new, about, content_type="application/json")
    other = client.post(new, about | {"kind": "drift"}, content_type="application/json")
    one = client.get(f"{API}/studies/{made.json()['id']}").json()
    stopped = client.post(f"{API}/studies/{one['id']}/stop").json()

    assert (made.status_code, other.status_code) == (201, 422)
    assert (one["items"], one["replies"], one["state"]) == (20, 5, "asking, 0 of 5 done")
    assert (stopped["is_on"], stopped["message"]) == (False, "Stopped.")
    listed = client.get(f"{API}/judges/{judge.pk}/studies").json()
    assert [found["id"] for found in listed["items"]] == [one["id"]]


def test_an_archive_has_what_a_study_found_and_its_copy_asks_nothing(study: Study) -> None:
    work(2)
    file = io.BytesIO()
    write_archive(study.project, file)

    copy = read_archive(file, slug="copy")

    (copied,) = copy.studies.all()
    study.refresh_from_db()
    assert (copied.is_on, copied.kind, copied.prompt) == (False, "again", study.prompt)
    assert [part.model for part in copied.parts.all()] == ["offline-stand-in"] * 2
    there = [(item.output.text, item.scores) for item in study.items.all()]
    assert [(item.output.text, item.scores) for item in copied.items.all()] == there
    assert copy.runs.count() == 0
    assert StudyItem.objects.count() == 40
