"""`manage.py reproduce` gives published figures to three digits, from real replies and scores."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluations.reproduction import DATASETS, first_digit, our_rating


def test_the_papers_figures_come_out(benchmarks: Path) -> None:
    counted = {
        name: [cell for cell in read(benchmarks) if not cell.row.startswith(" ")] for name, read in DATASETS.items()
    }

    assert {name: (sum(cell.agrees for cell in cells), len(cells)) for name, cells in counted.items()} == {
        "summeval": (29, 30),
        "topical_chat": (26, 26),
        "qags": (3, 3),
    }
    sampled = [cell for cell in counted["topical_chat"] if cell.row.startswith("G-Eval")]
    assert len(sampled) == 16
    assert all(cell.agrees for cell in sampled)


def test_our_parser_comes_near_and_where_it_differs_it_reads_what_is_written(benchmarks: Path) -> None:
    ours = [cell for cell in DATASETS["topical_chat"](benchmarks) if cell.row.startswith(" ")]

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
def test_the_two_ways_to_read_a_reply(reply: str, criterion: str, digit: float, ours: float) -> None:
    assert (first_digit(reply, criterion), our_rating(reply, criterion)) == (digit, ours)


def test_it_prints_a_table(benchmarks: Path) -> None:
    out = StringIO()

    call_command("reproduce", "qags", stdout=out)

    assert "XSum spearman" in out.getvalue()
    assert "3 of 3 published figures" in out.getvalue()


def test_data_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is not there"):
        call_command("reproduce", "qags", "--data", str(tmp_path))
    with pytest.raises(CommandError, match="no dataset 'xsum'"):
        call_command("reproduce", "xsum")
