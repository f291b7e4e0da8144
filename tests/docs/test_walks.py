"""The walks in docs/walks.md are the way that values take: each is traced as it happens."""

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotations.models import Campaign, Rating, Seat
from annotations.planning.assignment import queue_of
from evaluations.management import tasks
from evaluations.management.heartbeat import Offer, beat
from evaluations.models import EvaluationRun, Judge, Project, Upload
from geval_site.queues import RUNS, worker_name
from tests.annotations.conftest import *  # noqa: F403 - campaigns and their annotators
from tests.conftest import CHECKOUT

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = (CHECKOUT / "docs" / "walks.md").read_text()
# Files are read in a process with limits, which is not traced.
OF_THE_READER = "in that process"
SCORES = "doc_id,system_id,criterion,judge,score\nd1,odd,fluency,GPT,3\n"


def walk(title: str) -> list[str]:
    """The Python files of a walk, in order, but for those that another process enters."""
    (part,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)
    steps = re.findall(r"^\d+\. `([^`]+\.py)`: (.*)$", part, re.M)
    return [file for file, words in steps if OF_THE_READER not in words]


@contextmanager
def traced() -> Iterator[list[str]]:
    """The files of the checkout whose functions are entered, in order, in threads that begin."""
    entered: list[str] = []
    root = f"{CHECKOUT}/"

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(root):
            file = code.co_filename.removeprefix(root)
            if not entered or entered[-1] != file:
                entered.append(file)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def first_not_entered(files: list[str], entered: list[str]) -> str:
    """The first file of a walk that is not entered after all before it; empty if all are."""
    events = iter(entered)
    return next((file for file in files if file not in events), "")


@pytest.fixture
def client(owner: User) -> Client:
    signed_in = Client()
    signed_in.force_login(owner)
    return signed_in


def test_an_uploaded_score_takes_its_walk_to_the_cell(
    client: Client, small_project: Project
) -> None:
    with traced() as entered:
        file = SimpleUploadedFile("scores.csv", SCORES.encode())
        client.post("/p/small/data/upload/", {"files": [file]}, follow=True)
        client.post(f"{Upload.objects.get().get_absolute_url()}load/", follow=True)
        page = client.get("/p/small/report/numbers/").content.decode()

    assert "GPT" in page
    assert first_not_entered(walk("An uploaded score, to the report's cell"), entered) == ""


def test_a_run_takes_its_walk_from_the_button_to_the_score(
    client: Client, small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(small_project)
    criteria = [criterion.pk for criterion in small_project.criteria.all()]
    with traced() as entered:
        client.post("/p/small/runs/start/", {"judge": judge.pk, "criteria": criteria})
        beat(worker_name(), Offer((RUNS,), 1))
        tasks.judge_runs()

    assert EvaluationRun.objects.get().scores.count() == 12
    assert first_not_entered(walk('"Run", to the stored score'), entered) == ""


def test_a_rating_takes_its_walk_to_the_report(
    client: Client,
    judged_project: Project,
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> None:
    campaign = make_campaign()
    assignment = queue_of(seat_of(campaign, annotators[0]))[0]
    annotator = Client()
    annotator.force_login(annotators[0])
    before = Rating.objects.count()
    with traced() as entered:
        address = f"/p/{campaign.project.slug}/annotate/{campaign.pk}/task/{assignment}/submit/"
        annotator.post(address, ratings_for(campaign))
        client.get(f"/p/{campaign.project.slug}/report/numbers/")

    assert Rating.objects.count() > before
    assert first_not_entered(walk("A rating, to the report"), entered) == ""
