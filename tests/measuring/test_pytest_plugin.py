"""The plugin for pytest: a test fails when a judge does not meet its requirements."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.metadata import entry_points
from pathlib import Path

from tests.conftest import CHECKOUT
from tests.measuring.conftest import made_up, written

TESTS = """
import pytest

FILES = {files!r}

def test_called(geval_judge):
    geval_judge(FILES).require({requirement!r}, criterion="coherence", judge="near")

@pytest.mark.geval(*FILES, judge="near", require=[{requirement!r}])
def test_marked(geval_judge):
    assert geval_judge.measured.criteria

@pytest.mark.geval(*FILES, judge="near", require={requirement!r})
def test_marked_alone(): pass

def test_of_nothing(geval_judge):
    geval_judge.require("raters>=3")

def test_unused(geval_judge): pass

def test_forgotten(geval_judge):
    geval_judge(*FILES, judge="near")

@pytest.mark.geval(*FILES, judge="near")
def test_forgotten_by_the_marker(): pass

@pytest.mark.geval("nothing.csv", require=["raters>=3"])
def test_no_file(): pass
"""


def ran(folder: Path, requirement: str, *more: str) -> subprocess.CompletedProcess[str]:
    files = [str(path) for path in written(folder, made_up(1))]
    (folder / "test_it.py").write_text(TESTS.format(files=files, requirement=requirement))
    return subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-m",
            "pytest",
            "-p",
            "geval.pytest_plugin",
            "--strict-markers",
            "-W",
            "error",
            *more,
        ],
        cwd=folder,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_tests_pass_where_requirements_are_met(tmp_path: Path) -> None:
    done = ran(tmp_path, "raters>=3")

    assert "5 failed, 3 passed" in done.stdout
    assert "test_it.py::test_called: near on coherence: met" in done.stdout
    assert not done.stderr


def test_failures_take_ten_lines_at_most(tmp_path: Path) -> None:
    done = ran(tmp_path, "raters>=4")

    section = done.stdout.partition("= FAILURES =")[2].partition("\n====")[0]
    parts = re.split(r"^_+ (\w+) _+$", section, flags=re.MULTILINE)
    failures = dict(zip(parts[1::2], parts[2::2], strict=True))
    for test, message in (
        ("test_of_nothing", "Nothing was measured: call geval_judge(FILE)"),
        ("test_unused", "Nothing was measured"),
        ("test_forgotten", "Nothing is required of what was measured"),
        ("test_forgotten_by_the_marker", "Nothing is required"),
        ("test_no_file", "There is no file nothing.csv."),
        ("test_called", "not met: raters>=4 (it is 3)"),
        ("test_marked_alone", "not met: raters>=4 (it is 3)"),
    ):
        assert message in failures[test]
        assert len(failures[test].strip().splitlines()) <= 10
    assert "one rater 0." in failures["test_called"]


def test_figures_are_properties_for_junit(tmp_path: Path) -> None:
    ran(tmp_path, "raters>=3", "--junitxml", str(tmp_path / "junit.xml"))

    case = ET.parse(tmp_path / "junit.xml").find(".//testcase[@name='test_called']")
    assert case is not None
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert properties["geval.coherence.outcome"] == "met"
    assert float(properties["geval.coherence.rho"] or "") > 0


def test_an_installation_brings_it() -> None:
    (plugin,) = entry_points(group="pytest11", name="geval")

    assert plugin.load().__name__ == "geval.pytest_plugin"
