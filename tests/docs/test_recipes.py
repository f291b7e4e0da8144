"""The recipes of CONTRIBUTING.md fit in ten lines and name files that exist."""

import re

import pytest

from tests.conftest import CHECKOUT

PAGE = (CHECKOUT / "CONTRIBUTING.md").read_text().partition("## Recipes")[2]
RECIPES = dict(re.findall(r"^\*\*([^*]+)\*\*(.*?)(?=^\*\*|\Z)", PAGE, re.M | re.S))
MOST_LINES = 10


def test_there_is_a_recipe_for_what_is_added_most() -> None:
    assert list(RECIPES) == [
        "An evaluator", "A statistic", "A verdict rule", "A page", "A file format",
        "A field of ratings",
    ]  # fmt: skip


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_short_and_names_files_that_exist(name: str) -> None:
    recipe = RECIPES[name]
    files = re.findall(r"`([\w./-]+/[\w./-]*)`", recipe)

    assert len(recipe.strip().splitlines()) <= MOST_LINES
    assert len(files) >= 3
    assert [file for file in files if not (CHECKOUT / file).exists()] == []
