"""A door in front of a server that refuses connections while it has as many as it takes.

Its port is closed while so many connections are open, as with a server that has run out of threads
and whose queue is full.
"""

import asyncio
import contextlib
import socket
import threading
from typing import Self
from urllib.parse import urlsplit

from benchmarks.site import StandIn

_PART = 2**16


class FewConnections:
    """Passes connections on to a server, at most so many at once.

    Args:
        server: on this machine, with its `base_url`.
        most: how many connections are open at once; beyond, nobody listens.
    """

    def __init__(self, server: StandIn, most: int) -> None:
        parts = urlsplit(server.base_url)
        self._server = (parts.hostname, parts.port)
        self._most = most
        self._open = 0
        self._passing: set[asyncio.Task[None]] = set()
        self._listener = _listening(0)
        self._port = self._listener.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self._port}{parts.path}"
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._room = asyncio.Event()
        with contextlib.suppress(asyncio.CancelledError):
            while True:
                await self._accept()
                self._listener.close()
                while self._open >= self._most:
                    self._room.clear()
                    await self._room.wait()
                self._listener = _listening(self._port)
        self._listener.close()

    async def _accept(self) -> None:
        """Take connections until there are as many as may be."""
        while self._open < self._most:
            client, _address = await self._loop.sock_accept(self._listener)
            self._open += 1
            task = self._loop.create_task(self._pass_on(client))
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    async def _pass_on(self, client: socket.socket) -> None:
        client.setblocking(False)
        server = socket.socket()
        server.setblocking(False)
        try:
            await self._loop.sock_connect(server, self._server)
            ways = [self._copy(client, server), self._copy(server, client)]
            tasks = [asyncio.ensure_future(way) for way in ways]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
        finally:
            client.close()
            server.close()
            self._open -= 1
            self._room.set()

    async def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while part := await self._loop.sock_recv(source, _PART):
                await self._loop.sock_sendall(target, part)


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(1024)
    listener.setblocking(False)
    return listener
