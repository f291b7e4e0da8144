"""The table of verdicts says how often its checks err, by the threshold that they use."""

from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.models import Project
from geval.statistics.thresholds import VERDICT_ERROR

pytestmark = pytest.mark.django_db


def test_it_names_the_error_of_each_check_and_makes_no_claim_of_the_bar_alone(
    judged_project: Project, as_role: Callable[[str], Client]
) -> None:
    text = " ".join(as_role("viewer").get("/p/small/report/").content.decode().split())

    assert f"by mistake at most once in {1 / VERDICT_ERROR:g} reports" in text
    assert "the shade ranks like a rater" not in text
