"""The walks in docs/architecture.md lead through files that exist, and through none too often."""

import re
from collections import Counter

import pytest

from tests.conftest import CHECKOUT

PAGE = (CHECKOUT / "docs" / "architecture.md").read_text()
# What each walk took before the folders were put in order.
MOST_FILES = {
    "An uploaded score, to the report's cell": 24,
    '"Run", to the stored score': 30,
    "A rating, to the report": 20,
}


def walk(title: str) -> list[str]:
    (part,) = re.findall(rf"^### {re.escape(title)}\n(.*?)(?=^##)", PAGE, re.M | re.S)
    return re.findall(r"^\d+\. `([^`]+)`", part, re.M)


@pytest.mark.parametrize("title", MOST_FILES)
def test_a_walk_is_short_and_leads_through_files_that_exist(title: str) -> None:
    files = walk(title)

    assert [name for name in files if not (CHECKOUT / name).exists()] == []
    assert 3 < len(files) < MOST_FILES[title]
    assert max(Counter(files).values()) <= 2


def test_every_file_that_the_page_names_by_its_whole_path_exists() -> None:
    named = re.findall(
        r"`((?:evaluations|annotations|assurance|geval_site|templates)/[\w./]+)`", PAGE
    )

    assert [name for name in named if not (CHECKOUT / name).exists()] == []
