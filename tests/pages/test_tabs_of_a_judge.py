"""A judge is one page with tabs: each for those who may open it, with one head."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from evaluations.models import Judge, Project
from evaluations.pages.judges import judge_tabs

pytestmark = pytest.mark.django_db
ALL = "Agreement Runs Try Improve Reliability Policy Certificates Settings"


@pytest.mark.parametrize(
    ("about", "may_edit", "names"),
    [
        ({}, True, ALL),
        ({}, False, ALL.replace(" Try", "")),
        ({"retired_at": timezone.now()}, False, ALL.replace(" Try Improve", "")),
        (
            {"kind": "rouge", "endpoint": None},
            True,
            ALL.replace(" Try", "").replace(" Reliability", ""),
        ),
        (
            {"kind": "imported", "endpoint": None},
            True,
            ALL.replace(" Runs Try", "").replace(" Reliability", ""),
        ),
    ],
)
def test_a_judge_has_the_tabs_that_somebody_may_open(
    small_project: Project,
    make_judge: Callable[..., Judge],
    about: dict[str, Any],
    may_edit: bool,
    names: str,
) -> None:
    judge = make_judge(small_project)
    for name, value in about.items():
        setattr(judge, name, value)

    assert " ".join(tab.name for tab in judge_tabs(judge, may_edit=may_edit)) == names
