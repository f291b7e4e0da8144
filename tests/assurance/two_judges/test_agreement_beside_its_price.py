"""What the dearer of two judges gives for its price: on the page of two judges, and in the API."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from assurance.two_judges.pair_figures import priced_judge
from evaluations.models import EvaluationRun, Judge, Project, RunState
from evaluations.reports.judge_costs import costs_of
from evaluations.reports.serving import live
from geval.reports.costs import (
    AgreementGap,
    JudgeCost,
    PricedJudge,
    compare_prices,
)
from tests.made_up_files import files_of

GAPS = [AgreementGap("coherence", 0.02, (-0.01, 0.05))]


def sentence(first: float | None, second: float | None, gaps: list[AgreementGap] = GAPS) -> str:
    low, high = {"reasoning_effort": "low"}, {"reasoning_effort": "high"}
    return compare_prices(PricedJudge("A", first, high), PricedJudge("B", second, low), gaps, "rho")


def test_the_dearer_judge_is_said_with_what_it_gives() -> None:
    given = sentence(9, 1)
    assert given.startswith("A (reasoning_effort high): rho +0.02 [−0.01, +0.05]")
    assert given.endswith("9 times the price.")


@pytest.mark.parametrize(("first", "second"), [(None, 1), (1, None), (0, 1), (1, 1), (1, 1.09)])
def test_nothing_is_said_where_prices_are_alike_or_not_known(
    first: float | None, second: float | None
) -> None:
    assert sentence(first, second) == ""


@pytest.fixture
def priced(
    project: Project, load: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> Project:
    """Twenty documents by five systems; "high" follows people more closely than "low", for nine
    times the price."""
    live.forget()
    rng = np.random.default_rng(4)
    outputs, ratings, scores = [], [], []
    for number in range(20):
        for system in range(5):
            name = f'"doc_id": "d{number:02}", "system_id": "s{system}"'
            outputs.append(f'{{{name}, "source": "S", "output": "Text {number} {system}"}}')
            human = int(rng.integers(1, 6))
            ratings += [f"d{number:02},s{system},coherence,{rater},{human}\n" for rater in "ab"]
            for judge, off in (("high", 1), ("low", 2)):
                score = int(np.clip(human + rng.integers(-off, off + 1), 1, 5))
                scores.append(f"d{number:02},s{system},coherence,{judge},{score}\n")
    load(project, files_of(outputs, ratings, scores))
    Judge.objects.filter(name="high").update(request_options={"reasoning_effort": "high"})

    def made_up(judges: Sequence[Judge]) -> list[JudgeCost]:
        return [
            JudgeCost(judge.label, 100, money=Decimal(9 if judge.name == "high" else 1))
            for judge in judges
        ]

    monkeypatch.setattr("assurance.two_judges.page.costs_of", made_up)
    return project


@pytest.mark.django_db
def test_page_and_api_say_the_same(as_role: Callable[[str], Client], priced: Project) -> None:
    viewer = as_role("viewer")
    page = viewer.get("/p/small/report/compare/").content.decode()
    low, high = (priced.judges.get(name=name).pk for name in ("low", "high"))
    address = f"/api/v1/projects/small/judge-tests?first={low}&second={high}"
    api = viewer.get(address).json()

    priced_words = re.search(
        r"high \(reasoning_effort high\): rho \+0\.\d\d \[[+−]\d\.\d\d, \+\d\.\d\d\] .*"
        r" 9 times the price\.$",
        api["summary"],
    )
    assert priced_words
    assert priced_words[0] in re.sub(r"\s+", " ", page)
    found = api["criteria"]["coherence"]
    low_end, high_end = found["interval"]
    assert low_end < found["difference"] < high_end
    assert (found["documents"], found["reason"]) == (20, "")
    assert [(cost["judge"], cost["money"]) for cost in api["costs"]] == [("low", 1), ("high", 9)]


@pytest.mark.django_db
def test_the_price_has_the_tokens_of_thoughts(run: EvaluationRun) -> None:
    """Twelve items whose replies took 12,000 tokens, nearly all of them thoughts."""
    now = timezone.now()
    EvaluationRun.objects.filter(pk=run.pk).update(
        prompt_tokens=0, completion_tokens=12_000, reasoning_tokens=11_900, cache_hits=0,
        state=RunState.DONE, started_at=now - timedelta(minutes=1), finished_at=now,
        parameters=run.parameters | {"price_in": "1", "price_out": "10"},
    )  # fmt: skip
    judge = Judge.objects.get(pk=run.judge_id)

    assert priced_judge(judge, *costs_of([judge])).money == pytest.approx(10)
