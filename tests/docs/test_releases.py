"""A release is what its tag, the version and the changelog say alike."""

import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest

from geval_site.version import __version__
from tests.conftest import CHECKOUT

PROGRAM = CHECKOUT / ".ci" / "changelog.py"
TEXT = (
    "# Changelog\n\n## 2.0.0 - 2027-01-02\n\n### Added\n\n- Two.\n\n"
    "## 1.0.0 - 2026-01-02\n\n- One.\n"
)


@pytest.fixture(scope="module")
def changelog() -> ModuleType:
    spec = importlib.util.spec_from_file_location("changelog", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_versions_section_ends_where_the_next_begins(changelog: ModuleType) -> None:
    assert changelog.section(TEXT, "2.0.0") == "### Added\n\n- Two.\n"
    assert changelog.section(TEXT, "1.0.0") == "- One.\n"


@pytest.mark.parametrize("version", ["1.0", "3.0.0", "1x0.0"])
def test_a_version_without_a_section_is_refused(changelog: ModuleType, version: str) -> None:
    with pytest.raises(ValueError, match="has no section about"):
        changelog.section(TEXT, version)


def test_the_version_of_this_checkout_has_its_section_and_its_citation() -> None:
    done = subprocess.run([sys.executable, PROGRAM, __version__], capture_output=True, text=True,
                          check=False)  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "### Added" in done.stdout
    assert f"\nversion: {__version__}\n" in (CHECKOUT / "CITATION.cff").read_text()


def test_a_tag_of_another_version_is_refused() -> None:
    done = subprocess.run([sys.executable, PROGRAM, "0.0.9"], capture_output=True, text=True,
                          check=False)  # fmt: skip

    assert done.returncode == 1
    assert "The tag says 0.0.9" in done.stderr


def test_actions_of_workflows_are_pinned_by_hash() -> None:
    used = [
        line.split("uses:")[1].split()[0]
        for path in (CHECKOUT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]

    assert used
    assert [one for one in used if len(one.partition("@")[2]) != 40] == []
