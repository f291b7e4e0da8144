"""Studies on a judge's page, in the report, the API, the command and the archive."""

import io
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from assurance.instrument.studies import make_study
from evaluations.models import Criterion, Judge, Study, StudyItem
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from tests.assurance.instrument.conftest import ask_now, freeze

pytestmark = pytest.mark.django_db(transaction=True)
AsRole = Callable[[str], Client]
API = "/api/v1/projects/small"


@pytest.fixture
def watch(judge: Judge, criterion: Criterion) -> Study:
    """A watch that has asked once since its scores were frozen."""
    return ask_now(freeze(make_study(judge, criterion, "drift", items=20, replies=2)))


def address(judge: Judge) -> str:
    return reverse("evaluations:judge_instrument", args=["small", judge.pk])


def test_the_form_starts_a_watch_and_the_page_shows_it(
    judge: Judge, criterion: Criterion, as_role: AsRole
) -> None:
    client = as_role("researcher")
    given = {"kind": "drift", "criterion": criterion.pk, "items": 20, "replies": 2}
    new = reverse("evaluations:judge_study", args=["small", judge.pk])

    refused = client.post(new, given)
    made = client.post(new, given | {"every_hours": 12})

    assert refused.status_code == 422
    assert made["Location"] == address(judge)
    assert "asking, 0 of 2 done" in client.get(address(judge)).content.decode()
    again = client.post(new, given | {"every_hours": 12})
    assert "is watched on usefulness already" in again.content.decode()


def test_the_page_renews_its_numbers_only_while_the_judge_is_asked(
    judge: Judge, criterion: Criterion, as_role: AsRole
) -> None:
    client = as_role("viewer")
    renews = f'id="studies-drift" hx-get="{address(judge)}"'
    study = make_study(judge, criterion, "drift", items=20, replies=2)

    assert renews in client.get(address(judge)).content.decode()
    freeze(study)
    assert renews not in client.get(address(judge)).content.decode()


def test_the_page_shows_evidence_and_a_drift_is_on_judge_and_report(
    judge: Judge, watch: Study, as_role: AsRole
) -> None:
    client = as_role("viewer")

    page = client.get(address(judge)).content.decode()

    assert "no drift found" in page
    assert "Evidence of 40 or more" in page
    report = reverse("evaluations:report_detail", args=["small"])
    for there in (judge.get_absolute_url(), report):
        assert "may have drifted" not in client.get(there).content.decode()
    Study.objects.update(drifted_at=timezone.now(), drift="Scores have changed.")
    for there in (judge.get_absolute_url(), report):
        assert "may have drifted" in client.get(there).content.decode()


def test_the_api_starts_reads_and_stops(
    judge: Judge, criterion: Criterion, as_role: AsRole
) -> None:
    client = as_role("researcher")
    about = {"kind": "drift", "criterion": criterion.pk, "items": 20}

    made = client.post(f"{API}/judges/{judge.pk}/studies", about, content_type="application/json")
    again = client.post(f"{API}/judges/{judge.pk}/studies", about, content_type="application/json")
    one = client.get(f"{API}/studies/{made.json()['id']}").json()
    stopped = client.post(f"{API}/studies/{one['id']}/stop").json()

    assert (made.status_code, again.status_code) == (201, 409)
    assert (one["items"], one["replies"], one["state"]) == (20, 5, "asking, 0 of 5 done")
    assert (stopped["is_on"], stopped["message"]) == (False, "Stopped.")
    listed = client.get(f"{API}/judges/{judge.pk}/studies").json()
    assert [found["id"] for found in listed["items"]] == [one["id"]]


def said(*more: str) -> tuple[int, str]:
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(
            "study", "small", "drift", "--judge", "Stand-in", "--criterion", "usefulness", *more,
            stdout=out,
        )  # fmt: skip
    assert isinstance(ended.value.code, int)
    return ended.value.code, out.getvalue()


def test_the_command_answers_with_its_exit_code(judge: Judge, criterion: Criterion) -> None:
    assert said("--start", "--items", "20", "--replies", "2")[0] == 2
    watch = Study.objects.get()

    ask_now(freeze(watch))

    code, text = said()
    assert (code, "no drift found" in text, "40 is drift" in text) == (0, True, True)
    Study.objects.update(drifted_at=timezone.now(), drift="Scores have changed.")
    assert said()[0] == 1
    assert "stopped" not in said("--stop")[1]
    assert not Study.objects.get().is_on


def test_an_archive_has_what_a_watch_found_and_its_copy_asks_nothing(watch: Study) -> None:
    file = io.BytesIO()
    write_archive(watch.project, file)

    copy = read_archive(file, slug="copy")

    (copied,) = copy.studies.all()
    assert (copied.is_on, copied.kind, copied.prompt) == (False, "drift", watch.prompt)
    assert [part.scores_evidence for part in copied.parts.all()] == [
        part.scores_evidence for part in watch.parts.all()
    ]
    there = [(item.output.text, item.scores) for item in watch.items.all()]
    assert [(item.output.text, item.scores) for item in copied.items.all()] == there
    assert copy.runs.count() == 0
    assert StudyItem.objects.count() == 40


def test_what_a_study_would_ask_is_shown_before_it_starts(
    judge: Judge, criterion: Criterion, as_role: AsRole
) -> None:
    client = as_role("researcher")
    Judge.objects.filter(pk=judge.pk).update(price_in=1, price_out=2)
    usual = " ".join(client.get(address(judge)).content.decode().split())
    given = {"kind": "drift", "criterion": criterion.pk, "items": 30, "replies": 3}
    given |= {"every_hours": 24, "estimate": "1"}

    looked = client.post(reverse("evaluations:judge_study", args=["small", judge.pk]), given)

    page = " ".join(looked.content.decode().split())
    assert usual.count("in the currency of the prices") == 3
    assert looked.status_code == 200
    assert "30 outputs, 3 times each: at most <strong>90</strong> calls" in page
    assert "Then 30 calls per round" in page
    assert not Study.objects.exists()
    assert "in the currency" not in as_role("viewer").get(address(judge)).content.decode()


def test_a_stand_in_is_said_to_be_none_of_the_real_ones(judge: Judge, as_role: AsRole) -> None:
    assert "which is not an LLM" in as_role("viewer").get(address(judge)).content.decode()


def test_where_a_watch_stands_is_a_sentence(
    judge: Judge, criterion: Criterion, as_role: AsRole
) -> None:
    client = as_role("viewer")
    made = make_study(judge, criterion, "drift", items=20, replies=2)
    learning = client.get(address(judge)).content.decode()
    freeze(made)
    frozen = client.get(address(judge)).content.decode()
    ask_now(made)
    asked = client.get(address(judge)).content.decode()

    assert "0 of 2 first askings" in learning
    assert "next asking is the first that" in frozen
    assert "No drift: the last asking" in asked
    assert "of the 40 that would be drift." in asked
