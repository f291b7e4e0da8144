"""An archive with any single byte flipped either loads what was in it or is refused with a
reason."""

from collections import Counter

import pytest

from evaluations.models import Project
from tests.archive.test_hostile_archives import all_flips_load_the_same_or_are_refused
from tests.hostile.table import record

pytestmark = pytest.mark.django_db


def test_every_single_byte_flipped(small_project: Project) -> None:
    loaded, refused = all_flips_load_the_same_or_are_refused(small_project, step=1)

    record("archives with a byte flipped", Counter({"loaded": loaded, "refused": refused}))
    assert refused
