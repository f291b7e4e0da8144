"""The image, built on a Debian from mmdebstrap, with PostgreSQL and RabbitMQ of this machine."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from kombu import Connection
from kombu.exceptions import OperationalError

from tests.image.containers import Buildah, Server, make_base, missing_programs, run, wait_for
from tests.processes import free_port
from tests.sites_of_their_own import temporary_folder

PACKAGES = "apt-get install buildah mmdebstrap postgresql rabbitmq-server"
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
IMAGE, BASE = "localhost/geval-site:test", "localhost/geval-site-base"


def postgres_programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@pytest.fixture(scope="session")
def needed() -> None:
    """Skips where something is missing, and says what."""
    missing = missing_programs("buildah", "mmdebstrap")
    missing += [] if postgres_programs() else ["postgresql"]
    missing += [] if RABBITMQ.exists() else ["rabbitmq-server"]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed; on Debian: {PACKAGES}")
    if os.geteuid():
        pytest.skip("only root can mount an image here")


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    with temporary_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def buildah(needed: None, folder: Path) -> Iterator[Buildah]:
    made = Buildah(folder / "storage")
    yield made
    made.remove_everything()


@pytest.fixture(scope="session")
def image(buildah: Buildah, folder: Path) -> str:
    """The image's name; GEVAL_TEST_IMAGE_BASE names an archive to build it on."""
    given = os.environ.get("GEVAL_TEST_IMAGE_BASE")
    archive = Path(given) if given else folder / "base.tar"
    if not given:
        make_base(archive)
    buildah.add_base(archive, BASE)
    buildah.build(IMAGE, base=BASE)
    return IMAGE


@dataclass(frozen=True)
class Services:
    database_url: str
    broker_url: str


@pytest.fixture(scope="session")
def services(needed: None, folder: Path) -> Iterator[Services]:
    """PostgreSQL and RabbitMQ, each on a port of its own, by users who are not root."""
    postgres, database_url = start_postgres(folder / "postgres")
    try:
        rabbitmq, broker_url, settings = start_rabbitmq(folder / "rabbitmq")
        try:
            yield Services(database_url, broker_url)
        finally:
            rabbitmq.stop()
            # The server's name server stays behind otherwise.
            subprocess.run(["epmd", "-kill"], env=settings, capture_output=True, check=False)
    finally:
        postgres.stop()


def own_folder(folder: Path, user: str) -> Path:
    folder.mkdir()
    shutil.chown(folder, user, user)
    return folder


def start_postgres(folder: Path) -> tuple[Server, str]:
    programs, port = postgres_programs(), free_port()
    assert programs
    own_folder(folder, "postgres")
    data = folder / "data"
    as_postgres = ("runuser", "-u", "postgres", "--")
    run(*as_postgres, programs / "initdb", "-D", data, "-A", "trust", "-U", "geval", "-N")
    command = [
        str(programs / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder),
        "-c", "listen_addresses=127.0.0.1",
    ]  # fmt: skip
    server = Server(command, folder, user="postgres", env={"PATH": os.environ["PATH"]})
    address = ("-h", "127.0.0.1", "-p", str(port))
    is_ready = [str(programs / "pg_isready"), "--quiet", *address]
    wait_for(lambda: subprocess.run(is_ready, check=False).returncode == 0, "PostgreSQL")
    run(programs / "createdb", *address, "-U", "geval", "geval")
    return server, f"postgresql://geval@127.0.0.1:{port}/geval"


def start_rabbitmq(folder: Path) -> tuple[Server, str, dict[str, str]]:
    own_folder(folder, "rabbitmq")
    port = free_port()
    settings = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"geval{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "ERL_EPMD_PORT": str(free_port()),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log.d"),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
    }
    server = Server([str(RABBITMQ)], folder, user="rabbitmq", env=settings)
    url = f"amqp://guest:guest@127.0.0.1:{port}//"
    try:
        wait_for(lambda: answers(url), f"RabbitMQ, see {server.log.read_text()}")
    except AssertionError:
        server.stop()
        raise
    return server, url, settings


def answers(url: str) -> bool:
    try:
        with Connection(url, connect_timeout=2) as connection:
            connection.connect()
    except (OSError, OperationalError):
        return False
    return True
