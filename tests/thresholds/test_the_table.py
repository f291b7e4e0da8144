"""Every threshold stands in one table: the docs' page is written from it, and each is tested."""

import ast

import pytest

from evaluations import thresholds
from evaluations.thresholds import TABLE, markdown
from tests.conftest import CHECKOUT
from tests.thresholds.three_points import pins


def test_the_page_of_the_docs_is_the_table() -> None:
    assert (CHECKOUT / "docs/thresholds.md").read_text() == markdown(), (
        "write it again: python -m evaluations.thresholds > docs/thresholds.md"
    )


def test_a_threshold_has_the_name_of_its_constant() -> None:
    constants = {name: value for name, value in vars(thresholds).items() if name.isupper()}

    assert constants.pop("TABLE") is TABLE
    assert constants == {name: threshold.value for name, threshold in TABLE.items()}


def test_code_reads_every_threshold() -> None:
    read: set[str] = set()
    for app in ("evaluations", "annotations"):
        for path in (CHECKOUT / app).rglob("*.py"):
            if path.name != "thresholds.py":
                read |= {node.id for node in ast.walk(ast.parse(path.read_text()))
                         if isinstance(node, ast.Name)}  # fmt: skip

    assert set(TABLE) - read == set()


@pytest.mark.parametrize("points", [{9: 0, 11: 0, 12: 0}, {10: 0, 9: 0, 11: 0}])
def test_points_that_are_not_about_the_threshold_are_refused(points: dict[float, int]) -> None:
    with pytest.raises(AssertionError, match="INTERVAL_DOCUMENTS"):
        pins("INTERVAL_DOCUMENTS", points)
