"""From a verdict to the worst output, to what the criterion asks, to a pilot of the change with the
same judge, in few clicks and with a real worker."""

import json
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from evaluations.judging.runs.layout import USUAL_PILOT_DOCUMENTS
from evaluations.judging.runs.starting import start_run
from evaluations.models import EvaluationRun, Judge, Project
from tests.browser.clicks import Clicks
from tests.conftest import wait_until
from tests.processes import WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
MOST_CLICKS = 5
DOCUMENTS = 22
CHANGED = "Whether every sentence follows from the one before."


@pytest.fixture
def rated(owner: User, project: Project, load: Callable[..., object]) -> Project:
    """More documents than a pilot takes, each with two rated outputs."""
    names = [(f"d{n:02}", f"s{system}") for n in range(DOCUMENTS) for system in range(2)]
    outputs = [
        {"doc_id": d, "system_id": s, "source": f"Ferry {d} sails.", "output": f"{d} sails by {s}."}
        for d, s in names
    ]
    ratings = "".join(
        f"{d},{s},coherence,{rater},{1 + (number * 3) % 5}\n"
        for number, (d, s) in enumerate(names)
        for rater in ("ann", "bob")
    )
    load(
        project,
        {
            "o.jsonl": "\n".join(map(json.dumps, outputs)),
            "r.csv": "doc_id,system_id,criterion,annotator,score\n" + ratings,
        },
    )
    return project


def test_a_verdict_leads_to_a_pilot_of_a_changed_criterion(
    rated: Project,
    make_judge: Callable[..., Judge],
    start_worker: Callable[[], WorkerProcess],
    sign_in: Callable[[str], Page],
) -> None:
    start_worker()
    judge = make_judge(rated, name="Judge Judy", use_steps=False)
    make_judge(rated, name="Newer", use_steps=False)
    criterion = rated.criteria.get()
    first = start_run(judge, [criterion])
    wait_until(lambda: EvaluationRun.objects.get(pk=first.pk).state == "done")
    page, clicks = sign_in("olga"), Clicks()
    page.goto("/p/small/report/")

    clicks.on(page.get_by_role("link", name="Look at disagreements"))
    expect(page.locator("#case")).to_contain_text("1 of 44")
    clicks.on(page.get_by_role("link", name="Change what coherence asks"))
    page.get_by_label("Definition").fill(CHANGED)
    clicks.on(page.get_by_role("button", name="Save criterion"))
    expect(page.get_by_text("coherence is saved.")).to_be_visible()
    expect(page.locator("#preview")).to_contain_text(CHANGED)
    clicks.on(page.get_by_role("link", name=f"Pilot on {USUAL_PILOT_DOCUMENTS} documents"))
    expect(page.get_by_label("Judge", exact=True)).to_have_value(str(judge.pk))
    clicks.on(page.get_by_role("button", name="Start run"))

    assert clicks.count <= MOST_CLICKS
    items = 2 * USUAL_PILOT_DOCUMENTS
    expect(page.locator("#progress")).to_contain_text(f"{items} of {items}", timeout=60_000)
    expect(page.get_by_role("button", name="Judge the rest")).to_be_visible()
    pilot = EvaluationRun.objects.exclude(pk=first.pk).get()
    assert pilot.judge == judge
    assert CHANGED in pilot.run_criteria.get().template
