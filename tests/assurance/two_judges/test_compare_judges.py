"""The page of two judges: paired differences, who gives what, who agrees with people, and cost."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from assurance.two_judges.page import two_judges
from evaluations.models import EvaluationRun, Judge, Project, RunState
from evaluations.reports.judge_costs import costs_of
from evaluations.reports.report import build_report
from evaluations.reports.serving import live
from evaluations.reports.serving.worker import neglected_reports, work_on_report
from geval.reports.options import ReportOptions
from geval.reports.pairs import PairView, unit_of
from geval.statistics.scales import Scale
from tests.made_up_files import files_of

pytestmark = pytest.mark.django_db
ADDRESS = "/p/small/report/compare/"
Load = Callable[..., object]


@pytest.fixture
def pair(project: Project, load: Load) -> Project:
    """Twenty documents by five systems; "near" follows people, "far" is noise."""
    live.forget()
    rng = np.random.default_rng(4)
    outputs, ratings, scores = [], [], []
    for number in range(20):
        for system in range(5):
            name = f'"doc_id": "d{number:02}", "system_id": "s{system}"'
            outputs.append(f'{{{name}, "source": "S", "output": "Text {number} <b>{system}</b>"}}')
            human = int(rng.integers(1, 6))
            ratings += [f"d{number:02},s{system},coherence,{rater},{human}\n" for rater in "ab"]
            near = int(np.clip(human + rng.integers(-1, 2), 1, 5))
            scores.append(f"d{number:02},s{system},coherence,near,{near}\n")
            scores.append(f"d{number:02},s{system},coherence,far,{rng.integers(1, 6)}\n")
    load(project, files_of(outputs, ratings, scores))
    return project


def shown(client: Client, query: str = "") -> str:
    answer = client.get(ADDRESS + query)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def test_the_better_judge_comes_first_and_is_said_to_be_ahead(
    as_role: Callable[[str], Client], pair: Project
) -> None:
    text = shown(as_role("viewer"))

    assert '<span class="llm">near</span> against <span class="llm">far</span>' in text
    assert "near ranks outputs more like people" in text
    assert "<strong>near ahead</strong>" in text
    assert "the same 100 outputs of 20 documents" in text


def test_swapped_the_difference_has_the_other_sign(pair: Project) -> None:
    near, far = (Judge.objects.get(name=name).pk for name in ("near", "far"))
    options = ReportOptions()

    one = two_judges(pair, PairView(options, near, far))
    other = two_judges(pair, PairView(options, far, near))

    assert one.differences[0].ahead == 1
    assert other.differences[0].ahead == 2
    assert one.differences[0].p == other.differences[0].p
    assert one.differences[0].difference.replace("+", "−") == other.differences[0].difference


def test_a_p_value_is_the_reports_over_all_pairs_of_judges(pair: Project, load: Load) -> None:
    alone = two_judges(pair, PairView(ReportOptions())).differences[0]
    rng = np.random.default_rng(7)
    lines = "".join(
        f"d{number:02},s{system},coherence,noise {judge},{rng.integers(1, 6)}\n"
        for judge in range(4) for number in range(20) for system in range(5)
    )  # fmt: skip
    load(pair, {"n.csv": "doc_id,system_id,criterion,judge,score\n" + lines})
    near, far = (Judge.objects.get(name=name).pk for name in ("near", "far"))

    among_six = two_judges(pair, PairView(ReportOptions(), near, far)).differences[0]
    (criterion,) = build_report(pair).criteria

    (tested,) = (one for one in criterion.significance.tests if set(one) == {"near", "far"})
    adjusted, p = criterion.significance.adjusted[tested], criterion.significance.tests[tested].p
    assert p is not None
    assert adjusted > p
    assert among_six.p == f"{adjusted:.3f}"
    assert among_six.interval == alone.interval


def test_a_judge_and_its_double_are_undecided(
    as_role: Callable[[str], Client], pair: Project, load: Load
) -> None:
    near = Judge.objects.get(name="near")
    rows = near.runs.get().scores.values_list(
        "output__document__doc_id", "output__system__name", "value"
    )
    lines = "".join(f"{d},{s},coherence,twin,{v}\n" for d, s, v in rows)
    load(pair, {"t.csv": "doc_id,system_id,criterion,judge,score\n" + lines})
    twin = Judge.objects.get(name="twin")

    text = shown(as_role("owner"), f"?first={near.pk}&second={twin.pk}")

    assert "No difference in agreement with people" in text
    assert "undecided" in text
    assert "same point on 100 %" in text
    assert "There is no such output" in text


def test_the_grid_and_the_shares_count_every_output(pair: Project) -> None:
    found = two_judges(pair, PairView(ReportOptions()))

    assert sum(sum(counts) for _name, counts in found.grids[0].rows) == 100
    assert sum(bubble.count for bubble in found.grids[0].bubbles) == 100
    assert sum(found.shares[0].counts) == 100


def test_a_step_is_a_tenth_of_long_scales_and_half_of_yes_and_no() -> None:
    assert [unit_of(Scale(*ends)) for ends in ((1, 5), (0, 100), (0, 1))] == [1, 10, 0.5]


def test_the_cost_of_a_thousand_items_leaves_out_those_from_the_store(
    judged_project: Project, run: EvaluationRun
) -> None:
    """Twelve items, two of them from the store; ten took 20,000 tokens in and a minute."""
    now = timezone.now()
    EvaluationRun.objects.filter(pk=run.pk).update(
        prompt_tokens=20_000, completion_tokens=1000, cache_hits=2, state=RunState.DONE,
        started_at=now - timedelta(minutes=1), finished_at=now,
        parameters=run.parameters | {"price_in": "2", "price_out": "10"},
    )  # fmt: skip

    (found,) = costs_of([Judge.objects.get(pk=run.judge_id)])

    assert (found.items, found.prompt_tokens, found.completion_tokens) == (10, 2_000_000, 100_000)
    assert found.money == Decimal("5")
    assert found.minutes == pytest.approx(100)


def test_annotators_do_not_see_it(as_role: Callable[[str], Client], pair: Project) -> None:
    assert as_role("annotator").get(ADDRESS).status_code == 403
    assert as_role("stranger").get(ADDRESS).status_code == 404


def test_in_a_large_project_the_tests_are_those_that_a_worker_computed(
    pair: Project, as_role: Callable[[str], Client], settings: Any
) -> None:
    reader = as_role("viewer")
    expected = reader.get(ADDRESS).content.decode()
    settings.REPORT_IN_PAGE_NUMBERS = 0
    waiting = reader.get(ADDRESS)
    assert waiting.status_code == 202
    assert "a worker computes its numbers" in waiting.content.decode()
    while found := neglected_reports():
        for pk in found:
            work_on_report(pk)
    assert main_of(reader.get(ADDRESS).content.decode()) == main_of(expected)


def main_of(page: str) -> str:
    return page.split("<main", 1)[1]
