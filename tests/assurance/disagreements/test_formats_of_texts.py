"""A disagreement shows its texts in the formats of their project."""

import pytest
from django.test import Client

from evaluations.models import Project
from tests.pages.test_formats_on_pages import JSON, TABLE, client, page, project, shown

__all__ = ["client", "project", "shown"]
pytestmark = pytest.mark.django_db


def test_texts_are_formatted_and_what_is_marked_is_marked_as_it_was_written(
    client: Client, shown: Project
) -> None:
    case = page(client, "/p/small/report/disagreements/")

    assert TABLE in case
    assert JSON in case
    assert "as_written" in case
    assert "data-as-written open" in case
