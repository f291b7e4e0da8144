"""Backups in a folder are named by their time, and old ones of these alone go."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone

from geval.files.backups.nightly import remove_old
from tests.conftest import CHECKOUT

DAY = 86_400
pytestmark = pytest.mark.django_db(transaction=True)
Manage = Callable[..., "subprocess.CompletedProcess[str]"]


def make_file(path: Path, *, days: float) -> None:
    path.touch()
    os.utime(path, (time.time() - days * DAY,) * 2)


def test_a_backup_into_a_folder_is_named_by_its_time_and_old_ones_go(
    manage: Manage, tmp_path: Path
) -> None:
    gone = ["2026-01-31-0215.backup", "2026-01-31-0215.backup.part", "2025-12-01.backup"]
    for name in (*gone, "before-upgrade.backup", "monday.backup", "x2026-01-31-0215.backup"):
        make_file(tmp_path / name, days=31)
    make_file(tmp_path / "2026-02-28-0215.backup", days=29)
    (tmp_path / "2026-01-01-0215.backup").symlink_to(tmp_path / "monday.backup")

    done = manage("backup", str(tmp_path), "--keep-days", "30")

    assert done.returncode == 0, done.stderr
    left = {path.name for path in tmp_path.iterdir()}
    (made,) = left - {
        "before-upgrade.backup",
        "monday.backup",
        "x2026-01-31-0215.backup",
        "2026-02-28-0215.backup",
        "2026-01-01-0215.backup",
    }
    assert made.startswith("20")
    assert not left & set(gone)
    assert all(f"{name}: removed" in done.stdout for name in gone)
    assert manage("backup", "--verify", str(tmp_path / made)).returncode == 0


def test_a_backup_that_somebody_else_removes_meanwhile_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["2026-01-01-0215.backup", "2026-01-02-0215.backup", "2026-01-03-0215.backup"]
    for name in names:
        make_file(tmp_path / name, days=31)
    look, unlink = Path.lstat, Path.unlink

    def lstat(path: Path) -> os.stat_result:
        if path.name == names[0]:
            unlink(path)
        status = look(path)
        if path.name == names[1]:
            unlink(path)
        return status

    monkeypatch.setattr(Path, "lstat", lstat)

    removed = remove_old(tmp_path, days=30, now=timezone.now())

    assert removed == [tmp_path / names[2]]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("new.backup",), ("missing/",)])
def test_only_a_folder_that_exists_is_cleared(
    manage: Manage, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = manage("backup", str(tmp_path / arguments[0]), "--keep-days", "30")

    assert done.returncode != 0
    assert "for a folder that exists" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_runs_each_night_is_that_command() -> None:
    for name in ("docs/operations.md", "deploy/systemd/geval-site-backup.service"):
        assert "--keep-days 30" in (CHECKOUT / name).read_text()
    for name in ("compose.yaml", "deploy/kubernetes/backup.yaml"):
        assert '--keep-days, "30"' in (CHECKOUT / name).read_text()
