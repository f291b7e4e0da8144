"""Every threshold stands in one table: the docs' page is written from it, and each is tested."""

import re

import pytest

from geval.statistics import thresholds
from geval.statistics.thresholds import TABLE, markdown
from tests.conftest import CHECKOUT
from tests.thresholds.three_points import pins


def test_the_page_of_the_docs_has_a_line_for_each() -> None:
    page = markdown()

    assert sorted(re.findall(r"^- `(\w+)`", page, re.M)) == sorted(TABLE)
    assert "`CONFIDENCE`: 0.95 share of intervals." in page


def test_every_threshold_is_tested_below_at_and_above() -> None:
    texts = (path.read_text() for path in (CHECKOUT / "tests").rglob("test_*.py"))
    tested = {name for text in texts for name in re.findall(r'^@pins\("(\w+)"', text, re.M)}

    assert set(TABLE) - tested == set()


def test_a_threshold_has_the_name_of_its_constant() -> None:
    constants = {name: value for name, value in vars(thresholds).items() if name.isupper()}

    assert constants.pop("TABLE") is TABLE
    assert constants == {name: threshold.value for name, threshold in TABLE.items()}


def test_code_reads_every_threshold() -> None:
    paths = [
        path
        for package in ("geval", "evaluations", "annotations", "assurance")
        for path in (CHECKOUT / package).rglob("*.py")
    ]
    texts = (path.read_text() for path in paths if path.name != "thresholds.py")
    read = {name for text in texts for name in re.findall(r"\b[A-Z][A-Z_]+\b", text)}

    assert set(TABLE) - read == set()


@pytest.mark.parametrize("points", [{9: 0, 11: 0, 12: 0}, {10: 0, 9: 0, 11: 0}])
def test_points_that_are_not_about_the_threshold_are_refused(points: dict[float, int]) -> None:
    with pytest.raises(AssertionError, match="INTERVAL_DOCUMENTS"):
        pins("INTERVAL_DOCUMENTS", points)
