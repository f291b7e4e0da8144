"""No spelling of an address and no name server leads a call where it must not go; tried in a
network of its own."""

import json
import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from tests.conftest import CHECKOUT
from tests.hostile.spellings import LOOPBACK, METADATA, NO_SERVER, PRIVATE, URLS
from tests.hostile.table import record

UNSHARE = (
    "unshare",
    "--net",
    "--mount",
    *(() if os.getuid() == 0 else ("--user", "--map-root-user")),
)
PUBLIC = {"93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"}
Found = dict[tuple[str, bool], dict[str, Any]]


def why_no_namespace() -> str:
    try:
        done = subprocess.run([*UNSHARE, "ip", "link"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "network namespaces need `unshare` and `ip`"
    return (
        ""
        if done.returncode == 0
        else f"this user may not make a network namespace: {done.stderr.strip()}"
    )


@pytest.fixture(scope="module")
def found() -> Found:
    """What came of every spelling, by it and whether private networks were allowed."""
    if why := why_no_namespace():
        pytest.skip(why)
    done = subprocess.run(
        [*UNSHARE, sys.executable, "-m", "tests.hostile.namespace"],
        cwd=CHECKOUT,
        env={name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {(line["spelling"], line["allow_private"]): line for line in lines}


def test_what_must_not_be_called_is_refused_when_saved_and_not_connected_to(found: Found) -> None:
    tried = [
        found[spelling, False] for spelling in (*LOOPBACK, *METADATA, *PRIVATE, *NO_SERVER, *URLS)
    ]
    lost = [one for one in tried if set(one["connected"]) - PUBLIC]
    record("addresses", Counter({"refused": len(tried) - len(lost), "lost": len(lost)}))

    assert len(tried) >= 89
    assert lost == []
    # A name that was harmless when it was saved is caught when it is called.
    assert [one["spelling"] for one in tried if one["saved"]] == ["rebind.test"]
    assert found["rebind.test", False]["ends"][0] == "forbidden_address"


def test_every_call_ends_with_a_kind_of_error(found: Found) -> None:
    assert [one for one in found.values() if one["ends"][0].startswith("!")] == []


def test_metadata_services_are_not_connected_to_where_private_networks_are_allowed(
    found: Found,
) -> None:
    tried = [found[spelling, True] for spelling in (*METADATA, *NO_SERVER)]

    assert [one for one in tried if one["connected"]] == []
    assert [one["spelling"] for one in tried if one["saved"]] == []


def test_public_addresses_are_called_and_so_are_private_ones_where_that_is_allowed(
    found: Found,
) -> None:
    assert found["public.test", False]["connected"] == ["::ffff:93.184.216.34"]
    assert found["[2606:2800:220:1::1]", False]["connected"] == ["2606:2800:220:1::1"]
    assert found["127.0.0.1", True]["connected"] == ["::ffff:127.0.0.1"]
    assert found["private.test", True]["connected"] == ["::ffff:10.0.0.5"]
