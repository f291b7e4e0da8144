"""What happens to sites that run for long: an endpoint behind a door, a disk that is full."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from tests.sites_of_their_own import FILL_DISK, MAKE_ROOM, Site

IN_FLIGHT = 8
REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


class Door:
    """In front of an endpoint: passes connections on, or refuses, cuts or overloads them."""

    def __init__(self, port: int) -> None:
        self._behind = port
        self.state = "open"
        self._server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            if self.state == "cut":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            if self.state == "overloaded":
                client.recv(65536)
                client.sendall(REFUSAL)
                return
            with socket.create_connection(("127.0.0.1", self._behind)) as server:
                back = threading.Thread(target=self._pass_on, args=(server, client), daemon=True)
                back.start()
                self._pass_on(client, server)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        state = self.state
        with suppress(OSError):
            while (data := source.recv(65536)) and self.state == state:
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._server.close()


def begin(
    site: Site, port: int, *, items: int, before_run: Callable[[], None] = lambda: None
) -> None:
    """A project of so many outputs, and a run of a judge that asks at a port."""
    rows = (
        {"doc_id": f"d{n}", "system_id": "s", "source": f"The ferry {n} sails at noon.",
         "output": f"Ferry {n} sails."}
        for n in range(items)
    )  # fmt: skip
    outputs = site.folder / "outputs.jsonl"
    outputs.write_text("\n".join(json.dumps(row) for row in rows))
    site.manage("load", "p", str(outputs))
    site.manage(
        "add_judge", "p", "j", "--base-url", f"http://127.0.0.1:{port}/v1",
        "--model", "offline-stand-in", "--mode", "logprobs", "--no-steps",
        "--concurrency", str(IN_FLIGHT),
    )  # fmt: skip
    before_run()  # the judge's endpoint was probed
    site.shell(
        "from evaluations.models import *;"
        " from evaluations.judging.runs.starting import start_run; p ="
        " Project.objects.get(); c = p.criteria.create(name='fluency'); start_run(p.judges.get(),"
        " [c])"
    )


def fill_disk_for_a_while(site: Site, seconds: float) -> None:
    site.query(FILL_DISK)
    time.sleep(seconds)
    site.query(MAKE_ROOM)
