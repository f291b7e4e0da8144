"""Probes and repeated questions on labels without an order: shares that stay, never means."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from assurance.instrument.sensitivity import sensitivity_of
from assurance.instrument.studies import PARTS, make_study
from evaluations.models import Criterion, Judge, Study, StudyKind, StudyPart
from evaluations.reports.steadiness import steadiness

pytestmark = pytest.mark.django_db
LABELS = {"1": "good", "2": "rude", "3": "slow", "4": "false", "5": "long"}


@pytest.fixture
def labels(criterion: Criterion) -> Criterion:
    Criterion.objects.update(is_ordered=False, scale_labels=LABELS)
    criterion.refresh_from_db()
    return criterion


def ended(study: Study, names: tuple[str, ...]) -> None:
    """All of a study is asked: labels differ by output, and as a bullet list all become "long"."""
    for at, item in enumerate(study.items.all()):
        item.scores = [5.0 if name == "bulleted" else float(1 + at % 4) for name in names]
        item.save()
    StudyPart.objects.bulk_create(
        StudyPart(study=study, number=at + 1, name=name, recorded_at=timezone.now())
        for at, name in enumerate(names)
    )
    Study.objects.filter(pk=study.pk).update(is_on=False)
    study.refresh_from_db()


def test_a_probe_has_the_share_of_labels_that_stay_at_every_door(
    labels: Criterion, judge: Judge, as_role: Callable[[str], Client]
) -> None:
    study = make_study(judge, labels, StudyKind.PROBES)
    ended(study, PARTS[StudyKind.PROBES])

    by_name = {shown.found.name: shown.found for shown in sensitivity_of(study).findings}
    assert by_name.keys() == {"noise", *PARTS[StudyKind.PROBES]} - {"unchanged"}
    assert (by_name["bulleted"].value, by_name["bulleted"].is_found) == (0, True)
    assert (by_name["padded"].value, by_name["padded"].is_found) == (1, False)
    title = "bullet list (share of labels that stay)"
    page = as_role("viewer").get(f"{judge.get_absolute_url()}instrument/").content.decode()
    assert title in page
    assert "stricter" not in page.lower()


def test_repeated_labels_have_no_mean_and_no_error(labels: Criterion, judge: Judge) -> None:
    study = make_study(judge, labels, StudyKind.AGAIN, replies=2)
    ended(study, ("", ""))

    (found,) = steadiness(judge)

    assert found.found.differ.value == 0
    for figure in (found.found.icc, found.score_error, found.found.flips, found.found.pearson):
        assert (figure.value, figure.reason) == (None, "labels have no order")
