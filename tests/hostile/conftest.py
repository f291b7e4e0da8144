"""Prints the closing table where the tests were run for it."""

import os
from pathlib import Path
from typing import Any

from tests.hostile.table import closing_table


def pytest_terminal_summary(terminalreporter: Any) -> None:
    folder = os.environ.get("GEVAL_HOSTILE_TABLE")
    if folder:
        terminalreporter.section("tried, survived, lost")
        terminalreporter.write_line(closing_table(Path(folder)))
