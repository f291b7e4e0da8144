"""Certificates, proofs, disagreements and comparisons of judges count by weights, and say so in the
words of the report."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotations.models import StatedProbability
from assurance.certifying.certificates import certify, read_requirements, what_changed
from assurance.improving.certificate import certificate
from assurance.improving.looking import look
from assurance.improving.work import request_search, work_on_search
from evaluations.corpus.locks.locking import lock_documents
from evaluations.models import Criterion, Judge, Project
from evaluations.reports.report import build_report
from geval.reports.samples import PROVEN, WEIGHTS
from geval.reports.words import chosen_note
from geval.texts.sentences import WEIGHTED
from tests.annotations.test_what_weighted_numbers_speak_of import (
    PLACES,
    plain,
    sampled,
    unequal,
)

__all__ = ["sampled", "unequal"]
pytestmark = pytest.mark.django_db


def test_a_certificate_says_it_and_fits_as_long_as_weights_stay(
    unequal: Project, as_role: Callable[[str], Client]
) -> None:
    judge, criterion = unequal.judges.get(name="other"), unequal.criteria.get()
    made = certify(judge, criterion, read_requirements(["spearman.dataset.value>=0.1"]))

    assert made.content["what_numbers_speak_of"] == [WEIGHTS]
    assert WEIGHTS in plain(as_role("owner").get(made.get_absolute_url()))
    assert what_changed(made) == []
    StatedProbability.objects.filter(probability__lt=1).update(probability=0.2)
    assert what_changed(made)


def test_a_certificate_of_picked_outputs_says_that_they_are_no_sample(
    sampled: Callable[..., Project],
) -> None:
    project = sampled([0.0] * len(PLACES))
    made = certify(
        project.judges.get(name="other"),
        project.criteria.get(),
        read_requirements(["spearman.dataset.value>=0.1"]),
    )

    (sentence,) = made.content["what_numbers_speak_of"]
    assert sentence == chosen_note(build_report(project))
    assert "describe the outputs that were rated" in sentence


def test_a_proof_counts_by_weights_and_says_so(
    unequal: Project, as_role: Callable[[str], Client]
) -> None:
    judge, criterion = unequal.judges.get(name="gpt-judge"), unequal.criteria.get()
    locked = lock_documents(unequal, seed="fixed")
    weighted = gain_of(judge, criterion)
    words = f"{WEIGHTED} {PROVEN}"

    (entry,) = certificate(locked)["looks"]
    assert entry["what_numbers_speak_of"] == [words]
    page = as_role("owner").get(reverse("evaluations:improve", args=[unequal.slug]))
    assert words in plain(page)
    StatedProbability.objects.update(probability=1.0)
    assert gain_of(judge, criterion) != weighted
    looks = certificate(locked)["looks"]
    assert [entry.get("what_numbers_speak_of") for entry in looks] == [[words], None]


def gain_of(judge: Judge, criterion: Criterion) -> float | None:
    search = request_search(judge, criterion, ["calibration"])
    work_on_search(search.pk)
    taken = look(search.candidates.get())
    assert taken is not None
    return taken.gain
