"""From a pilot on a few documents to all of them, in a browser; axe finds nothing serious on the
way."""

import json
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from evaluations.corpus.store import LoadResult
from evaluations.judging.runs import leases, results
from evaluations.judging.runs.lifecycle import close_if_finished, lay_out_run
from evaluations.models import EvaluationRun, Judge, Project
from evaluations.web.forms import runs as run_forms
from geval.llm.scoring import Scored
from tests.browser.conftest import serious

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


def judge_all(run: EvaluationRun) -> None:
    """Do what a worker does; Playwright's event loop leaves no room for its own."""
    lay_out_run(run.pk)
    items = leases.claim(run.pk, "t", most=100)
    outcome = Scored(4.0, {4.0: 0.8, 5.0: 0.2}, 0.9)
    results.store(run, [results.FinishedItem(item, "", outcome) for item in items], "t")
    close_if_finished(run.pk)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_a_pilot_is_judged_and_then_the_rest(
    small_project: Project,
    load: Callable[..., LoadResult],
    make_judge: Callable[..., Judge],
    owner: User,
    sign_in: Callable[[str], Page],
    width: int,
    scheme: str,
) -> None:
    lines = [
        json.dumps({"doc_id": f"more {n}", "system_id": "good", "source": "s", "output": f"{n}"})
        for n in range(22)
    ]
    load(small_project, {"outputs.jsonl": "\n".join(lines)})
    make_judge(small_project, use_steps=False)
    page = sign_in("olga")
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

    page.goto("/p/small/")
    assert serious(page) == []
    page.get_by_role("link", name="Start a run").click()
    width_of_goal = page.get_by_label("Precision (±)")
    expect(width_of_goal).to_be_hidden()
    page.get_by_label("End by itself when").select_option("width")
    width_of_goal.fill("7")  # more than is possible, and not sent with another choice
    page.get_by_label("End by itself when").select_option("")
    page.get_by_label(f"Pilot on {run_forms.USUAL_PILOT_DOCUMENTS} documents").check()
    page.get_by_role("button", name="Estimate cost and time").click()
    expect(page.get_by_text("46 items to judge")).to_be_visible()
    expect(page.get_by_text("Takes about")).to_be_visible()
    assert page.get_by_label(f"Pilot on {run_forms.USUAL_PILOT_DOCUMENTS} documents").is_checked()
    page.get_by_role("button", name="Start run").click()
    expect(page.get_by_role("heading", name="Run")).to_be_visible()
    expect(page.locator("#jobs a")).to_contain_text("1 run")
    judge_all(EvaluationRun.objects.get())
    page.get_by_role("button", name="Judge the rest").click()
    expect(page.get_by_text("The rest of run")).to_be_visible()
    judge_all(EvaluationRun.objects.all()[0])
    expect(page.locator("strong", has_text="10 of 10")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("link", name="Show items").click()

    expect(page.get_by_role("columnheader", name="Difference")).to_be_visible()
    assert serious(page) == []
    assert page.evaluate(wider) <= 0
