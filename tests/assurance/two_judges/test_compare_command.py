"""The command that compares two judges prints the difference of their correlations."""

import io
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from evaluations.corpus.store import load_files
from evaluations.models import Project
from geval.files.readers import InputFile
from tests.measuring.conftest import made_up, written

pytestmark = pytest.mark.django_db


def test_two_judges_are_compared_by_the_difference_of_their_correlations(
    project: Project, tmp_path: Path
) -> None:
    files = written(tmp_path, made_up(5))
    load_files(project, [InputFile(path, path.name) for path in files])
    out = io.StringIO()

    call_command("compare", project.slug, "near", "far", stdout=out)

    assert re.search(r"^near less far: rho \+\d.+\[.+\] on coherence$", out.getvalue(), re.M)
    with pytest.raises(CommandError, match="no judge 'none'"):
        call_command("compare", project.slug, "none", "far")
