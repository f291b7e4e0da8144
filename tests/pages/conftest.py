"""What page tests share."""

import pytest

from evaluations.models import EvaluationRun, Project


@pytest.fixture
def run(judged_project: Project) -> EvaluationRun:
    return EvaluationRun.objects.get(project=judged_project)
