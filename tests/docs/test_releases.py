"""A release is what its tag, the version and the changelog say alike."""

import importlib.util
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from geval_site.version import __version__
from tests.conftest import CHECKOUT, long_files

PROGRAM = CHECKOUT / ".ci" / "changelog.py"
TEXT = (
    "# Changelog\n\n## 2.0.0 - 2027-01-02\n\n### Added\n\n- Two.\n\n"
    "## 1.0.0 - 2026-01-02\n\n- One.\n"
)


@pytest.fixture(scope="module")
def changelog() -> ModuleType:
    return loaded(PROGRAM)


def loaded(path: Path) -> ModuleType:
    """A program of .ci as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_versions_section_ends_where_the_next_begins(changelog: ModuleType) -> None:
    assert changelog.section(TEXT, "2.0.0") == "### Added\n\n- Two.\n"
    assert changelog.section(TEXT, "1.0.0") == "- One.\n"


def test_the_version_of_this_checkout_has_its_section_and_its_citation() -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, __version__], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "### Added" in done.stdout
    assert f"\nversion: {__version__}\n" in (CHECKOUT / "CITATION.cff").read_text()


def test_a_tag_of_another_version_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, "0.0.9"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "The tag says 0.0.9" in done.stderr


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    return loaded(CHECKOUT / ".ci" / "audit.py")


def audited(**vulns: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "dependencies": [
            {"name": name, "version": "1.0", "vulns": found} for name, found in vulns.items()
        ]
    }


LEFT_OUT = {"name": "own", "skip_reason": "Dependency not found on PyPI"}
BAD = {"id": "PYSEC-1", "fix_versions": []}


@pytest.mark.parametrize(
    ("printed", "lint", "release", "said"),
    [
        ("", 0, 1, "NOT AUDITED: no database"),
        ("Traceback (most recent call last)", 0, 1, "NOT AUDITED: no database"),
        ("[]", 0, 1, "NOT AUDITED: no database"),
        ('{"dependencies": []}', 0, 1, "NOT AUDITED: no database"),
        (json.dumps({"dependencies": [LEFT_OUT]}), 0, 1, "NOT AUDITED: no database"),
        (
            json.dumps({"dependencies": [LEFT_OUT, *audited(django=[])["dependencies"]]}),
            0,
            1,
            "NOT AUDITED: own",
        ),
        (json.dumps(audited(django=[], ninja=[])), 0, 0, "2 dependencies have no known"),
        (json.dumps(audited(django=[BAD], ninja=[])), 1, 1, "django 1.0: PYSEC-1, fixed in no"),
    ],
)
def test_a_release_fails_where_dependencies_were_not_audited(
    audit: ModuleType, printed: str, lint: int, release: int, said: str
) -> None:
    codes = [audit.outcome(printed, required=required)[0] for required in (False, True)]

    assert codes == [lint, release]
    assert audit.outcome(printed, required=True)[1][0].startswith(said)


@cache
def jobs_of(workflow: str) -> dict[str, dict[str, Any]]:
    path = CHECKOUT / ".github" / "workflows" / f"{workflow}.yml"
    jobs: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text())["jobs"]
    return jobs


def waited_for(job: str) -> set[str]:
    """The jobs of a release that end well before this one begins."""
    needs = jobs_of("release")[job].get("needs", [])
    return {*needs, *(before for need in needs for before in waited_for(need))}


def commands_of(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def targets_of(workflow: str) -> set[str]:
    """The targets of the Makefile that a workflow runs."""
    targets = set()
    for job in jobs_of(workflow).values():
        commands = " ".join(commands_of(job)).replace('"$TARGET"', "TARGET")
        named = re.findall(r"make ([\w-]+)", commands)
        matrix = job.get("strategy", {}).get("matrix", {}).get("target", [])
        targets |= {target for target in named if target != "TARGET"}
        targets |= set(matrix) if "TARGET" in named else set()
    return targets


def listed(name: str) -> set[str]:
    """A list of targets in the Makefile."""
    (line,) = re.findall(rf"^{name} := (.*)$", (CHECKOUT / "Makefile").read_text(), re.M)
    return set(line.split())


def test_workflows_run_what_the_makefile_lists() -> None:
    assert targets_of("checks") - {"browser"} == listed("CHECK")
    assert targets_of("nightly") - {"mutate"} == listed("NIGHTLY")
    assert "make check" in (CHECKOUT / ".ci" / "run").read_text()


def test_every_file_that_takes_long_exists() -> None:
    assert [path for path in long_files() if not path.is_file()] == []


@pytest.mark.parametrize("job", ["publish", "image", "announce"])
def test_whatever_is_published_waits_for_both_lists(job: str) -> None:
    called = {jobs_of("release")[before].get("uses", "") for before in waited_for(job)}

    assert {f"$/.github/workflows/{name}.yml" for name in ("checks", "nightly")} <= called


def test_no_check_of_a_release_is_allowed_to_fail_or_left_out() -> None:
    jobs = [jobs_of("release")[name] for name in waited_for("publish") | waited_for("image")]
    jobs += [
        job
        for workflow in ("checks", "nightly")
        for name, job in jobs_of(workflow).items()
        if name != "mutate"
    ]
    for job in jobs:
        assert "if" not in job
        assert "continue-on-error" not in job
        assert not [s for s in job.get("steps", []) if {"if", "continue-on-error"} & {*s}]


def test_actions_of_workflows_are_pinned_by_hash() -> None:
    used = [
        line.split("uses:")[1].split()[0]
        for path in (CHECKOUT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text().splitlines()
        if "uses:" in line and "uses: $/" not in line
    ]

    assert used
    assert [one for one in used if len(one.partition("@")[2]) != 40] == []
