"""Two metrics of a test set in the format of mt-metrics-eval are compared."""

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.corpus.test_mtme import folder

__all__ = ["folder"]
pytestmark = pytest.mark.django_db


def test_they_are_compared_by_accuracies_of_the_field(folder: Path) -> None:
    out = io.StringIO()
    call_command("load_mtme", "wmt", str(folder), "en-de", stdout=io.StringIO())

    call_command("compare", "wmt", "bad-src", "good-refA", stdout=out)

    assert "mqm, tie-calibrated accuracy: " in out.getvalue()
    assert "mqm, soft pairwise accuracy: " in out.getvalue()
    with pytest.raises(CommandError, match="no judge 'none'"):
        call_command("compare", "wmt", "none", "good-refA")
