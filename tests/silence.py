"""Servers that take connections and never say a word, as hostile or broken ones do."""

import contextlib
import socket
from collections.abc import Iterator
from threading import Thread


class SilentServer:
    """Accepts whoever comes, keeps every connection open, and answers nothing."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.socket.getsockname()[1]
        self.accepted: list[socket.socket] = []
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.accepted.append(self.socket.accept()[0])

    def close(self) -> None:
        self.socket.close()
        for connection in self.accepted:
            connection.close()


@contextlib.contextmanager
def silent_server() -> Iterator[SilentServer]:
    server = SilentServer()
    yield server
    server.close()
