"""Reports of a test begin with nothing cached."""

import pytest

from evaluations.models import Project
from evaluations.reports.serving import live
from geval.statistics import cache


@pytest.fixture
def project(project: Project) -> Project:
    live.forget()
    cache.forget()
    return project
