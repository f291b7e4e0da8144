"""The report leads to the comparison of judges."""

from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client

from evaluations.models import Project
from tests.pages.test_annotators import rated

__all__ = ["rated"]
pytestmark = pytest.mark.django_db


def test_it_keeps_the_view_of_the_report(rated: Project, as_role: Callable[[str], Client]) -> None:
    reader = as_role("viewer")

    page = reader.get("/p/small/report/?human_score=median")

    assert 'href="/p/small/report/compare/?human_score=median"' in unescape(page.content.decode())
