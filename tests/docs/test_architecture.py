"""The docs of the code name files that exist, and walks are short."""

import re
import tomllib

import pytest

from tests.conftest import CHECKOUT

PAGE = (CHECKOUT / "docs" / "architecture.md").read_text()
# In which folders the short paths of a page are.
ROOMS = {
    "docs/rules.md": ("evaluations", "annotations", "geval"),
    "evaluations/judging/README.md": (
        "evaluations/judging",
        "evaluations/judging/runs",
        "evaluations",
        "geval",
    ),
    "evaluations/corpus/README.md": ("evaluations", "evaluations/projects"),
    "evaluations/reports/README.md": ("evaluations", "geval"),
    "annotations/README.md": ("annotations",),
    "geval_site/README.md": ("geval_site", "geval_site/embedded"),
}
# The page fits on two screens, and its walks in the head.
MOST_LINES, MOST_FILES = 130, 25


def test_the_page_fits_on_two_screens_and_its_walks_in_the_head() -> None:
    walks = re.split(r"^### ", PAGE, flags=re.M)[1:]

    assert len(PAGE.splitlines()) <= MOST_LINES
    assert len(walks) == 3
    assert all(3 < len(re.findall(r"^\d+\. ", walk, re.M)) < MOST_FILES for walk in walks)


def test_every_file_that_the_page_names_by_its_whole_path_exists() -> None:
    named = re.findall(
        r"`((?:geval|evaluations|annotations|assurance|geval_site|templates)/[\w./]+)`", PAGE
    )

    assert [name for name in named if not (CHECKOUT / name).exists()] == []


@pytest.mark.parametrize("page", ROOMS)
def test_every_file_that_a_room_names_exists(page: str) -> None:
    named = re.findall(r"`([\w/]+\.py)`", (CHECKOUT / page).read_text())
    folders = ("", *ROOMS[page])

    assert [n for n in named if not any((CHECKOUT / f / n).exists() for f in folders)] == []


def test_the_layers_of_imports_name_every_room() -> None:
    contracts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = re.findall(r"[\w.]+", " ".join(contracts["contracts"][0]["layers"]))
    rooms = {
        f"{package}.{path.stem}"
        for package in contracts["root_packages"]
        for path in (CHECKOUT / package).iterdir()
        if path.suffix == ".py" or any(path.glob("*.py"))
    }
    ignored = {"__init__", "__main__", "apps", "migrations"}

    assert [
        room
        for room in sorted(rooms)
        if room.rpartition(".")[2] not in ignored
        and not any(layer == room or layer.startswith(f"{room}.") for layer in layers)
    ] == []
