"""The page and the command on which a judge is improved."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from assurance.improving.work import work_on_search
from evaluations.models import Candidate, Judge, LockedDocuments, Look, Search

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher(as_role):
    return as_role("researcher")


def page(client, **query):
    address = reverse("evaluations:improve", args=["small"])
    return client.get(address, query, follow=True).content.decode()


def post(client, name, *args, **data):
    address = reverse(f"evaluations:{name}", args=["small", *args])
    return client.post(address, data, follow=True).content.decode()


@pytest.fixture
def candidate(judge, criterion, locked):
    search = Search.objects.create(
        project=judge.project, judge=judge, criterion=criterion, changes=["panel"], state="waiting"
    )
    work_on_search(search.pk)
    return search.candidates.get()


def test_from_nothing_to_a_judge_that_is_proven(judge, criterion, researcher):
    assert "Set documents aside first" in page(researcher)
    said = post(researcher, "lock_create", percent=40, looks=5)
    assert "40 % of the documents are locked" in said.replace("40%", "40 %")
    LockedDocuments.objects.update(seed="fixed")
    said = post(
        researcher, "search_create", judge=judge.pk, criterion=criterion.pk, changes=["panel"]
    )
    assert "Searching for changes" in said
    work_on_search(Search.objects.get().pk)
    shown = page(researcher)
    assert "Panel of" in shown
    assert "Not looked at" in shown
    assert "Test on locked documents (1 of 5)" in shown.replace("\n", " ").replace("  ", "")
    candidate = Candidate.objects.get()
    said = post(researcher, "look_create", candidate.pk)
    assert "proven: gain +" in said
    assert "is proven: on documents no attempt" in said
    said = post(researcher, "candidate_adopt", candidate.pk)
    assert "is a judge now" in said
    made = Judge.objects.get(name=f"{judge.name} improved", kind="formula")
    assert f'In use: <a class="llm" href="{made.get_absolute_url()}"' in page(researcher)


@pytest.mark.parametrize(
    "data",
    [{}, {"judge": "x", "criterion": "1"}, {"judge": "99999", "criterion": "-1"}],
    ids=["nothing", "no number", "others"],
)
def test_a_search_without_a_judge_or_a_change_is_refused(locked, researcher, data):
    assert "at least one change" in post(researcher, "search_create", **data)
    assert not Search.objects.exists()


@pytest.mark.parametrize("data", [{}, {"percent": 5, "looks": 5}, {"percent": 40, "looks": 0}])
def test_a_lock_out_of_range_is_refused(rated_project, researcher, data):
    assert "Enter a share from 10 to 90 %" in post(researcher, "lock_create", **data)
    assert not LockedDocuments.objects.exists()


def test_only_an_owner_unlocks(candidate, locked, researcher, as_role):
    assert researcher.post(reverse("evaluations:lock_open", args=["small"])).status_code == 403
    post(as_role("owner"), "lock_open")
    locked.refresh_from_db()
    assert locked.is_open


def test_a_viewer_sees_everything_and_can_change_nothing(candidate, as_role):
    shown = page(as_role("viewer"))
    assert "Panel of" in shown
    assert "Take" not in shown
    assert "Search for changes" not in shown


def test_a_change_of_another_project_is_not_found(candidate, researcher, make_user):
    other = type(candidate.search.project).objects.create(name="Other", slug="other")
    assert other
    address = reverse("evaluations:look_create", args=["other", candidate.pk])
    assert researcher.post(address).status_code == 404


def test_a_project_too_large_for_a_page_is_looked_at_by_the_command(
    candidate, researcher, settings
):
    settings.REPORT_IN_PAGE_NUMBERS = 0
    said = post(researcher, "look_create", candidate.pk)
    words = ["small", "--judge", candidate.search.judge.label, "--look", str(candidate.pk)]
    assert f"improve {words[0]} --judge &#x27;{words[2]}&#x27; --look {words[4]}`" in said
    assert not Look.objects.exists()

    call_command("improve", *words)

    assert Look.objects.get().candidate == candidate
    with pytest.raises(CommandError, match="has found a change with the ID 999"):
        call_command("improve", *words[:4], "999")


@pytest.mark.django_db(transaction=True)
@pytest.mark.processes
def test_the_command_finds_and_proves(rated_project, manage):
    done = manage("improve", "small", "--judge", "today", "--change", "panel", "--json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)
    (candidate,) = found["candidates"]
    assert candidate["look"]["outcome"] in ("proven", "not proven")
    assert f"{found['training']} training documents" in done.stderr
    again = manage("improve", "small", "--judge", "today", "--lock", "0.5")
    assert again.returncode == 1
    assert "has locked documents already" in again.stderr
