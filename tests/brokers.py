"""Brokers of a test's own."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.processes import free_port

# Not the one on the path, which only root may call, and which becomes another user then.
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"


def has_broker(kind: str) -> bool:
    """Whether a broker of a kind is on this machine; the queue in PostgreSQL always is."""
    programs = {"Redis": "redis-server", "RabbitMQ": RABBITMQ}
    return kind not in programs or shutil.which(programs[kind]) is not None


@contextmanager
def broker(kind: str, folder: Path) -> Iterator[str]:
    """The address of a broker of its own; nothing for the queue in PostgreSQL."""
    if kind == "PostgreSQL":
        yield ""
        return
    port = free_port()
    if kind == "Redis":
        command = ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)]
        address, environment = f"redis://127.0.0.1:{port}/0", {}
    else:
        command = [RABBITMQ]
        address = f"amqp://guest:guest@127.0.0.1:{port}//"
        environment = {
            "HOME": str(folder), "RABBITMQ_NODENAME": f"geval{port}@localhost",
            "RABBITMQ_NODE_PORT": str(port), "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"), "ERL_EPMD_PORT": str(free_port()),
            "ERL_EPMD_RELAXED_COMMAND_CHECK": "1",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        }  # fmt: skip
    process = subprocess.Popen(
        command, env=os.environ | environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 90
        while not listens(port):
            assert process.poll() is None, f"{kind} ended instead of starting"
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield address
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)
        if environment:
            # The daemon with the names of nodes outlives RabbitMQ.
            subprocess.run(["epmd", "-kill"], env=os.environ | environment, check=False)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
