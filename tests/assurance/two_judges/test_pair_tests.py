"""Which of two judges orders pairs more like people: tests that a worker makes, on the page of two
judges and in the API."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.test import Client

from evaluations.models import Project
from evaluations.reports.serving import live
from evaluations.reports.serving.worker import neglected_reports, work_on_report
from tests.made_up_files import files_of

pytestmark = pytest.mark.django_db
PAGE, API = "/p/small/report/compare/tests/", "/api/v1/projects/small/judge-tests"
Load = Callable[..., object]


@pytest.fixture
def pair(project: Project, load: Load) -> dict[str, int]:
    """Ten documents by three systems; "near" gives what people give, "far" is noise. Their ids."""
    live.forget()
    rng = np.random.default_rng(4)
    outputs, ratings, scores = [], [], []
    for document in range(10):
        for system in range(3):
            key, human = f"d{document},s{system}", int(rng.integers(1, 6))
            outputs.append(f"{key},Source.,Text {document} {system}.\n")
            ratings.append(f"{key},coherence,a,{human}\n")
            scores.append(f"{key},coherence,near,{human}\n")
            scores.append(f"{key},coherence,far,{rng.integers(1, 6)}\n")
    load(project, files_of(outputs, ratings, scores))
    return dict(project.judges.values_list("name", "pk"))


def compute() -> None:
    for pk in neglected_reports():
        work_on_report(pk)


def test_a_worker_makes_them_and_the_page_and_the_api_show_the_same(
    pair: dict[str, int], as_role: Callable[[str], Client]
) -> None:
    reader = as_role("viewer")
    both = {"first": pair["far"], "second": pair["near"]}
    assert reader.get(API, both).status_code == 202
    waiting = reader.get(PAGE, both).content.decode()
    assert "it waits for its turn" in waiting
    assert 'hx-trigger="every 2s' in waiting

    compute()

    found: dict[str, Any] = reader.get(API, both).json()["criteria"]["coherence"]
    calibrated = found["tie_calibrated_accuracy"]
    assert calibrated["second"] == 1.0
    assert calibrated["difference"] == pytest.approx(1.0 - calibrated["first"])
    assert calibrated["p"] < 0.05
    assert 0 <= found["soft_pairwise_accuracy"]["first"] <= 1
    page = reader.get(PAGE, both).content.decode()
    assert f"{calibrated['first']:.3f}" in page
    assert "hx-trigger" not in page


def test_a_judge_of_another_project_is_not_found(
    pair: dict[str, int], as_role: Callable[[str], Client]
) -> None:
    assert as_role("viewer").get(API, {"first": pair["far"], "second": 10**9}).status_code == 404


def test_the_page_of_two_judges_asks_for_them_once_they_are_in_sight(
    pair: dict[str, int], as_role: Callable[[str], Client]
) -> None:
    page = as_role("viewer").get("/p/small/report/compare/").content.decode()
    assert 'hx-trigger="revealed"' in page
    assert f"{PAGE}?first={pair['near']}&amp;second={pair['far']}" in page
