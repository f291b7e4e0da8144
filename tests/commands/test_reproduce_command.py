"""`manage.py reproduce` gives published figures to three digits, from real replies and scores.

Our own ROUGE of SummEval takes a minute and is in tests/slow.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from geval.llm.parsing import Failure, parse_first_digit, parse_rating
from geval.llm.replies import ReplyChoice
from geval.reproduction import DATASETS, Cell
from geval.reproduction.topical_chat import SCALES


@cache
def cells_of(name: str, folder: Path) -> list[Cell]:
    """A dataset's cells, computed once."""
    return list(DATASETS[name](folder))


@pytest.fixture
def quick_rouge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths in place of our own ROUGE of SummEval, which no figure of the paper is made of."""

    def lengths(_variant: str, outputs: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
        for row in outputs:
            yield {key: row[key] for key in ("doc_id", "system_id")} | {
                "score": str(len(row["output"]))
            }

    monkeypatch.setattr("geval.reproduction.summeval._own_rouge", lengths)


@pytest.mark.slow
def test_the_papers_figures_come_out(benchmarks: Path, quick_rouge: None) -> None:
    counted = {
        name: [cell for cell in cells_of(name, benchmarks) if not cell.other] for name in DATASETS
    }

    assert {
        name: (sum(cell.agrees for cell in cells), len(cells)) for name, cells in counted.items()
    } == {
        "summeval": (29, 30),
        "topical_chat": (45, 46),
        "qags": (3, 3),
        "unieval": (21, 42),  # of the files that are in the benchmark folder
    }
    sampled = [cell for cell in counted["topical_chat"] if cell.row.startswith("G-Eval")]
    assert len(sampled) == 16
    assert all(cell.agrees for cell in sampled)


@pytest.mark.slow
def test_our_parser_comes_near_and_where_it_differs_it_reads_what_is_written(
    benchmarks: Path,
) -> None:
    ours = [cell for cell in cells_of("topical_chat", benchmarks) if cell.other]

    assert len(ours) == 16
    assert max(abs((cell.ours or 0) - cell.published) for cell in ours) < 0.03


@pytest.mark.parametrize(
    ("reply", "criterion", "digit", "ours"),
    [
        ("2.5", "naturalness", 2, 2.5),
        ("1. Coherence: 3", "coherence", 1, 3),
        ("- Groundedness: 0", "groundedness", 0, 0),
    ],
)
def test_the_two_ways_to_read_a_reply(
    reply: str, criterion: str, digit: float, ours: float
) -> None:
    by_rule, by_us = (
        parse_first_digit(ReplyChoice(reply)),
        parse_rating(ReplyChoice(reply), scale=SCALES[criterion], criterion=criterion),
    )

    assert not isinstance(by_rule, Failure)
    assert not isinstance(by_us, Failure)
    assert (by_rule.value, by_us.value) == (digit, ours)
