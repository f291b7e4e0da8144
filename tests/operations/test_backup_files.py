"""A backup's file is there once it is complete, and is read through before anybody relies on it."""

import io
import os
import random
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO

import orjson
import pytest

from evaluations.operations.backup import programs
from geval.files.backups import container
from geval.files.backups import manifest as manifests
from geval.files.backups.container import new_file, verify, write_container
from geval.files.backups.errors import BackupError
from geval.files.backups.manifest import BackupManifest
from geval_site.databases import EMBEDDED

MANIFEST = BackupManifest(
    software="1.0.0",
    made_at="2026-01-31T12:00:00+00:00",
    postgresql=180004,
    dumped_by=180004,
    migrations={"evaluations": "0024_causes_of_gaps"},
    tables={"evaluations_score": 7},
    projects={"p": {"scores": 7}},
    secret_key="0123",
)


def write(
    path: Path, dump: bytes = b"rows " * 400, manifest: BackupManifest = MANIFEST
) -> BackupManifest:
    with new_file(path) as file:
        return write_container(file, io.BytesIO(dump), manifest)


def test_a_written_file_is_complete_and_for_its_owner_only(tmp_path: Path) -> None:
    written = write(tmp_path / "b")

    assert verify(tmp_path / "b") == written
    assert written.files["database.dump"].bytes == 2000
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("precious")

    with pytest.raises(BackupError, match="already exists"):
        write(tmp_path / "b")

    assert (tmp_path / "b").read_text() == "precious"


def test_an_error_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with new_file(tmp_path / "b") as file:
            file.write(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(BackupError, match="b cannot be written: No space left on device"):
        fail()

    assert list(tmp_path.iterdir()) == []


def test_the_rest_of_a_killed_backup_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "b.part").write_bytes(b"x" * 100_000)
    (tmp_path / "b.part").chmod(0o600)

    write(tmp_path / "b")

    assert verify(tmp_path / "b").software == "1.0.0"
    assert not (tmp_path / "b.part").exists()


def test_two_backups_do_not_write_the_same_file(tmp_path: Path) -> None:
    with new_file(tmp_path / "b") as file:
        with pytest.raises(BackupError, match="Another process is writing"):
            write(tmp_path / "b")
        write_container(file, io.BytesIO(b"first"), MANIFEST)

    assert verify(tmp_path / "b").files["database.dump"].bytes == 5


def test_a_byte_that_changed_is_noticed(tmp_path: Path) -> None:
    written = write(tmp_path / "b")
    good = (tmp_path / "b").read_bytes()
    generator = random.Random(7)
    unnoticed = 0
    for _ in range(300):
        bad = bytearray(good)
        bad[generator.randrange(len(bad))] ^= 1 << generator.randrange(8)
        (tmp_path / "bad").write_bytes(bad)
        try:
            # What it says is still what was written: the byte was a date of the zip or the README.
            assert verify(tmp_path / "bad") == written
            unnoticed += 1
        except BackupError:
            continue

    assert unnoticed < 150


@pytest.mark.parametrize("share", [0, 0.3, 0.999])
def test_a_file_that_was_cut_is_refused(tmp_path: Path, share: float) -> None:
    write(tmp_path / "b")
    good = (tmp_path / "b").read_bytes()
    (tmp_path / "b").write_bytes(good[: int(share * len(good))])

    with pytest.raises(BackupError, match="is damaged or not a backup"):
        verify(tmp_path / "b")


def test_another_zip_is_not_a_backup(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b", "w") as archive:
        archive.writestr("manifest.json", '{"format": "geval-site project"}')

    with pytest.raises(BackupError, match="This is not a backup"):
        verify(tmp_path / "b")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="absent cannot be read: No such file"):
        verify(tmp_path / "absent")


def test_a_later_format_names_the_version_to_install(tmp_path: Path) -> None:
    write(tmp_path / "b", manifest=replace(MANIFEST, software="9.1.0", version=2))

    with pytest.raises(BackupError, match=r"geval_site 9\.1\.0, in a format .* Install"):
        verify(tmp_path / "b")


def test_what_is_newer_is_what_this_version_does_not_know() -> None:
    known = {"evaluations": ["0001_initial", "0002_more"]}

    assert manifests.unknown_migrations({"evaluations": "0003_x"}, known) == {
        "evaluations": "0003_x"
    }
    assert manifests.unknown_migrations({"evaluations": "0001_initial"}, known) == {}
    assert manifests.unknown_migrations({"socialaccount": "0006_x"}, known) == {}
    assert manifests.is_older({"evaluations": "0001_initial"}, {"evaluations": "0002_more"})


def test_programs_that_are_too_old_are_named_with_what_to_install() -> None:
    with pytest.raises(BackupError, match=r"too old to back up a server of version 99: found 1.*"):
        programs.find_programs({"ENGINE": EMBEDDED}, at_least=990_000, purpose="back up a server")


def test_the_systems_programs_come_first_if_they_are_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pg_dump", "pg_restore", "psql"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) 17.2 (Debian)'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    served = {"ENGINE": "django.db.backends.postgresql"}

    found = programs.find_programs(served, at_least=170_005, purpose="")
    newer = programs.find_programs(served, at_least=180_000, purpose="")

    assert (found.folder, found.version) == (tmp_path, 170_002)
    assert newer.version >= 180_000


def plant_link(draft: Path, precious: Path) -> None:
    draft.symlink_to(precious)


def plant_hard_link(draft: Path, precious: Path) -> None:
    draft.hardlink_to(precious)


def plant_readable_file(draft: Path, _precious: Path) -> None:
    draft.touch()
    draft.chmod(0o644)


def plant_pipe(draft: Path, _precious: Path) -> None:
    os.mkfifo(draft, 0o600)


@pytest.mark.parametrize("plant", [plant_link, plant_hard_link, plant_readable_file, plant_pipe])
def test_a_draft_that_no_backup_has_left_is_refused(
    tmp_path: Path, plant: Callable[[Path, Path], None]
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    precious.chmod(0o600)
    plant(tmp_path / "b.part", precious)

    with pytest.raises(BackupError, match="Remove it, or write to a folder where only you"):
        write(tmp_path / "b")

    assert precious.read_text() == "precious"
    assert not (tmp_path / "b").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_draft_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.part").touch(0o600)
    os.chown(tmp_path / "b.part", 65_534, -1)

    with pytest.raises(BackupError, match="belongs to another user"):
        write(tmp_path / "b")


def test_a_backup_that_another_process_completes_at_that_moment_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = container._lock

    def complete_another(file: IO[bytes], path: Path) -> None:
        monkeypatch.setattr(container, "_lock", lock)
        write(path, b"of the other")
        lock(file, path)

    monkeypatch.setattr(container, "_lock", complete_another)

    with pytest.raises(BackupError, match="Another process has just written"):
        write(tmp_path / "b")

    assert verify(tmp_path / "b").files["database.dump"].bytes == len(b"of the other")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dumped_by", "180004"),
        ("postgresql", None),
        ("tables", ["evaluations_score"]),
        ("tables", {"evaluations_score": "7"}),
        ("migrations", ["0001_initial"]),
        ("migrations", {"evaluations": 24}),
        ("projects", {"p": 3}),
        ("made_at", "\x1b[31m2026"),
        ("files", {"database.dump": {"bytes": 1, "sha256": []}}),
        ("version", "1"),
    ],
)
def test_a_manifest_with_values_of_another_kind_is_damaged(name: str, value: object) -> None:
    written = orjson.loads(MANIFEST.to_json())

    with pytest.raises(BackupError, match="The manifest of this backup is damaged"):
        manifests.read_manifest(orjson.dumps(written | {name: value}))
