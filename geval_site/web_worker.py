"""Gunicorn's threads, hardened against slow clients: a thread is used only once a request's headers
have arrived.

Gunicorn's own worker assigns a thread to any client that has sent a byte, so that as many
connections as there are threads block all others as long as they occasionally send a byte. Here
request heads are assembled in the worker's event loop, where a waiting connection costs a socket; a
head that takes too long is dropped.
"""

import contextlib
import errno
import selectors
import socket
import time
from functools import partial
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

# An honest client sends its head at once.
HEAD_SECONDS = 15.0
# Room for long addresses and cookies.
MOST_HEAD_BYTES = 2**16
# Maximum number of sockets per worker that wait for their head; the oldest makes room for a new
# one.
MOST_ARRIVING = 400
PIECE = 2**13
END = b"\r\n\r\n"
TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length:"
    b" 0\r\n\r\n"
)


class ArrivingConnection(TConn):
    """A connection with the part of its first request's headers that has arrived."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.head = bytearray()
        self.ends = time.monotonic() + HEAD_SECONDS

    def init(self) -> None:
        first = not self.initialized
        super().init()
        if first:
            self.parser.unreader.unread(bytes(self.head))

    def is_complete(self, piece: bytes) -> bool:
        """Receive some bytes; return whether the headers are complete."""
        begin = max(0, len(self.head) - len(END) + 1)
        self.head += piece
        return self.head.find(END, begin) >= 0


class HeadFirstWorker(ThreadWorker):
    """The worker class of `web_server.py`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.arriving: dict[socket.socket, ArrivingConnection] = {}

    def accept(self, listener: socket.socket) -> None:
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK):
                return
            raise
        conn = ArrivingConnection(self.cfg, client, address, listener.getsockname())
        self.arriving[client] = conn
        self.poller.register(client, selectors.EVENT_READ, partial(self._read_head, conn))
        self._read_head(conn, client)  # usually the head has already arrived
        if len(self.arriving) > MOST_ARRIVING:
            self._drop(next(iter(self.arriving.values())))

    def murder_pending(self) -> None:
        """Drop connections that take too long; Gunicorn calls this about every second."""
        super().murder_pending()
        now = time.monotonic()
        for conn in [conn for conn in self.arriving.values() if conn.ends < now]:
            self._drop(conn)

    def _read_head(self, conn: ArrivingConnection, client: socket.socket) -> None:
        try:
            piece = client.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._drop(conn)
        elif conn.is_complete(piece):
            self._forget(conn)
            conn.data_ready = True
            self.nr_conns += 1
            self.enqueue_req(conn)
        elif len(conn.head) > MOST_HEAD_BYTES:
            with contextlib.suppress(OSError):
                client.send(TOO_LARGE)
            self._drop(conn)

    def _forget(self, conn: ArrivingConnection) -> None:
        del self.arriving[conn.sock]
        self.poller.unregister(conn.sock)

    def _drop(self, conn: ArrivingConnection) -> None:
        self._forget(conn)
        conn.close()
