"""`geval.compare`, `geval.plan` and `geval.certify`: what a measurement says beyond its verdict."""

import doctest
import math
from pathlib import Path

import numpy as np
import pytest

import geval
from annotations.goals.plans import plan as plan_of_site
from annotations.models import CampaignGoal, GoalKind
from evaluations.corpus.store import load_files
from evaluations.models import Project
from evaluations.reports.data import load_data
from evaluations.reports.report import build_report
from geval.files.readers import InputFile
from geval.measuring import certifying, comparing, measuring, plans
from geval.measuring.plans import IN_GROUPS
from geval.reports.document_values import judge_values
from geval.statistics.arrays import Outputs
from geval.statistics.planning import LOOK_ONCE, Needed
from geval.statistics.scales import Scale
from geval.statistics.shares import wilson
from tests.measuring.conftest import made_up, written


@pytest.fixture
def measured(files: list[Path]) -> geval.Measurement:
    return geval.measure(files)


@pytest.mark.django_db
def test_a_comparison_is_the_test_of_the_sites_report(project: Project, files: list[Path]) -> None:
    load_files(project, [InputFile(path, path.name) for path in files])
    site = {result.criterion: result.significance for result in build_report(project).criteria}

    for compared in geval.compare(geval.measure(files), "near", "far"):
        significance = site[compared.criterion]
        (pair,) = significance.tests
        sign = 1 if pair == ("near", "far") else -1
        assert compared.difference == sign * significance.tests[pair].observed
        assert compared.p_adjusted == significance.adjusted[pair]
        assert compared.better == "near"


def test_a_comparison_turns_round_with_its_judges(measured: geval.Measurement) -> None:
    there = geval.compare(measured, "near", "far", criterion="Coherence")
    back = geval.compare(measured, "far", "near", criterion="coherence")

    assert len(there) == len(back) == 1
    assert there[0].difference == -(back[0].difference or 0)
    assert there[0].interval == tuple(-end for end in reversed(back[0].interval or ()))
    assert "near agrees better" in str(there[0])


@pytest.mark.django_db
def test_a_plan_is_the_sites(project: Project, files: list[Path]) -> None:
    load_files(project, [InputFile(path, path.name) for path in files])
    judge, criterion = project.judges.get(name="near"), project.criteria.get(name="coherence")
    aim = CampaignGoal(kind=GoalKind.WIDTH, criterion=criterion, judge=judge, width=0.1)
    site = plan_of_site(aim, load_data(project, [judge], [criterion]))

    library = geval.plan(geval.measure(files), criterion="coherence", judge="near", width=0.1)

    assert library == site
    assert library.now is not None
    assert library.now.once.likely is not None


def test_a_plan_counts_whole_groups() -> None:
    """Topics that all say the same within themselves are planned as topics, and not looked at
    after every document."""
    table = [
        {"doc": f"d{d}", "topic": f"T{d % 15}", "system": s, "ann": (s + d % 15) % 4, "gpt": s}
        for d in range(90) for s in range(4)
    ]  # fmt: skip
    columns = {"human": "ann", "judge": "gpt", "document": "doc", "system": "system"}
    alone, of_topics = (
        geval.plan(geval.measure(rows, **columns, **named), width=0.2)
        for rows, named in ((table[:60], {}), (table, {"group": "topic"}))
    )

    assert alone.now is not None
    assert of_topics.now is not None
    assert of_topics.now.once.likely == 6 * alone.now.once.likely
    assert of_topics.now.once.promised == 6 * alone.now.once.promised
    assert of_topics.now.looking == Needed(None, None, LOOK_ONCE)
    assert of_topics.sample == (IN_GROUPS,)


@pytest.mark.parametrize(
    ("requirement", "code"),
    [
        ("raters>=3", 0),
        ("raters>=4", 1),
        ("spearman.summary.value>=0.2", 0),
        ("spearman.summary.value>=0.99", 1),
        ("alt_test.passed", 0),
    ],
)
def test_requirements_are_met_or_not(
    measured: geval.Measurement, requirement: str, code: int
) -> None:
    (certified,) = geval.certify(measured, [requirement], criterion="coherence", judge="near")

    assert certified.exit_code == code, certified


def test_what_is_met_by_what_reads_nothing_is_not_met(tmp_path: Path) -> None:
    content = made_up(3)
    content["ratings.csv"] = "\n".join(
        line.rsplit(",", 1)[0] + ",3" if line and not line.startswith("doc_id") else line
        for line in content["ratings.csv"].split("\n")
    )
    measured = geval.measure(written(tmp_path, content))

    certified = geval.certify(
        measured, ["alt_test.winning_rate>=0"], criterion="coherence", judge="near"
    )

    assert certified[0].exit_code == 2


@pytest.mark.parametrize(
    ("true", "least", "each"), [(0.9, 0.8, 112), (0.95, 0.8, 40), (0.85, 0.8, 481)]
)
def test_labels_are_planned_before_there_are_any(true: float, least: float, each: int) -> None:
    planned = geval.plan_labels(true, least=least, fails=0.05)

    assert planned.each == each
    assert planned.labels == each * 20
    rng = np.random.default_rng(0)
    power = {}
    for count in (each - 1, each, each + 10):
        shown = [wilson(of / count, count, math.inf, 0.95)[0] >= least for of in range(count + 1)]
        power[count] = np.mean(np.array(shown)[rng.binomial(count, true, 40_000)])
    assert power[each - 1] < 0.81
    assert min(power[each], power[each + 10]) > 0.79


@pytest.mark.parametrize(
    ("scores", "values", "lowest"),
    [
        ([[0.9, 0.2, 0.5, 0.1]], [1.0, 0.5], 0.0),  # 0.5 is a pass
        ([[1, 0, np.nan, 0]], [1.0, 1.0], 0.0),
        ([[1, 0, 0, 1], [0, 1, 1, 1]], [1.0, 0.5], -1.0),
    ],
)
def test_on_pass_or_fail_a_documents_value_is_the_share_of_equal_verdicts(
    scores: list[list[float]], values: list[float], lowest: float
) -> None:
    people = np.array([1.0, 0.0, 0.0, 0.0])

    told = judge_values(Outputs.full(2, 2), people, Scale(0, 1), list(map(np.array, scores)))

    assert told.values.tolist() == values
    assert (told.lowest, told.most) == (lowest, 1.0)


def one_output_a_document(noise: dict[str, float]) -> geval.Measurement:
    rng = np.random.default_rng(3)
    quality = rng.normal(size=200)
    table = [
        {"id": n, "expert": int(np.clip(round(3 + of), 1, 5))}
        | {name: float(of + rng.normal() * by) for name, by in noise.items()}
        for n, of in enumerate(quality)
    ]
    return geval.measure(table, human="expert", judge=[*noise], document="id")


@pytest.mark.parametrize(
    ("noise", "better"), [({"a": 0.5, "b": 1.5}, "a"), ({"a": 1.0, "b": 1.0}, "")]
)
def test_judges_are_compared_where_documents_have_one_output(
    noise: dict[str, float], better: str
) -> None:
    measured = one_output_a_document(noise)

    (there,) = geval.compare(measured, "a", "b")
    (back,) = geval.compare(measured, "b", "a")

    assert (there.better, back.better, there.documents) == (better, better, 200)
    assert there.interval is not None
    assert there.interval[0] < (there.difference or 0) < there.interval[1]
    assert back.difference == pytest.approx(-(there.difference or 0))
    assert measured.criteria[0].rho is not None


@pytest.mark.parametrize("module", [certifying, comparing, measuring, plans])
def test_examples_of_docstrings_hold(module: object) -> None:
    names = {"measure": geval.measure}
    result = doctest.testmod(module, extraglobs=names)  # type: ignore[arg-type]

    assert (result.failed, result.attempted > 0) == (0, True)
