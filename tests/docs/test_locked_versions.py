"""What is installed is locked by version and hash, and is none of the versions that are known to be
bad for us."""

import re
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.conftest import CHECKOUT

LOCKS = sorted(CHECKOUT.glob("requirements*.lock"))
BAD = {
    "aiohttp": ("<3.12.14", "its HTTP parser could be led to take one request for two"),
    "cryptography": ("<44.0.1", "the OpenSSL that comes with it skipped checks of raw public keys"),
    "django": ("<5.2.8", "names of filters in dictionaries could change a query"),
    "gunicorn": ("<23", "requests could be smuggled past a proxy"),
    "h11": ("<0.16", "chunked bodies were read too leniently"),
    "nltk": ("<3.9", "data packages were unpickled"),
    "orjson": ("<3.9.15", "deeply nested JSON overflowed the stack"),
    "pyarrow": ("<14.0.1", "reading a Parquet file could run code"),
    "requests": ("<2.32.4", "credentials of .netrc went to other hosts"),
    "torch": ("<2.6", "loading weights could run code"),
    "urllib3": ("<2.5", "redirects were followed where they had been switched off"),
}


def pinned(text: str) -> dict[str, str]:
    """Versions by name; of a lock or of constraints."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.M)
    return {canonicalize_name(name): version for name, version in found}


CONSTRAINTS = pinned((CHECKOUT / "constraints.txt").read_text())


def test_there_are_two_locks() -> None:
    assert [path.name for path in LOCKS] == ["requirements-dev.lock", "requirements.lock"]


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_package_has_hashes_and_nothing_names_a_place(path: Path) -> None:
    text = path.read_text()
    entries = re.split(r"\n(?=[a-z0-9])", text.split("\n", 1)[1])

    assert len(entries) > 50
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"://|@ |--index|--find-links|file:", text) == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_locks_and_constraints_agree(path: Path) -> None:
    locked = pinned(path.read_text())

    assert {
        name: version
        for name, version in locked.items()
        if CONSTRAINTS.get(name, version) != version
    } == {}
    assert {"django", "celery", "psycopg", "setuptools"} <= set(locked)


@pytest.mark.parametrize("path", [*LOCKS, CHECKOUT / "constraints.txt"], ids=lambda path: path.name)
def test_no_version_is_one_of_the_bad_ones(path: Path) -> None:
    versions = pinned(path.read_text())
    bad = {
        f"{name} {versions[name]}": reason
        for name, (range_, reason) in BAD.items()
        if name in versions and versions[name] in SpecifierSet(range_, prereleases=True)
    }

    assert bad == {}


def test_a_bad_version_would_be_noticed() -> None:
    assert pinned("Django==5.2.1 \\\n    --hash=sha256:0")["django"] in SpecifierSet(
        BAD["django"][0]
    )
