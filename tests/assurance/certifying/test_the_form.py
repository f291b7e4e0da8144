"""The form of a certificate: the criterion is in sight, the rest is folded."""

import pytest
from django.test import Client

from evaluations.models import Project
from tests.pages.test_long_forms import client, groups, in_sight

__all__ = ["client"]
pytestmark = pytest.mark.django_db


def test_a_certificate_asks_for_a_criterion_and_folds_what_is_usual(
    client: Client, project: Project
) -> None:
    judge = project.judges.create(name="imported", kind="imported")
    page = client.get(f"{judge.get_absolute_url()}certificates/").content.decode()
    assert groups(page) == {"Requirements": False, "What can be required": False}
    form = in_sight(page)[in_sight(page).index("/certify/") :]
    assert 'name="criterion"' in form
    wrong = {"criterion": project.criteria.all()[0].pk, "requirements": "x", "epsilon": "0.2"}
    refused = client.post(f"{judge.get_absolute_url()}certify/", wrong).content.decode()
    assert groups(refused)["Requirements"]
