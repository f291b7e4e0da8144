"""Thirty tasks of new users with the clicks that each takes: those of somebody who loads data and
makes judges (see test_tasks_of_a_lead.py)."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Page, expect

from annotations.models import Campaign
from evaluations.judging.runs import leases, results
from evaluations.judging.runs.lifecycle import close_if_finished, lay_out_run
from evaluations.judging.runs.starting import start_run
from evaluations.models import (
    Criterion,
    Endpoint,
    EvaluationRun,
    Judge,
    Membership,
    Project,
    Role,
    ScoringMode,
)
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored
from tests.browser.clicks import Clicks
from tests.browser.test_from_a_foreign_table_to_a_report import made_up_table
from tests.conftest import load_texts
from tests.made_up_files import two_judges
from tests.processes import StandInProcess
from tests.workbooks import xlsx

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.browser,
    pytest.mark.processes,
    pytest.mark.usefixtures("lab"),
]
HEADER = ["doc_id", "system_id", "source", "output", "clarity", "rater"]
OUTCOMES = Callable[[leases.ClaimedItem], Scored | Failure]


@pytest.fixture(scope="module")
def endpoint(owned: Project, start_standin: Callable[..., StandInProcess]) -> Endpoint:
    return owned.endpoints.create(name="Stand-in", base_url=start_standin().base_url)


@pytest.fixture(scope="module")
def lab(owned: Project, worker: object, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Texts with ratings, scores of another program, and an annotator."""
    files = two_judges()
    files["s.csv"] = "".join(row for row in files["s.csv"].splitlines(True) if ",near," not in row)
    load_texts(tmp_path_factory.mktemp("files"), owned, files)
    user = get_user_model().objects.create_user("ann")
    Membership.objects.create(project=owned, user=user, role=Role.ANNOTATOR)
    return owned


def judge_named(endpoint: Endpoint, name: str, **fields: Any) -> Judge:
    return endpoint.judges.create(
        project=endpoint.project,
        name=name,
        model="offline-stand-in",
        mode=ScoringMode.LOGPROBS,
        use_steps=False,
        **fields,
    )


def finished_run(judge: Judge, outcome: OUTCOMES) -> EvaluationRun:
    """A run of a judge that no worker had a hand in."""
    run = start_run(judge, [Criterion.objects.get(name="coherence")])
    lay_out_run(run.pk)
    items = leases.claim(run.pk, "t", most=100)
    results.store(run, [results.FinishedItem(item, "", outcome(item)) for item in items], "t")
    close_if_finished(run.pk)
    return run


def upload_page(home: Page, clicks: Clicks) -> None:
    clicks.on(
        home.get_by_role("link", name="Data", exact=True),
        home.get_by_role("link", name="Upload").first,
    )


def test_upload_a_spreadsheet(home: Page) -> None:
    clicks = Clicks(at_most=5)
    rows = [HEADER, *(["x1", f"m{n}", "A source.", f"Output {n}.", n, "eva"] for n in (1, 2, 3))]

    upload_page(home, clicks)
    clicks.choose_file(
        home.get_by_label("Files"),
        {"name": "ratings.xlsx", "mimeType": "", "buffer": xlsx({"Ratings": rows})},
    )
    clicks.on(home.get_by_role("button", name="Check data"))
    clicks.on(home.get_by_role("button", name="Load data"))

    expect(home.get_by_role("status")).to_contain_text("Loaded 1 document, 3 outputs, 3 ratings")


def test_answer_what_an_upload_asks(home: Page) -> None:
    clicks = Clicks(at_most=5)

    upload_page(home, clicks)
    home.get_by_label("Or paste rows").fill(made_up_table())
    clicks.on(home.get_by_role("button", name="Check data"))
    expect(home.get_by_text("Which criterion did “Anna”, “Bert”")).to_be_visible()
    clicks.on(home.get_by_role("button", name="The criterion overall"))
    clicks.on(home.get_by_role("button", name="Load data"))

    expect(home.get_by_role("status")).to_contain_text("36 outputs, 108 ratings, 36 scores")


def test_fix_an_error_of_a_file_on_the_page(home: Page) -> None:
    clicks = Clicks(at_most=5)

    upload_page(home, clicks)
    home.get_by_label("Or paste rows").fill(
        "doc_id,system_id,criterion,annotator,score\nd00,s0,coherence,eva,3\nd00,s1,coherence,eva,four\n"
    )
    clicks.on(home.get_by_role("button", name="Check data"))
    home.get_by_label("score in line 3").fill("4")
    clicks.on(home.get_by_role("button", name="Check corrected cells"))
    clicks.on(home.get_by_role("button", name="Load data"))

    expect(home.get_by_role("status")).to_contain_text("2 ratings")


def test_create_a_judge(home: Page, endpoint: Endpoint) -> None:
    clicks = Clicks(at_most=4)

    clicks.on(
        home.get_by_role("link", name="Judges", exact=True),
        home.get_by_role("link", name="New judge"),
    )
    home.get_by_label("Name", exact=True).fill("First")
    clicks.choose(home.get_by_label("Endpoint"), str(endpoint.pk))
    home.get_by_label("Model").fill("offline-stand-in")
    clicks.on(home.get_by_role("button", name="Create judge"))

    expect(home.get_by_text("First is created. Try it on an item")).to_be_visible(timeout=60_000)


def test_try_a_judge_on_one_item(home: Page, endpoint: Endpoint) -> None:
    judge_named(endpoint, "Tried")
    clicks = Clicks(at_most=4)

    clicks.on(
        home.get_by_role("link", name="Judges", exact=True),
        home.get_by_role("link", name="Tried", exact=True),
        home.get_by_role("link", name="Try", exact=True),
        home.get_by_role("button", name="Try judge"),
    )

    expect(home.locator("#tried td[data-label=Score] strong")).to_be_visible(timeout=60_000)
    expect(home.locator("#tried pre.asked").first).to_contain_text("The ferry sails")


def test_start_a_run_with_a_budget(home: Page, endpoint: Endpoint) -> None:
    judge_named(endpoint, "Priced", price_in=Decimal(1), price_out=Decimal(1))
    clicks = Clicks(at_most=3)

    clicks.on(
        home.get_by_role("link", name="Judges", exact=True),
        home.get_by_role("link", name="Runs", exact=True),
    )
    home.get_by_label("Judge", exact=True).select_option(label="Priced")
    home.get_by_label("Budget").fill("2.5")
    clicks.on(home.get_by_role("button", name="Start run"))

    expect(home.locator("#progress")).to_contain_text("of a budget of 2.5", timeout=60_000)


def test_retry_a_failed_run(home: Page, endpoint: Endpoint) -> None:
    failure = Failure(Reason.ENDPOINT, "The server is down.")
    run = finished_run(judge_named(endpoint, "Retried"), lambda item: failure)
    EvaluationRun.objects.filter(pk=run.pk).update(state="failed")
    clicks = Clicks(at_most=4)

    clicks.on(
        home.get_by_role("link", name="Judges", exact=True),
        home.get_by_role("link", name="Runs", exact=True),
        home.get_by_role("link", name=f"Run {run.pk}", exact=True),
        home.get_by_role("button", name="Retry run"),
    )

    expect(home.locator("#progress")).to_contain_text("Done", timeout=60_000)
    expect(home.locator("#progress")).to_contain_text("0 failed")


def test_create_a_campaign_and_open_it(home: Page) -> None:
    clicks = Clicks(at_most=4)

    clicks.on(
        home.get_by_role("link", name="People", exact=True),
        home.get_by_role("link", name="New campaign"),
    )
    home.get_by_role("textbox", name="Name").fill("More ratings")
    clicks.on(home.get_by_role("button", name="Save campaign"))
    clicks.on(home.get_by_role("button", name="Open campaign"))

    expect(home.get_by_role("button", name="Close campaign")).to_be_visible()
    assert Campaign.objects.get(name="More ratings").state == "open"
