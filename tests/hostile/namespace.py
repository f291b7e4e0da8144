"""Run inside a network namespace of its own: what is called when somebody enters an address that
must not be.

The namespace has every address of the table on its loopback device, a server behind each, and a
name server that changes its answers. Prints a line of JSON for each spelling: what saving it said,
how the call ended, which addresses were connected to.
"""

import asyncio
import json
import os
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import aiohttp

from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError
from geval.llm.network import checked_session
from geval.llm.requests import ChatRequest
from tests.hostile.spellings import LOOPBACK, METADATA, NO_SERVER, PRIVATE, URLS

ADDRESSES = (
    "169.254.169.254/32", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "10.0.0.5/32",
    "172.16.0.1/32",
    "192.168.1.1/32", "100.64.0.1/32", "198.18.0.1/32", "192.0.2.1/32", "203.0.113.1/32",
    "192.88.99.1/32", "5f00::1/128", "240.0.0.1/32",
    "93.184.216.34/32", "fd00:ec2::254/128", "fc00::1/128", "fec0::1/128", "2001:db8::1/128",
    "64:ff9b::7f00:1/128",
    "64:ff9b::a00:5/128", "64:ff9b::a9fe:a9fe/128", "64:ff9b:1::7f00:1/128", "2002:7f00:1::/128",
    "2002:a00:5::/128",
    "2606:2800:220:1::1/128",
)  # fmt: skip
PUBLIC, LOCAL = "93.184.216.34", "127.0.0.1"
NAMES = {
    "public.test": [[PUBLIC]],
    "local.test": [[LOCAL]],
    "private.test": [["10.0.0.5"]],
    "meta.test": [["169.254.169.254"]],
    "both.test": [[PUBLIC, "10.0.0.5"]],
    # The first question is asked when the address is checked, later ones when it is called.
    "rebind.test": [[PUBLIC], [LOCAL]],
}
asked: Counter[str] = Counter()
connected: list[str] = []


class NameServer(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        query, connection = self.request
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
            at += query[at] + 1
        name, kind = ".".join(labels).lower(), struct.unpack(">H", query[at + 1 : at + 3])[0]
        answers = NAMES.get(name)
        found: list[str] = []
        if answers and kind == 1:
            found = answers[min(asked[name], len(answers) - 1)]
            asked[name] += 1
        flags = 0x8180 if answers else 0x8183
        head = query[:2] + struct.pack(">HHHHH", flags, 1, len(found), 0, 0) + query[12 : at + 5]
        records = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(address)
            for address in found
        )
        connection.sendto(head + records, self.client_address)


class Recorder(socketserver.BaseRequestHandler):
    """A server on every address: it notes which one was reached, and answers."""

    def handle(self) -> None:
        connected.append(self.request.getsockname()[0])
        self.request.recv(65536)
        self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")


class Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    address_family = socket.AF_INET6

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


def prepare() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in ADDRESSES:
        subprocess.run(["ip", "addr", "add", address, "dev", "lo"], check=True)
    for name, content in (("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"),
                          ("nsswitch.conf", "hosts: files dns\n")):  # fmt: skip
        file = Path(tempfile.mkdtemp()) / name
        file.write_text(content)
        subprocess.run(["mount", "--bind", str(file), f"/etc/{name}"], check=True)
    for server in (
        socketserver.UDPServer(("127.0.0.1", 53), NameServer),
        Listener(("::", 80), Recorder),
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()


async def call(url: str, *, allow_private: bool) -> str:
    try:
        async with Client(url, "", timeout=3, allow_private=allow_private) as client:
            await client.chat(ChatRequest(model="m", prompt="Hello"))
    except EndpointError as error:
        return error.kind.value
    except Exception as error:
        return f"!{type(error).__name__}: {error}"
    return "answered"


async def post(url: str, *, allow_private: bool) -> str:
    """As webhooks are sent."""
    timeout = aiohttp.ClientTimeout(total=3)
    try:
        async with (
            checked_session(allow_private=allow_private, timeout=timeout) as session,
            session.post(url, data=b"{}", allow_redirects=False) as got,
        ):
            return str(got.status)
    except Exception as error:
        return type(error).__name__


def try_url(spelling: str, url: str, *, allow_private: bool) -> dict[str, object]:
    asked.clear()
    connected.clear()
    try:
        check_address(url, allow_private=allow_private)
        said = ""
    except ForbiddenAddressError as error:
        said = str(error)
    # Called whatever the check said: no connection may depend on it.
    ends = [
        asyncio.run(call(url, allow_private=allow_private)),
        asyncio.run(post(url, allow_private=allow_private)),
    ]
    return {
        "spelling": spelling,
        "saved": not said,
        "said": said,
        "ends": ends,
        "connected": sorted(set(connected)),
    }


def main() -> None:
    prepare()
    hosts = (*LOOPBACK, *METADATA, *PRIVATE, *NO_SERVER, "public.test", "[2606:2800:220:1::1]")
    urls = [(host, f"http://{host}/v1") for host in hosts] + [(url, url) for url in URLS]
    for allow_private in (False, True):
        for spelling, url in urls:
            found = try_url(spelling, url, allow_private=allow_private) | {
                "allow_private": allow_private
            }
            sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)  # servers in threads would keep the process


if __name__ == "__main__":
    main()
