"""The page and the command that say whether two judges' probabilities are right: judges whose
probabilities are those that ratings are drawn from, the same made too sure, and those of other
outputs."""

import csv
import gzip
import re
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from assurance.two_judges.probability_page import probability_page
from evaluations.models import Judge, Project, Score
from evaluations.reports.serving import live
from evaluations.reports.serving.worker import neglected_reports, work_on_report
from geval.reports.options import ReportOptions
from geval.reports.pairs import PairView
from geval.reports.probabilities import beside_guessing
from geval.statistics.types import FloatArray
from tests.made_up_files import files_of

pytestmark = pytest.mark.django_db
ADDRESS = "/p/small/report/compare/probabilities/"
DOCUMENTS, SYSTEMS, POINTS = 40, 5, (1, 2, 3, 4, 5)
Load = Callable[..., object]


def simulated() -> dict[str, FloatArray]:
    """Probabilities of judges by name; shape (outputs, points). Ratings are drawn from those of
    "right"."""
    rng = np.random.default_rng(3)
    quality = rng.normal(3, 1.2, DOCUMENTS * SYSTEMS)
    right = np.exp(-(((np.array(POINTS) - quality[:, None]) / 0.9) ** 2) / 2)
    right /= right.sum(axis=1, keepdims=True)
    sharp = right**8 / (right**8).sum(axis=1, keepdims=True)
    return {"right": right, "sure": sharp, "useless": rng.permutation(right)}


def load_judges(project: Project, load: Load, judges: dict[str, FloatArray]) -> None:
    """A project with three ratings of each output, and judges with these probabilities."""
    rng = np.random.default_rng(4)
    names = [(f"d{at:02}", f"s{system}") for at in range(DOCUMENTS) for system in range(SYSTEMS)]
    ratings = [
        f"{doc},{system},coherence,{rater},{rng.choice(POINTS, p=judges['right'][at])}\n"
        for at, (doc, system) in enumerate(names)
        for rater in "abc"
    ]
    load_rated(project, load, names, ratings, judges)


def load_rated(
    project: Project,
    load: Load,
    names: list[tuple[str, str]],
    ratings: list[str],
    judges: dict[str, FloatArray],
) -> None:
    """Outputs by document and system, their ratings, and judges with these probabilities of
    them."""
    live.forget()
    outputs = [f"{doc},{system},S,Text {doc} {system}\n" for doc, system in names]
    scores = [
        f"{doc},{system},coherence,{judge},{float(shares[at] @ POINTS):.4f}\n"
        for judge, shares in judges.items()
        for at, (doc, system) in enumerate(names)
    ]
    load(project, files_of(outputs, ratings, scores))
    place = {name: at for at, name in enumerate(names)}
    stored = list(Score.objects.select_related("output__document", "output__system", "run__judge"))
    for score in stored:
        at = place[score.output.document.doc_id, score.output.system.name]
        shares = judges[score.run.judge.name][at]
        score.distribution = {
            str(point): share for point, share in zip(POINTS, shares, strict=True)
        }
    Score.objects.bulk_update(stored, ["distribution"])


@pytest.fixture
def pair(project: Project, load: Load) -> Project:
    load_judges(project, load, simulated())
    return project


def ids(names: Iterable[str]) -> list[int]:
    return [Judge.objects.get(name=name).pk for name in names]


def query_of(*names: str) -> str:
    first, second = ids(names)
    return f"?first={first}&second={second}"


def shown(client: Client, query: str = "") -> str:
    answer = client.get(ADDRESS + query)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def test_right_and_too_sure_probabilities_are_told_apart(
    as_role: Callable[[str], Client], pair: Project
) -> None:
    text = shown(as_role("viewer"), query_of("right", "sure"))

    assert '<span class="llm">right</span> or <span class="llm">sure</span>?' in text
    assert "probabilities of right can be taken" in text
    assert "right has the better probabilities" in text
    assert "its probabilities can be taken" in text
    assert "It is overconfident" in text
    assert text.count('class="plot square"') == 2


def test_useless_probabilities_are_said_to_be_worse_than_guessing(
    as_role: Callable[[str], Client], pair: Project
) -> None:
    text = shown(as_role("viewer"), query_of("useless", "right"))

    assert "Do not use its probabilities" in text
    assert "right has the better probabilities" in text


def test_the_command_says_the_same_of_each(pair: Project) -> None:
    said = StringIO()
    call_command("compare", "small", "right", "sure", stdout=said)
    call_command("compare", "small", "right", "useless", stdout=said)

    lines = [line for line in said.getvalue().splitlines() if "probabilities of" in line]
    right, sure, _again, useless = lines
    assert "can be taken as they stand" in right
    assert "It is overconfident" in sure
    assert "Do not use its probabilities" in useless
    assert "right: no cost is known" in said.getvalue()


def test_the_api_has_the_same(
    as_role: Callable[[str], Client], pair: Project, settings: Any
) -> None:
    address = "/api/v1/projects/small/judge-tests" + query_of("right", "sure")
    client = as_role("viewer")

    found = client.get(address).json()["criteria"]["coherence"]["probabilities"]

    assert found["better"] == "first"
    assert (found["first"]["beside_guessing"], found["first"]["fit"]) == ("better", "right")
    assert found["second"]["fit"] == "overconfident"
    assert sum(each["count"] for each in found["first"]["diagram"]) == 5 * found["outputs"]


def test_of_two_that_cannot_be_taken_as_they_stand_the_lead_says_so(
    as_role: Callable[[str], Client], pair: Project
) -> None:
    text = shown(as_role("viewer"), query_of("sure", "useless"))

    assert "On coherence neither judge is shown" in text


def test_two_that_are_alike_are_undecided(
    as_role: Callable[[str], Client], project: Project, load: Load
) -> None:
    judges = simulated()
    load_judges(project, load, {"right": judges["right"], "twin": judges["right"] * 1.0})

    text = shown(as_role("viewer"))

    assert "better on coherence is undecided" in text


def test_a_decision_model_comes_first_and_then_the_judge_of_the_same_model(pair: Project) -> None:
    Judge.objects.filter(name="right").update(kind="geval", model="m")
    Judge.objects.filter(name="useless").update(kind="decision", model="m")
    Judge.objects.filter(name="sure").update(kind="geval", model="other")

    page = probability_page(pair, PairView(ReportOptions()))

    assert page.judges is not None
    assert page.judges.names == ("useless", "right")


def test_scores_without_probabilities_are_not_compared(
    as_role: Callable[[str], Client], pair: Project
) -> None:
    Score.objects.filter(run__judge__name__in=("sure", "useless")).update(distribution=None)

    assert "needs two judges that gave probabilities" in shown(as_role("viewer"))


def test_the_page_of_two_judges_links_here_where_both_gave_probabilities(
    as_role: Callable[[str], Client], pair: Project
) -> None:
    client = as_role("viewer")
    address = "/p/small/report/compare/" + query_of("right", "sure")
    assert "probabilities/?first=" in client.get(address).content.decode()

    Score.objects.filter(run__judge__name="sure").update(distribution=None)
    live.forget()

    assert "probabilities/?first=" not in client.get(address).content.decode()


@pytest.mark.parametrize(
    "odd",
    [{}, {"6": 1.0}, {"1": 0.5}, {"a": 1.0}, {"1e999": 1.0}, {"1": "x"}, ["1"], {"1": None}, "1"],
)
def test_odd_distributions_count_as_missing(pair: Project, odd: Any) -> None:
    first = Score.objects.filter(run__judge__name="right").earliest("pk")
    first.distribution = odd
    first.save()

    right, sure = ids(("right", "sure"))
    page = probability_page(pair, PairView(ReportOptions(), right, sure))

    (on,) = page.criteria
    assert on.pair.outputs == DOCUMENTS * SYSTEMS - 1
    assert beside_guessing(on.pair.judges[0]) == "better"


def test_of_few_outputs_nothing_is_said(as_role: Callable[[str], Client], pair: Project) -> None:
    kept = Score.objects.filter(run__judge__name="right").order_by("pk").values("pk")[:99]
    Score.objects.filter(run__judge__name="right").exclude(pk__in=kept).update(distribution=None)

    text = shown(as_role("viewer"), query_of("right", "sure"))

    assert "fewer than 100 outputs have probabilities" in text


def test_each_of_three_judges_is_named_on_recorded_ratings(
    as_role: Callable[[str], Client], project: Project, load: Load, benchmarks: Path
) -> None:
    """SummEval's coherence, with the third expert's ratings. A right judge states how often that
    expert gave each point where the other two gave as much as here."""
    rated: dict[tuple[str, str], list[int]] = {}
    with gzip.open(benchmarks / "summeval" / "human_ratings.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            if row["criterion"] == "coherence":
                rated.setdefault((row["doc_id"], row["system_id"]), []).append(int(row["score"]))
    names = sorted(rated)
    first, second, third = np.array([rated[name] for name in names]).T
    right = np.empty((len(names), len(POINTS)))
    for total in np.unique(first + second):
        alike = first + second == total
        right[alike] = np.bincount(third[alike] - 1, minlength=len(POINTS)) / alike.sum()
    judges = {
        "right": right,
        "sure": right**8 / (right**8).sum(axis=1, keepdims=True),
        "useless": np.random.default_rng(5).permutation(right),
    }
    ratings = [
        f"{doc},{system},coherence,third,{rating}\n"
        for (doc, system), rating in zip(names, third, strict=True)
    ]
    load_rated(project, load, names, ratings, judges)
    client = as_role("viewer")

    too_sure, useless = (shown(client, query_of("right", name)) for name in ("sure", "useless"))

    for text in (too_sure, useless):
        assert "its probabilities can be taken" in text
        assert "right has the better probabilities" in text
    assert "It is overconfident" in too_sure
    assert "Do not use its probabilities" in useless


def test_in_a_large_project_a_worker_computes_it(
    pair: Project, as_role: Callable[[str], Client], settings: Any
) -> None:
    reader, query = as_role("viewer"), query_of("right", "sure")
    expected = reader.get(ADDRESS + query).content.decode()
    settings.REPORT_IN_PAGE_NUMBERS = 0
    assert reader.get(ADDRESS + query).status_code == 202
    for _ in range(5):
        while waiting := neglected_reports():
            for pk in waiting:
                work_on_report(pk)
        answer = reader.get(ADDRESS + query)
    assert answer.content.decode().split("<main", 1)[1] == expected.split("<main", 1)[1]


def test_annotators_do_not_see_it(as_role: Callable[[str], Client], pair: Project) -> None:
    assert as_role("annotator").get(ADDRESS).status_code == 403
    assert as_role("stranger").get(ADDRESS).status_code == 404
