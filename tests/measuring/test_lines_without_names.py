"""Tables whose rows name no document or no system."""

import csv
from pathlib import Path
from typing import Any

import pytest

import geval
from geval.measuring.inputs import InputError


@pytest.mark.parametrize("lacks", [0, 1])
def test_a_broken_line_is_an_error_where_documents_or_systems_have_no_names(
    lacks: int, tmp_path: Path
) -> None:
    """Such lines were left out silently."""
    names = ("doc_id", "system_id")
    rows = [[f"n{number}", str(number % 5), "3"] for number in range(9)] + [["n9", "4"]]
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([(names[1 - lacks], "ann", "gpt"), *rows])
    named: dict[str, Any] = {"document" if lacks else "system": names[1 - lacks]}

    with pytest.raises(InputError, match=r"table\.csv:11: expected 3 fields"):
        geval.measure(path, human="ann", judge="gpt", **named)
