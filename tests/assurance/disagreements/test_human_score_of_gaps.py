"""Gaps are to the chosen human score, which the page names."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.models import Project
from tests.reports.test_human_scores import rated

__all__ = ["rated"]
pytestmark = pytest.mark.django_db
PAGE = "/p/small/report/disagreements/"


def test_the_page_names_it_where_it_is_not_the_usual_one(
    rated: Project, as_role: Callable[[str], Client]
) -> None:
    reader = as_role("viewer")

    other = reader.get(f"{PAGE}?human_score=median").content.decode()

    assert re.search(r"human score:\s+median of ratings", other)
    assert "human score:" not in reader.get(PAGE).content.decode()
