"""Upgrade data of an earlier PostgreSQL to the bundled version, keeping the earlier data.

`pg_upgrade` copies them into a new folder, which takes their place when complete. Whenever the
process is killed, the next one finds either the earlier data untouched, or the complete new ones.
"""

import shutil
import sys
from contextlib import suppress
from pathlib import Path

from geval_site.embedded.cluster import DatabaseCluster, is_listening, major_of
from geval_site.embedded.paths import USER, EmbeddedServerError
from geval_site.embedded.programs import earlier_programs

WORK, COMPLETE = "postgres-upgrading", "postgres-upgraded"
LOCK = "upgrade.lock"
KEPT = "postgres-{major}-before-upgrade"
# Different from the name of the site's server, so that nobody connects meanwhile; of equal length.
PORT = "5433"
# A new folder has catalogues and a write-ahead log of its own, besides the copied data.
SPARE_BYTES = 200 * 2**20


def upgrade_if_older(cluster: DatabaseCluster) -> None:
    """Upgrade data to the version of the cluster's programs. Its server must not be running.

    Raises:
        EmbeddedServerError: the upgrade is not possible. The data are unchanged; the message says
            what to do.
    """
    data_dir, target = cluster.runner.data_dir, cluster.programs.major
    _finish(cluster)
    major = major_of(cluster.folder)
    if major in (0, target):
        return
    if major > target:
        raise EmbeddedServerError(
            f"The data in {cluster.folder} were made by PostgreSQL {major}, and this version of the"
            f" site has {target}. Install the version that made them, or a later one."
        )
    programs = earlier_programs(major, data_dir)
    _check_space(cluster)
    _say(f"The site's data are being moved from PostgreSQL {major} to {target} …")
    try:
        _copy(
            DatabaseCluster(cluster.runner, programs, cluster.folder, cluster.socket_dir), cluster
        )
    except EmbeddedServerError as error:
        raise EmbeddedServerError(
            f"The data could not be moved to PostgreSQL {target}. They are as they were, in"
            f" {cluster.folder}: the version of the site before this one works with them, and what"
            f" its `backup` writes can be restored into an empty data folder of this one. Logs are"
            f" in {data_dir / WORK} until the next try. {error}"
        ) from None
    kept = _kept_name(data_dir, major)
    cluster.folder.rename(kept)
    (data_dir / COMPLETE).rename(cluster.folder)
    shutil.rmtree(data_dir / WORK, ignore_errors=True)
    _say(
        f"Done. The data from before are kept in {kept}; delete that folder when all is well. If"
        " you have changed PostgreSQL's own settings, they are there, too."
    )


def kept_folders(data_dir: Path) -> list[Path]:
    """Return data folders from before upgrades, which are no longer used."""
    return sorted(data_dir.glob(KEPT.format(major="*") + "*"))


def _finish(cluster: DatabaseCluster) -> None:
    """Finish a killed upgrade: complete data take their place, everything else starts over."""
    data_dir = cluster.runner.data_dir
    _stop_what_is_left(cluster)
    if (data_dir / WORK).exists():
        with cluster.runner.locked(LOCK):
            shutil.rmtree(data_dir / WORK)
    complete = data_dir / COMPLETE
    if not complete.exists():
        return
    if major_of(cluster.folder):  # and may have been written since
        shutil.rmtree(complete)
    else:
        cluster.folder.rmdir()
        complete.rename(cluster.folder)


def _copy(earlier: DatabaseCluster, target: DatabaseCluster) -> None:
    """Make a complete copy of earlier data for the target's programs, as `COMPLETE`."""
    runner = target.runner
    # A server of the data's own version recovers from a crash first.
    earlier.start(f"-p {PORT}")
    earlier.stop()
    copy = _in_work(target)
    with runner.locked(LOCK):
        runner.make_folder(copy.folder.parent)
        copy.initialise("--data-checksums" if earlier.has_checksums() else "--no-data-checksums")
        runner.run(
            target.programs, "pg_upgrade",
            "--old-bindir", str(runner.folder_of(earlier.programs)),
            "--new-bindir", str(runner.folder_of(target.programs)),
            "--old-datadir", str(earlier.folder), "--new-datadir", str(copy.folder),
            "--old-port", PORT, "--new-port", PORT,
            "--username", USER, "--socketdir", str(target.socket_dir),
            cwd=copy.folder.parent,
        )  # fmt: skip
        copy.folder.rename(runner.data_dir / COMPLETE)


def _stop_what_is_left(cluster: DatabaseCluster) -> None:
    """Stop the server that a killed upgrade left running, if there is one."""
    for server in (cluster, _in_work(cluster)):
        if is_listening(cluster.socket_dir / f".s.PGSQL.{PORT}"):
            with suppress(EmbeddedServerError):  # the server may be of the other version
                server.stop()


def _in_work(cluster: DatabaseCluster) -> DatabaseCluster:
    """Return the folder of data that are being created."""
    folder = cluster.runner.data_dir / WORK / "data"
    return DatabaseCluster(cluster.runner, cluster.programs, folder, cluster.socket_dir)


def _check_space(cluster: DatabaseCluster) -> None:
    needed = SPARE_BYTES + sum(path.lstat().st_size for path in cluster.folder.rglob("*"))
    free = shutil.disk_usage(cluster.runner.data_dir).free
    if free < needed:
        raise EmbeddedServerError(
            f"Moving the data to PostgreSQL {cluster.programs.major} needs {needed / 2**20:,.0f} MB"
            f" at {cluster.runner.data_dir}, and {free / 2**20:,.0f} MB are free. Free some space,"
            " and start again; nothing was changed."
        )


def _kept_name(data_dir: Path, major: int) -> Path:
    """Return an unused name, since there may have been an upgrade from this version before."""
    first = data_dir / KEPT.format(major=major)
    name, number = first, 1
    while name.exists():
        number += 1
        name = first.with_name(f"{first.name}-{number}")
    return name


def _say(text: str) -> None:
    """Print a message for the user, because the upgrade may take minutes."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
