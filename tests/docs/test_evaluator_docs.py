"""Each evaluator has a page that tells what it must; the example of an own evaluator works as it is
printed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from evaluations.evaluators.base import Evaluator
from evaluations.evaluators.registry import broken_evaluators, evaluators
from tests.conftest import CHECKOUT

FOLDER = CHECKOUT / "docs" / "evaluators"
HEADINGS = ["Formula", "Settings", "What it costs", "When to use it", "Known biases"]


@pytest.mark.parametrize("evaluator", evaluators().values(), ids=lambda evaluator: evaluator.kind)
def test_the_page_tells_formula_paper_cost_use_biases_and_every_setting(
    evaluator: type[Evaluator],
) -> None:
    page = (FOLDER / f"{evaluator.kind}.md").read_text()

    assert re.findall(r"^## (.+)$", page, re.M)[:5] == HEADINGS
    assert f"`{evaluator.kind}`" in page.splitlines()[0]
    assert evaluator.paper.split(",")[0] in page
    assert [name for name in evaluator.Settings.model_fields if f"`{name}`" not in page] == []
    assert f"({evaluator.kind}.md)" in (FOLDER / "README.md").read_text()
    assert all(field.description for field in evaluator.Settings.model_fields.values())


def test_no_page_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {*evaluators(), "README", "your-own"}
    assert broken_evaluators() == ()


@pytest.fixture
def own_package(tmp_path: Path) -> Path:
    """The code of the page as an installed package, with one that is broken beside it."""
    page = (FOLDER / "your-own.md").read_text()
    code, point = (
        re.findall(rf"```{language}\n(.*?)```", page, re.S)[0] for language in ("python", "toml")
    )
    (tmp_path / "my_package.py").write_text(code)
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    name, value = (part.strip(' "') for part in point.splitlines()[1].split("="))
    points = f"[geval_site.evaluators]\n{name} = {value}\nbroken = no_such_module:Nothing\n"
    (info / "entry_points.txt").write_text(points)
    return tmp_path


def test_the_example_of_an_own_evaluator_scores_and_a_broken_one_is_named(
    own_package: Path,
) -> None:
    code = (
        "from evaluations.evaluators.registry import broken_evaluators, evaluators, make_local\n"
        "from evaluations.evaluators.base import Item\n"
        "from evaluations.llm.prompts import Texts\n"
        "made = make_local('words', {'most': 2})\n"
        "items = [Item(Texts('s', 'a b c d')), Item(Texts('s', 'a'))]\n"
        "print([float(one.value) for one in made.score_readable(items)])\n"
        "print('words' in evaluators(), [(one.kind, one.message) for one in broken_evaluators()])\n"
    )
    environment = {"PYTHONPATH": f"{own_package}:{CHECKOUT}", "PATH": "/usr/bin"}

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )

    scores, listed = done.stdout.splitlines()
    assert scores == "[-2.0, 0.0]"
    assert listed.startswith("True [('broken', ")
    assert "no_such_module:Nothing cannot be loaded: ModuleNotFoundError" in listed
