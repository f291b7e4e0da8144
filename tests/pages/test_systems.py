"""Systems and judges are given families of models, by which bias towards the own family is
measured."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reports.downloads.report_json import as_json
from geval.reports.report import family_of_judge
from geval.statistics.bias import Family

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("given", "name", "family", "words"),
    [
        ("", "gpt-4o-mini", Family("gpt", False), "gpt, guessed from the name"),
        ("", "dolphin", Family("", False), "family not known"),
        (" Olmo ", "gpt-4o-mini", Family("olmo", True), "olmo, given"),
    ],
)
def test_a_family_is_what_was_given_or_else_guessed(
    given: str, name: str, family: Family, words: str
) -> None:
    assert Family.of(given, name) == family
    assert str(family) == words


SCORES = "doc_id,system_id,criterion,judge,score\n" + "\n".join(
    f"d{d},{system},coherence,gpt-4o,{score}"
    for d in (1, 2, 3)
    for system, score in (("good", d), ("odd", 2))
)


@pytest.fixture
def small(small_project: Project, load: Callable[..., Any]) -> Project:
    """The small project with scores of a judge from a file."""
    load(small_project, {"scores.csv": SCORES})
    return small_project


def form_of(project: Project, **families: str) -> dict[str, Any]:
    """The form of the page with some families filled in, by names of systems and judges."""
    data: dict[str, Any] = {}
    for prefix, rows in (("system", project.systems), ("judge", project.judges)):
        records = list(rows.order_by("pk"))
        data |= {f"{prefix}-TOTAL_FORMS": len(records), f"{prefix}-INITIAL_FORMS": len(records)}
        for index, record in enumerate(records):
            data[f"{prefix}-{index}-id"] = record.pk
            data[f"{prefix}-{index}-family"] = families.get(record.name, "")
            data[f"{prefix}-{index}-kind"] = "llm"
    return data


def test_what_the_page_saves_is_in_the_report_with_how_it_is_known(
    small: Project, as_role: Callable[[str], Client]
) -> None:
    system, judge = small.systems.order_by("pk")[0], small.judges.order_by("pk")[0]
    change = reverse("evaluations:system_change", args=[small.slug])

    answer = as_role("researcher").post(
        change, form_of(small, **{system.name: "olmo", judge.name: "Olmo"})
    )

    shown = (
        as_role("viewer")
        .get(reverse("evaluations:system_list", args=[small.slug]))
        .content.decode()
    )
    system.refresh_from_db()
    judge.refresh_from_db()
    assert answer.status_code == 302
    assert (system.family, system.kind) == ("olmo", "llm")
    assert family_of_judge(judge) == Family("olmo", True)
    assert shown.count("olmo, given") == 2
    result = next(
        one for c in build_report(small).criteria for one in c.judges if one.pk == judge.pk
    )
    assert result.family == Family("olmo", True)
    own = json.loads(as_json(build_report(small)))["criteria"]["coherence"]["judges"]["gpt-4o"][
        "own_family"
    ]
    assert (own["family"], own["family_is_given"]) == ("olmo", True)


def test_a_system_of_another_project_is_not_changed(
    small: Project, as_role: Callable[[str], Client]
) -> None:
    other = Project.objects.create(name="Other", slug="other").systems.create(name="s")
    form = form_of(small) | {"system-0-id": other.pk, "system-0-family": "gpt"}

    as_role("researcher").post(reverse("evaluations:system_change", args=[small.slug]), form)

    other.refresh_from_db()
    assert other.family == ""
