"""`make mutate` changes what the code means, one place at a time, and names tests that exist."""

import ast
import subprocess
import sys
import tomllib
from functools import cache

import pytest

from tests.conftest import CHECKOUT

sys.path.insert(0, str(CHECKOUT / ".ci"))
import mutate

TABLE = tomllib.loads((CHECKOUT / ".ci/mutants.toml").read_text())
SOURCE = '''
"""A docstring with 1 number."""
LEAST: int = 10

def passes(value: float, best: list[float]) -> bool:
    if not best or value < LEAST:
        return False
    return value * 0.5 >= max(best) and 1e-9 < value
'''


mutants_of = cache(mutate.mutants_of)


def changes(source: str) -> list[str]:
    return [what for _node, _function, what, _make in mutate.changes(ast.parse(source))]


def test_every_kind_of_change_is_made() -> None:
    assert changes(SOURCE) == [
        "10 -> 11",
        "10 -> 9",
        "not best or value < LEAST -> not best and value < LEAST",
        "not best -> best",
        "value < LEAST -> value <= LEAST",
        "return None",
        "False -> True",
        "return None",
        "value * 0.5 >= max(best) and 1e-09 < value -> value * 0.5 >= max(best) or 1e-09 < value",
        "value * 0.5 >= max(best) -> value * 0.5 > max(best)",
        "value * 0.5 -> value / 0.5",
        "0.5 -> 0.55",
        "0.5 -> 0.45",
        "max -> min",
        "1e-09 < value -> 1e-09 <= value",
    ]


def test_each_change_changes_one_place() -> None:
    before = ast.unparse(ast.parse(SOURCE)).splitlines()
    for number in range(len(changes(SOURCE))):
        tree = ast.parse(SOURCE)
        for at, (_node, _function, _what, make) in enumerate(mutate.changes(tree)):
            if at == number:
                make()
                break
        after = ast.unparse(ast.fix_missing_locations(tree)).splitlines()

        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


def test_modules_tests_and_equivalent_changes_exist() -> None:
    for module, tests in TABLE["tests"].items():
        assert (CHECKOUT / module).exists(), module
        assert all((CHECKOUT / path).exists() for path in tests), module
    for same in TABLE["equivalent"]:
        every = {one.key for one in mutants_of(same["path"])}
        line = tuple(same[key] for key in mutate.KEYS)
        assert {(*line, change) for change in same["changes"]} <= every
        assert same["reason"]


def test_only_tests_that_call_a_function_are_asked_about_its_changes() -> None:
    every = mutants_of("geval/statistics/pairwise.py")
    of_function = next(one for one in every if one.function == "soft_pairwise_accuracy")
    on_import = next(one for one in every if one.function == "module")
    begin = of_function.body[0]  # type: ignore[index]

    def asked(mutant: mutate.Mutant, calls: mutate.Calls) -> set[str] | None:
        return mutate.calling(mutant, calls)

    assert asked(of_function, {"a": [1, begin], "b": [begin - 1], "c": []}) == {"a"}
    assert asked(of_function, {"a": [1]}) == set()
    assert asked(of_function, {"a": [1], "": [begin]}) is None
    assert asked(on_import, {"a": [begin]}) is None


@pytest.mark.slow
def test_a_change_that_tests_notice_is_killed() -> None:
    done = subprocess.run(
        [sys.executable, ".ci/mutate.py", "--only", "*coefficients.py:*ties_mislead"],
        cwd=CHECKOUT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "100%" in done.stdout
