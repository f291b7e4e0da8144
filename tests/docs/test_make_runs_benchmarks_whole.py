"""`make bench-NAME` measures everything unless it is asked for less."""

import os
import subprocess
from pathlib import Path

from tests.conftest import CHECKOUT

NAMES = sorted(path.stem for path in Path(CHECKOUT, "benchmarks").glob("*.py"))


def commands_of(*arguments: str) -> list[str]:
    """What make would run: not what the make that runs these tests was asked for."""
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFL"))
    }
    printed = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", *arguments],
        cwd=CHECKOUT, env=own, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return [line.rstrip() for line in printed.stdout.splitlines() if " -m benchmarks." in line]


def test_a_benchmark_gets_no_flag_unasked() -> None:
    commands = commands_of(*(f"bench-{name}" for name in NAMES))

    assert [line.split(" -m ")[1] for line in commands] == [f"benchmarks.{name}" for name in NAMES]


def test_less_is_measured_on_request() -> None:
    assert [line.split()[-1] for line in commands_of("bench-load", "QUICK=1")] == ["--quick"]
