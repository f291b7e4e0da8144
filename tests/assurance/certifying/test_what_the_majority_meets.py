"""A requirement that always passing meets is no merit of a judge."""

import numpy as np
import pytest

from annotations.models import Annotator, Rating
from assurance.certifying.certificates import certify, read_requirements
from evaluations.models import CandidateOutput, Project, Score
from tests.reports.test_pass_or_fail import judged

__all__ = ["judged"]
pytestmark = pytest.mark.django_db


def test_a_requirement_that_the_majority_meets_cannot_be_claimed(judged: Project) -> None:
    judge, criterion = judged.judges.get(), judged.criteria.get(name="factual")
    Rating.objects.filter(criterion=criterion).delete()
    rng = np.random.default_rng(27)
    outputs = list(CandidateOutput.objects.filter(document__project=judged).order_by("pk"))
    fails = {output.pk: rng.random() < 0.1 for output in outputs}
    for name in ("ann", "bob", "cat"):
        person, _ = Annotator.objects.get_or_create(project=judged, name=name)
        Rating.objects.bulk_create(
            Rating(annotator=person, criterion=criterion, output=output,
                   score=int(fails[output.pk] == (rng.random() < 0.05)))
            for output in outputs
        )  # fmt: skip
    Score.objects.all().update(value=1.0)

    made = certify(judge, criterion, read_requirements(["alt_test.passed"]))

    assert made.outcome == "cannot say"
    assert "the majority, always 1" in made.requirements[0]["reason"]
