"""Names that say nothing of what they hold get fewer: each has a budget that only falls."""

import ast
import re
from collections import Counter
from functools import cache

import pytest

from tests.conftest import CHECKOUT
from tests.docs.test_words_in_code_and_docs import PACKAGES

# How often each is bound in the product. Rename what you touch, then write the new number here.
BUDGET = {
    "found": 4, "one": 1, "known": 3, "said": 4, "there": 1, "both": 1, "mine": 0,
    "at": 54, "own": 59, "given": 100, "wanted": 116,
}  # fmt: skip

# Words that texts no longer have, in names of functions, classes, arguments and variables.
WORDS_BUDGET = {
    "apart": 27, "beside": 31, "brought": 5, "fault": 0, "mend": 0, "otherwise": 4, "rehearse": 0,
    "said": 16, "sight": 13, "told": 0, "unsaid": 0,
}  # fmt: skip

# Names that several classes have.
SHARED = 8


@cache
def bindings() -> Counter[str]:
    """How often each name is bound: assigned, looped over, or an argument."""
    names: Counter[str] = Counter()
    for package in PACKAGES:
        for path in (CHECKOUT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names[node.id] += 1
                elif isinstance(node, ast.arg):
                    names[node.arg] += 1
    return names


@cache
def words_of_names() -> Counter[str]:
    """How often each word is in a name that is bound or defined."""
    names = bindings().copy()
    for package in PACKAGES:
        for path in (CHECKOUT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    names[node.name] += 1
    words: Counter[str] = Counter()
    for name, times in names.items():
        for word in re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().split("_"):
            words[word] += times
    return words


@cache
def shared_class_names() -> frozenset[str]:
    """The names that several classes have: a reader of one cannot tell which. Shapes of the API
    and its client state what is sent, and have its words."""
    modules: dict[str, set[str]] = {}
    for package in PACKAGES:
        for path in (CHECKOUT / package).rglob("*.py"):
            if path.name in ("shapes.py", "api_shapes.py") or "client" in path.parts:
                continue
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and node.name not in ("Command", "Migration"):
                    modules.setdefault(node.name, set()).add(str(path))
    return frozenset(name for name, paths in modules.items() if len(paths) > 1)


def test_no_more_classes_share_their_names_than_before() -> None:
    assert len(shared_class_names()) == SHARED, sorted(shared_class_names())


@pytest.mark.parametrize("name", BUDGET)
def test_a_name_that_says_nothing_is_bound_no_more_often_than_before(name: str) -> None:
    assert bindings()[name] == BUDGET[name], f"{name}: rename it, or lower the budget"


@pytest.mark.parametrize("word", WORDS_BUDGET)
def test_a_retired_word_is_in_no_more_names_than_before(word: str) -> None:
    assert words_of_names()[word] == WORDS_BUDGET[word], f"{word}: rename it, or lower the budget"


def test_words_are_found_within_names_of_all_kinds() -> None:
    assert words_of_names()["middleware"] > 1  # class names
    assert words_of_names()["criterion"] > 100  # also within longer names
