"""The backup's file: a zip of the dump, the manifest and a README, which gets its name once it is
complete."""

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from geval.files.backups.errors import BackupError
from geval.files.backups.manifest import BackupManifest, StoredFile, read_manifest

DUMP = "database.dump"
MANIFEST = "manifest.json"
# A dump may be larger than memory.
CHUNK_BYTES = 2**20
# What zipfile raises about a damaged file.
DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError,
    ValueError,
)  # fmt: skip
# A manifest lists every stored file, but a damaged or forged one must not fill the memory.
MOST_MANIFEST_BYTES = 64 * 2**20
README = """A backup of a geval_site: everything in its database.

manifest.json says by which version it was made, what it holds, and the SHA-256 of database.dump,
which is PostgreSQL's custom format. Restore it with `geval-site restore FILE`; PostgreSQL's own
pg_restore reads it, too.

Not included: the secret key (GEVAL_SECRET_KEY, or the file secret_key in the data folder), without
which the stored keys of endpoints cannot be decrypted; the environment with all settings; sessions,
so that people sign in again; messages in the queue, which only wake workers.
Keep this file as safe as the site: it has texts, e-mail addresses and hashes of passwords.
"""


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that gets its name once it is complete and on disk.

    Until then it is `NAME.part`; one left by a killed backup is overwritten.

    Raises:
        BackupError: it exists, another process is writing it, another user owns its draft, or the
            disk fails.
    """
    draft = path.with_name(f"{path.name}.part")
    _check_is_new(path)
    try:
        with _opened_draft(draft) as file:
            _lock(file, path)
            _check_is_still(file, draft, path)
            try:
                file.truncate()
                yield file
                file.flush()
                os.fsync(file.fileno())
                draft.rename(path)
                _sync_folder(path.parent)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror or error}.") from None


def write_container(file: IO[bytes], dump: IO[bytes], manifest: BackupManifest) -> BackupManifest:
    """Write a dump as it arrives, and the manifest; return the manifest with the dump's
    checksum."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        digest, size = hashlib.sha256(), 0
        with archive.open(DUMP, "w", force_zip64=True) as target:
            while chunk := dump.read(CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
                target.write(chunk)
        complete = replace(manifest, files={DUMP: StoredFile(size, digest.hexdigest())})
        archive.writestr(MANIFEST, complete.to_json())
        archive.writestr("README.txt", README)
    return complete


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a backup's file.

    Raises:
        BackupError: it cannot be read, is not a backup, or is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror or error}.") from None
    except DAMAGED as error:
        raise _damaged(path, str(error)) from None


def verify(path: Path) -> BackupManifest:
    """Read a whole backup and compare its checksums; return its manifest.

    Raises:
        BackupError: it is not a backup, or is damaged or incomplete.
    """
    with opened(path) as archive:
        manifest = manifest_of(archive)
        for name, stored in manifest.files.items():
            checksum = _checksum(archive, name)
            if checksum != stored:
                raise _damaged(path, f"{name} is not what was written")
        return manifest


def manifest_of(archive: zipfile.ZipFile) -> BackupManifest:
    """Return the manifest of an open backup, after checking that it has the dump."""
    names = set(archive.namelist())
    if MANIFEST not in names or archive.getinfo(MANIFEST).file_size > MOST_MANIFEST_BYTES:
        raise BackupError(f"{archive.filename} is not a backup of a geval_site.")
    manifest = read_manifest(archive.read(MANIFEST))
    if DUMP not in manifest.files or not set(manifest.files) <= names:
        raise BackupError(f"{archive.filename} is incomplete. Use another backup.")
    return manifest


def copy_dump(path: Path, target: IO[bytes]) -> None:
    """Write a backup's dump to a program's input, which may end early."""
    with opened(path) as archive, archive.open(DUMP) as dump, suppress(BrokenPipeError), target:
        shutil.copyfileobj(dump, target, CHUNK_BYTES)


def _checksum(archive: zipfile.ZipFile, name: str) -> StoredFile:
    digest, size = hashlib.sha256(), 0
    with archive.open(name) as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    return StoredFile(size, digest.hexdigest())


def _damaged(path: Path, why: str) -> BackupError:
    return BackupError(f"{path} is damaged or not a backup ({why}). Use another one.")


def _check_is_new(path: Path) -> None:
    if os.path.lexists(path):
        raise BackupError(f"{path} already exists; choose another name.")


def _opened_draft(draft: Path) -> IO[bytes]:
    """Open the draft: a new one, or one left by a killed backup of this user.

    In a folder where others may write, an attacker may have created it: as a link to a file that
    would be overwritten, or as their own file, from which they could read the backup.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        number = os.open(draft, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _not_a_draft(draft) from None
        raise
    about = os.fstat(number)
    is_ours = stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and about.st_nlink == 1
    if not is_ours or about.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        os.close(number)
        raise _not_a_draft(draft)
    return os.fdopen(number, "r+b")


def _not_a_draft(draft: Path) -> BackupError:
    return BackupError(
        f"{draft} is a link, belongs to another user or can be read by others, so no backup has"
        " left it there. Remove it, or write to a folder where only you may write."
    )


def _check_is_still(file: IO[bytes], draft: Path, path: Path) -> None:
    """Refuse a draft that another process has completed, or removed, before it was locked here."""
    try:
        is_same = os.path.samestat(os.fstat(file.fileno()), draft.lstat())
    except FileNotFoundError:
        is_same = False
    if not is_same:
        raise BackupError(f"Another process has just written {path}.")
    _check_is_new(path)


def _lock(file: IO[bytes], path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BackupError(f"Another process is writing {path}.") from None


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power failure."""
    opened_folder = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened_folder)
    finally:
        os.close(opened_folder)
