"""Every command of docs/tutorials/gate.md works as it stands there."""

from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from tests.conftest import CHECKOUT
from tests.slow.test_tutorials import GATE, blocks, shell

__all__ = ["shell"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes, pytest.mark.slow]
DEMO = CHECKOUT / "evaluations" / "demo_data"


def test_the_commands_work_as_written(shell: Callable[[str], "CompletedProcess[str]"]) -> None:
    for block in blocks("your-own-data"):
        assert shell(block).returncode == 0
    # The gate is for a project with ratings enough to say something.
    load = f"geval-site load mine {DEMO}/outputs.jsonl {DEMO}/ratings.csv"
    assert shell(f'{load} && geval-site judge mine --judge "G-Eval mini"').returncode == 0
    said = ""
    for block in blocks(GATE):
        done = shell(block)
        # 1 says that the judge does not meet the requirement: an answer, too.
        assert done.returncode in (0, 1), (block, done.stdout, done.stderr)
        said += done.stdout

    assert "Genuine, and it still fits." in said
