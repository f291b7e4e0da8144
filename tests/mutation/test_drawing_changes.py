"""`make mutate` changes what the code means, one place at a time, and finds the nearest tests."""

import sys

from tests.conftest import CHECKOUT

sys.path.insert(0, str(CHECKOUT / ".ci"))
import mutate

SOURCE = '''
"""A docstring with 1 number and no more."""
LEAST: int = 10

@cache(4)
def passes(value: float, *, best: list[float]) -> bool:
    if not best or value < LEAST:
        raise ValueError("2" + "3")
    return value * 0.5 >= -max(best)
'''


def test_every_kind_of_change_is_made_in_one_place() -> None:
    made = [(SOURCE[begin:end], new) for begin, end, new in mutate.changes(SOURCE)]

    assert made == [
        ("10", "20"), ("10", "5"), ("not", ""), ("or", "and"), ("<", "<="),
        (" value * 0.5 >= -max(best)", " None"), ("*", "/"), ("0.5", "1.5"), ("0.5", "-0.5"),
        (">=", ">"), ("-", ""), ("max", "min"),
    ]  # fmt: skip


def test_what_is_drawn_depends_on_the_seed_and_is_python() -> None:
    texts = {"geval/a.py": SOURCE, "geval_site/b.py": SOURCE + "for x in y:\n    pass\n"}
    drawn, again, others = (list(mutate.drawn(texts, 6, seed)) for seed in (0, 0, 1))

    assert drawn == again != others
    assert len({mutant.change.split(" ")[0] for mutant in drawn}) == 6
    assert {mutant.function for mutant in drawn} <= {"", "passes"}


def test_tests_that_import_a_module_come_before_those_that_import_its_users() -> None:
    texts = {
        "geval/a.py": "",
        "geval/b.py": "from geval.a import passes\n",
        "tests/x/test_a.py": "from geval.b import other\n",
        "tests/x/test_c.py": "from geval import a\n",
        "tests/x/test_d.py": "from geval.b import other  # passes\n",
        "tests/x/test_e.py": "",
    }
    mutant = mutate.Mutant("geval/a.py", "passes", "", "")

    nearest = mutate.nearest(mutant, texts, mutate.importers_of(texts))

    assert nearest == [f"tests/x/test_{name}.py" for name in "dcae"]
