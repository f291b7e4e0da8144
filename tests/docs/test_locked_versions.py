"""Locks have a hash for every package and name no place; all agree on versions."""

import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.conftest import CHECKOUT

LOCKS = [CHECKOUT / name for name in ("requirements.lock", "requirements-dev.lock")]


def pinned(path: Path) -> dict[str, str]:
    """Versions by name; of a lock or of constraints."""
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", path.read_text(), re.M)
    return {canonicalize_name(name): version for name, version in pins}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_package_has_hashes_and_nothing_names_a_place(path: Path) -> None:
    entries = re.split(r"\n(?=\S)", path.read_text().strip())

    assert len(entries) > 50
    assert [entry for entry in entries if not re.match(r"[\w.-]+==[^/@]+?--hash=", entry)] == []
    assert re.findall(r"://|@ |--index|--find-links|file:", path.read_text()) == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_locks_and_constraints_agree(path: Path) -> None:
    locked, constraints = pinned(path), pinned(CHECKOUT / "constraints.txt")

    assert [name for name in locked if constraints.get(name) != locked[name]] == []
