"""Assertions hold a phrase or a key of a sentence, so that its words can be improved: how many pin
more has a budget that only falls.
"""

import ast

from tests.conftest import CHECKOUT

WORDS = 7
OF_LETTERS = 6
# What is pinned whole: prompts that models get, rows that tests wrote themselves, changes to code.
BUDGET = 10


def is_prose(node: ast.AST) -> bool:
    """Whether it is a text of `WORDS` words or more, `OF_LETTERS` of them of letters only."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    words = node.value.split()
    return len(words) >= WORDS and sum(word.isalpha() for word in words) >= OF_LETTERS


def pinned(code: str) -> list[int]:
    """The lines of assertions that hold prose."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Assert) and any(map(is_prose, ast.walk(node.test)))
    ]


def test_an_assertion_pins_a_sentence_but_not_a_phrase_or_a_number() -> None:
    sentence = "The file has no column of that name."
    numbers = "1 2 3 4 5 6 7 8 9"

    assert pinned(f"assert {sentence!r} in page") == [1]
    assert pinned(f"x = 1\nassert page == f'{{x}}: {sentence}'") == [2]
    assert pinned(f"said = {sentence!r}\nassert 'no column of' in page") == []
    assert pinned(f"assert page == {numbers!r}") == []


def test_no_more_assertions_pin_prose_than_before() -> None:
    places = [
        f"{path.relative_to(CHECKOUT)}:{line}"
        for path in sorted((CHECKOUT / "tests").rglob("*.py"))
        for line in pinned(path.read_text())
    ]

    assert len(places) == BUDGET, "Assert one phrase, or lower the budget:\n" + "\n".join(places)
