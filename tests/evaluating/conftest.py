"""`geval.evaluate` on the stand-in, with no answers from earlier."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import geval
from geval.texts.stand_in import MODEL
from tests.processes import StandInProcess

Evaluate = Callable[..., geval.Evaluation]
DEFINITION = "how well the sentences work together as a whole"


def table(rows: int = 12) -> list[dict[str, object]]:
    """Answers to questions, each rated by three people."""
    return [
        {
            "question": f"When does ferry {n} sail?",
            "answer": f"Ferry {n} sails at {n % 12} from the old harbour. " * (1 + n % 4),
            "ann": 1 + n % 4,
            "bob": 1 + (n + n % 2) % 4,
            "cyd": 1 + (n + n % 3) % 4,
        }
        for n in range(rows)
    ]


@pytest.fixture
def standin(start_standin: Callable[..., StandInProcess]) -> StandInProcess:
    return start_standin()


@pytest.fixture
def evaluate(standin: StandInProcess, tmp_path: Path) -> Evaluate:
    return partial(
        geval.evaluate,
        criterion="coherence",
        definition=DEFINITION,
        model=MODEL,
        base_url=standin.base_url,
        kept_in=tmp_path / "answers.sqlite3",
        progress=False,
    )
