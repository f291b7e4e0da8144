"""`make bench-NAME` measures everything unless it is asked for less."""

import subprocess
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT


def command_of(target: str, *variables: str) -> str:
    printed = subprocess.run(
        ["make", "-n", target, *variables],
        cwd=CHECKOUT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return printed.stdout.splitlines()[-1].rstrip()


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in Path(CHECKOUT, "benchmarks").glob("*.py"))
)
def test_a_benchmark_gets_no_flag_unasked(name: str) -> None:
    assert command_of(f"bench-{name}").endswith(f"-m benchmarks.{name}")


def test_less_is_measured_on_request() -> None:
    assert command_of("bench-load", "QUICK=1").split()[-1] == "--quick"
