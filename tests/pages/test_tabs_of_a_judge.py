"""A judge is one page with tabs: each for those who may open it, with one head."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
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


def test_each_tab_has_the_head_and_is_marked(
    judged_project: Project, as_role: Callable[[str], Client]
) -> None:
    judge, client = judged_project.judges.get(), as_role("researcher")
    tabs = judge_tabs(judge, may_edit=True)

    for tab in tabs:
        page = client.get(tab.address(judge)).content.decode()
        row = page.split(f'aria-label="{judge}">')[1].split("</nav>")[0]
        assert re.findall(r'aria-current="page">([^<]+)<', row) == [tab.name]
        assert row.count("<li>") == len(tabs)
        assert f"/p/small/runs/?judge={judge.pk}#start" in page
