"""The embedded PostgreSQL: any folder, shared by commands, stopped by the last one, started again
after a crash."""

import os
import pwd
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from geval_site.embedded.paths import LONGEST_SOCKET_PATH, SOCKET_NAME, socket_dir
from geval_site.embedded.runner import SYSTEM_USER
from tests.conftest import CHECKOUT

pytestmark = [pytest.mark.processes, pytest.mark.slow]
# The advisory lock is for PostgreSQL: two CREATE TABLE IF NOT EXISTS at once may collide.
QUERY = (
    "from django.db import connection as c; k = c.cursor(); k.execute('SELECT"
    " pg_advisory_lock(1)'); k.execute('CREATE TABLE IF NOT EXISTS seen (n serial)');"
    " k.execute('INSERT INTO seen DEFAULT VALUES'); k.execute('SELECT count(*) FROM seen'); n ="
    " k.fetchone()[0]; k.execute('SELECT pg_advisory_unlock(1)'); print('rows', n, flush=True)"
)


@pytest.fixture
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="gv-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def start(folder: Path, code: str, **more: object) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=CHECKOUT,
        env={
            **environment,
            "GEVAL_DATA_DIR": str(folder),
            "DJANGO_SETTINGS_MODULE": "geval_site.settings",
        },
        stdout=subprocess.PIPE, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def rows(folder: Path) -> int:
    process = start(folder, QUERY)
    out, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    return int(out.split()[-1])


def first_count(process: subprocess.Popen[str]) -> int:
    assert process.stdout
    assert process.stderr
    line = process.stdout.readline()
    assert line, process.stderr.read()
    return int(line.split()[-1])


def is_running(folder: Path) -> bool:
    pid_file = folder / "postgres" / "postmaster.pid"
    if not pid_file.exists():
        return False
    return Path(f"/proc/{pid_file.read_text().split()[0]}").exists()


@pytest.mark.parametrize(
    "name",
    [
        "with blanks and 'quotes'/mit,Komma und Ümläuten",
        "/".join(["a-rather-long-folder-name"] * 5),
    ],
)
def test_any_folder_will_do_and_its_data_stay(root: Path, name: str) -> None:
    folder = root / name

    assert [rows(folder), rows(folder)] == [1, 2]
    assert not is_running(folder)


def test_two_commands_at_once_share_one_server_and_the_last_stops_it(root: Path) -> None:
    wait = QUERY + "; input()"
    both = [start(root / "shared", wait) for _ in range(2)]
    counted = sorted(first_count(process) for process in both)

    both[0].communicate("\n", timeout=30)
    still = is_running(root / "shared")
    both[1].communicate("\n", timeout=30)

    assert counted == [1, 2]
    assert still
    assert not is_running(root / "shared")


def test_a_killed_command_does_not_keep_the_next_from_stopping_the_server(root: Path) -> None:
    killed = start(root / "d", QUERY + "; input()")
    assert killed.stdout
    killed.stdout.readline()
    killed.kill()
    killed.communicate()
    assert is_running(root / "d")

    assert rows(root / "d") == 2
    assert not is_running(root / "d")


@pytest.mark.slow
def test_a_server_that_was_killed_is_started_again(root: Path) -> None:
    command = start(root / "d", QUERY + "; input()")
    assert command.stdout
    command.stdout.readline()
    os.kill(int((root / "d/postgres/postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    again = rows(root / "d")
    command.communicate("\n", timeout=60)

    assert again == 2


def test_a_polite_kill_stops_the_server_too(root: Path) -> None:
    command = start(root / "d", QUERY + "; input()")
    assert command.stdout
    command.stdout.readline()

    command.terminate()
    command.communicate(timeout=60)

    assert not is_running(root / "d")


def test_what_keeps_it_from_starting_is_said(root: Path) -> None:
    folder = root / "d"
    rows(folder)
    (folder / "postgres" / "postgresql.conf").write_text("nonsense = 1\n")

    process = start(folder, QUERY)
    _, err = process.communicate(timeout=90)

    assert process.returncode != 0
    assert "EmbeddedServerError" in err
    assert "nonsense" in err


def open_to_others(folder: Path) -> list[str]:
    """What of a data folder others than its owner, or as root than PostgreSQL's account, may
    read, write or enter; folders and sockets in folders that are closed count as well."""
    found = []
    for path in [folder, *folder.rglob("*")]:
        about = path.lstat()
        allowed = 0o010 if path.is_dir() and os.geteuid() == 0 and path == folder else 0
        if not path.is_symlink() and not path.is_socket() and about.st_mode & 0o077 & ~allowed:
            found.append(f"{path.relative_to(folder)} {about.st_mode & 0o777:o}")
    if os.geteuid() == 0:
        account = pwd.getpwnam(SYSTEM_USER)
        assert folder.stat().st_gid == account.pw_gid
    return found


WRITES = (
    "import django; django.setup(); from geval_site.metrics_folder import share_metrics;"
    " share_metrics(); from evaluations.management import services; from unittest.mock import Mock;"
    " services.start_web(Mock(), host='127.0.0.1', port=1); "
)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
@pytest.mark.parametrize("key", ["", "a-secret-key"], ids=["its own key", "a key from outside"])
def test_everything_in_the_data_folder_is_private_whatever_the_umask(
    root: Path, monkeypatch: pytest.MonkeyPatch, umask: int, key: str
) -> None:
    folder = root / "d"
    monkeypatch.setenv("GEVAL_SECRET_KEY", key)

    running = start(folder, f"import os; os.umask({umask}); {WRITES}{QUERY}; input()")
    first_count(running)
    while_running = open_to_others(folder)
    running.communicate("\n", timeout=60)

    assert while_running == []
    assert open_to_others(folder) == []
    assert {"temporary", "metrics", "static", "server.lock"} <= {
        one.name for one in folder.iterdir()
    }


def test_files_that_earlier_versions_left_open_are_closed(root: Path) -> None:
    folder = root / "d"
    rows(folder)
    for name in ("server.lock", "users.lock"):
        (folder / name).chmod(0o644)

    rows(folder)

    assert open_to_others(folder) == []


@pytest.fixture
def outside(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the socket of a data folder whose path is too long for one."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(root))
    return socket_dir(root / "d,e")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
@pytest.mark.parametrize("kind", ["folder", "link to root's folder", "link to nothing"])
def test_a_socket_folder_that_somebody_else_made_is_refused(
    root: Path, outside: Path, kind: str
) -> None:
    if kind == "folder":
        outside.mkdir(mode=0o777)
        os.chown(outside, 65534, 65534)
    else:
        target = root / "target"
        if kind == "link to root's folder":
            target.mkdir()
        outside.symlink_to(target)
        os.chown(outside, 65534, 65534, follow_symlinks=False)

    _, err = start(root / "d,e", QUERY).communicate(timeout=90)

    assert f"{outside} belongs to another user," in err
    assert kind != "folder" or outside.stat().st_uid == 65534
    assert kind != "link to root's folder" or (root / "target").stat().st_uid == 0


def test_a_socket_folder_of_ones_own_is_closed_to_others(root: Path, outside: Path) -> None:
    outside.mkdir()
    outside.chmod(0o777)

    running = start(root / "d,e", QUERY + "; input()")
    first_count(running)
    mode = outside.stat().st_mode & 0o777
    running.communicate("\n", timeout=60)

    assert mode == 0o700


@pytest.mark.parametrize("length", [1, 40, 60, 200])
def test_a_sockets_path_always_fits(length: int) -> None:
    path = socket_dir(Path("/" + "x" * length)) / SOCKET_NAME

    assert len(os.fsencode(path)) <= LONGEST_SOCKET_PATH
