"""Scales that no form takes are taken by no other door, and rows that are wrong already end no
page."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client

from evaluations.models import ApiToken, Criterion, Judge, Project
from evaluations.models.tokens import new_token
from evaluations.web.forms.criteria import CriterionForm
from geval.statistics.scales import Scale, problems_of_scale, usable_scale, usual_scale_for

INFINITE, NAN = math.inf, math.nan
WRONG = [
    (1, 5, 1e-9), (5, 1, 1), (1, 1, 1), (1, 5, 0), (1, 5, -1), (NAN, 5, 1), (1, NAN, 1),
    (1, 5, NAN),
    (-INFINITE, 5, 1), (1, INFINITE, 1), (1, 5, INFINITE), (0, 1e300, 1e299),
    (-1e308, 1e308, 1e307),
]  # fmt: skip


@pytest.mark.parametrize("ends", WRONG)
def test_a_wrong_scale_is_refused_and_one_that_is_stored_is_still_usable(
    ends: tuple[float, float, float],
) -> None:
    assert problems_of_scale(*ends, {})

    usable = usable_scale(*ends, {"x": "No point", "1": "Yes"})

    assert 1 <= len(usable.points) <= 101


@pytest.mark.parametrize(
    "labels", [{"9": "Off"}, {"nan": "No"}, {"1": ""}, {"1": 5}, {"one": "Yes"}, ["Yes"]]
)
def test_names_of_points_are_texts_for_points_on_the_scale(labels: Any) -> None:
    assert list(problems_of_scale(1, 5, 1, labels)) == ["scale_labels"]


@pytest.mark.parametrize("values", [[1e9], [-1e9, 1e9], [999_999_999.5], [5, 2000]])
def test_the_scale_that_ratings_show_is_a_sound_one(values: list[float]) -> None:
    found = usual_scale_for(values)

    assert all(found.holds(value) for value in values)
    assert not problems_of_scale(found.lowest, found.highest, found.step, {})


@pytest.mark.django_db
@pytest.mark.parametrize("ends", [WRONG[0], WRONG[1], WRONG[5], WRONG[10]])
def test_form_api_and_database_refuse_it_alike(
    project: Project, owner: Any, ends: tuple[float, float, float]
) -> None:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)
    values = dict(zip(("scale_min", "scale_max", "scale_step"), ends, strict=True))

    form = CriterionForm({"name": "c", **values}, instance=Criterion(project=project))
    answer = Client().post(
        "/api/v1/projects/small/criteria",
        json.dumps({"name": "c", **values}),
        "application/json",
        headers={"Authorization": f"Bearer {token}"},
    )

    assert not form.is_valid()
    assert answer.status_code == 422
    with pytest.raises(ValidationError):
        Criterion(project=project, name="c", **values).full_clean()
    with pytest.raises(DatabaseError), transaction.atomic():
        Criterion.objects.create(project=project, name="c", **values)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "settings",
    [
        {"concurrency": 300_000},
        {"temperature": NAN},
        {"samples": 0},
        {"timeout_seconds": INFINITE},
        {"max_tokens": 0},
    ],
)
def test_no_judge_has_settings_out_of_range(project: Project, settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Judge(project=project, name="j", **settings).full_clean()
    with pytest.raises(IntegrityError), transaction.atomic():
        Judge.objects.create(project=project, name="j", **settings)


@pytest.mark.django_db
def test_pages_of_a_project_with_a_silly_scale_are_shown(
    judged_project: Project, as_role: Callable[[str], Client]
) -> None:
    ends = WRONG[6]
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for name in ("scale_within_limits", "scale_of_few_points"):
            cursor.execute(f"ALTER TABLE evaluations_criterion DROP CONSTRAINT {name}")
    criterion = judged_project.criteria.first()
    assert criterion is not None
    Criterion.objects.filter(pk=criterion.pk).update(
        scale_min=ends[0], scale_max=ends[1], scale_step=ends[2], scale_labels={"x": 5}
    )
    client = as_role("owner")
    document = judged_project.documents.first()
    assert document is not None
    pages = [
        "",
        "data/",
        f"data/{document.pk}/",
        "criteria/",
        f"criteria/{criterion.pk}/",
        "judges/",
        "runs/",
    ]
    pages += ["report/", "annotate/", "annotate/new/", "report/export/csv/", "report/export/json/"]
    pages += [f"report/figure/scores/{criterion.pk}/", f"report/figure/scatter/{criterion.pk}/"]

    assert {page: client.get(f"/p/small/{page}").status_code for page in pages} == dict.fromkeys(
        pages, 200
    )


def test_a_sound_scale_is_used_as_it_is() -> None:
    assert usable_scale(0, 1, 0.5, {"1": "Yes"}) == Scale(0, 1, 0.5, {"Yes": 1.0})
