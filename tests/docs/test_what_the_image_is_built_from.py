"""What is sent to whoever builds the image: what the Containerfile copies, and no secrets."""

import re
import subprocess
from fnmatch import fnmatch
from pathlib import PurePosixPath

import pytest

from tests.conftest import CHECKOUT

PACKAGES = ("geval", "geval_site", "evaluations", "annotations", "assurance")
RULES = [
    line
    for line in (CHECKOUT / ".dockerignore").read_text().splitlines()
    if line and not line.startswith("#")
]


def is_sent(path: str) -> bool:
    """Whether a file gets into the build: the last rule that matches it, or a folder that it is in,
    decides. https://docs.docker.com/build/concepts/context/#dockerignore-files"""
    sent = True
    places = [path, *map(str, PurePosixPath(path).parents)][:-1]
    for rule in RULES:
        pattern = rule.removeprefix("!")
        if any(matches(place, pattern) for place in places):
            sent = rule.startswith("!")
    return sent


def matches(place: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatch(PurePosixPath(place).name, pattern.removeprefix("**/"))
    assert "**" not in pattern
    same_depth = place.count("/") == pattern.count("/")
    return same_depth and fnmatch(place, pattern)


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".env.keys", ".env.example", ".git/config", "secret_key", "tls.pem", "backup.sql",
        "compose.yaml", "tests/conftest.py", "deploy/kubernetes/settings.yaml", ".venv/pyvenv.cfg",
        "evaluations/.env", "static/js/.env.local", "geval_site/tls.key", "templates/a/b/ca.pem",
    ],
)  # fmt: skip
def test_no_secret_and_nothing_needless_is_sent(path: str) -> None:
    assert not is_sent(path)


def test_whatever_the_containerfile_copies_is_sent() -> None:
    copied = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (CHECKOUT / "Containerfile").read_text(), re.M
    )
    named = [name for names in copied for name in names.split() if name != "."]
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES, "static", "templates"],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip

    assert named
    assert [path for path in (*named, "pyproject.toml", "setup.py") if not is_sent(path)] == []
    assert [path for path in listed if not is_sent(path)] == []
