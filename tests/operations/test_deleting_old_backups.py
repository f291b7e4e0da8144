"""The deletion of old backups in the docs and in systemd's unit takes the nightly ones alone."""

import os
import re
import shlex
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

LONG_AGO = time.time() - 40 * 86_400


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("docs/operations.md", "2026-01-31.backup"),
        ("deploy/systemd/geval-site-backup.service", "2026-01-31-0215.backup"),
    ],
)
def test_old_nightly_backups_and_their_drafts_go_and_others_stay(
    source: str, name: str, tmp_path: Path
) -> None:
    text = (CHECKOUT / source).read_text()
    (command,) = re.findall(r"find /var/backups/\S+ .* -delete", text)
    old = [name, f"{name}.part", "before-upgrade.backup", "monday.backup"]
    for file in old:
        (tmp_path / file).touch()
        os.utime(tmp_path / file, (LONG_AGO, LONG_AGO))
    recent = name.replace("01-31", "02-28")
    (tmp_path / recent).touch()

    find, _folder, *rest = shlex.split(command)
    subprocess.run([find, tmp_path, *rest], check=True)

    left = {path.name for path in tmp_path.iterdir()}
    assert left == {recent, "before-upgrade.backup", "monday.backup"}
