"""Our own ROUGE of all of SummEval, beside the imported scores of ROUGE-1.5.5: a minute of sums."""

from pathlib import Path

import pytest

from geval.reproduction import DATASETS, Cell


@pytest.fixture(scope="module")
def cells(benchmarks: Path) -> list[Cell]:
    return list(DATASETS["summeval"](benchmarks))


def test_the_papers_figures_come_out(cells: list[Cell]) -> None:
    counted = [cell for cell in cells if not cell.other]

    assert (sum(cell.agrees for cell in counted), len(counted)) == (29, 30)


def test_our_own_rouge_stands_beside_the_imported_one_and_differs_in_the_third_digit(
    cells: list[Cell],
) -> None:
    imported = {(cell.published, cell.column): cell.ours for cell in cells if not cell.other}
    own = [cell for cell in cells if cell.other]

    assert len(own) == 30
    differences = [
        abs((cell.ours or 0) - (imported[cell.published, cell.column] or 0)) for cell in own
    ]
    assert 0 < max(differences) < 0.02
