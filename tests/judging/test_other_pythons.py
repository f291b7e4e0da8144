"""`make test-pythons` finds every other Python, and fails where one reads replies otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "other_pythons.py"
# A Python of another release: it is this one, which says so and may misread.
BROKEN = """#!/bin/sh
case "$*" in
  *" -c "*) echo 3 99 0; echo /elsewhere ;;
  *) exit 3 ;;
esac
"""
OTHER = """#!/bin/sh
case "$*" in
  *" -c "*) echo 3 99 0; echo /elsewhere ;;
  *) {python} "$@" | sed 's/{reads}/{misreads}/' ;;
esac
"""


def try_all(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT],
        env={**os.environ, "PATH": f"{folder}:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def other_python(folder: Path, *, reads: str = "4.0", misreads: str = "4.0") -> Path:
    program = folder / "python3.99"
    program.write_text(OTHER.format(python=sys.executable, reads=reads, misreads=misreads))
    program.chmod(0o755)
    return program


def test_a_python_that_reads_alike_passes(tmp_path: Path) -> None:
    program = other_python(tmp_path)

    done = try_all(tmp_path)

    assert f"{program} (3.99.0) reads 0 of " in done.stdout
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("misreads", ["2.0", '"two_ratings"'])
def test_a_python_that_misreads_one_reply_fails(tmp_path: Path, misreads: str) -> None:
    program = other_python(tmp_path, misreads=misreads)

    done = try_all(tmp_path)

    assert f"{program} (3.99.0) reads 1 of " in done.stdout
    assert done.returncode == 1


def test_a_python_that_cannot_run_the_parser_fails(tmp_path: Path) -> None:
    program = other_python(tmp_path)
    program.write_text(BROKEN)

    done = try_all(tmp_path)

    assert f"{program} (3.99.0) cannot read replies" in done.stdout
    assert done.returncode == 1


def test_names_that_stand_for_no_python_are_passed_over(tmp_path: Path) -> None:
    other_python(tmp_path).write_text("#!/bin/sh\nexit 127\n")

    assert "python3.99" not in try_all(tmp_path).stdout
