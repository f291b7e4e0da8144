"""Endpoints that cannot be reached: people read a cause and a next step, no library's words."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind, as_endpoint_error
from geval.llm.requests import ChatRequest
from tests.processes import free_port


class _SaysNothing(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(500 if "broken" in self.path else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _SaysNothing)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{serving.server_port}"
    serving.shutdown()
    serving.server_close()


def said(base_url: str) -> EndpointError:
    async def ask() -> None:
        async with Client(base_url, "", timeout=20, allow_private=True) as client:
            await client.ask(ChatRequest("m", "Hello?"))

    with pytest.raises(EndpointError) as caught:
        asyncio.run(ask())
    return caught.value


def test_nobody_listens() -> None:
    error = said(f"http://127.0.0.1:{free_port()}/v1")

    assert error.kind == ErrorKind.CONNECTION
    assert error.message.startswith("Nothing answers at ")
    assert "Errno" not in error.message


def test_a_host_that_does_not_exist() -> None:
    message = said("http://no-such-host.invalid/v1").message
    assert message.startswith("No host is called no-such-host.invalid.")


def test_https_to_a_server_without_it(server: str) -> None:
    error = said(f"https://{server}/v1")

    assert "does not speak HTTPS" in error.message
    assert "SSL" not in error.message


def test_https_to_a_server_without_it_as_newer_openssl_says_it() -> None:
    newer = ssl.SSLError(1, "[SSL: RECORD_LAYER_FAILURE] record layer failure (_ssl.c:1033)")
    error = as_endpoint_error(newer, "https://here/v1", "m")

    assert "does not speak HTTPS" in error.message


def test_an_address_without_its_path_names_the_usual_one(server: str) -> None:
    assert said(f"http://{server}").message.endswith("Most addresses end in /v1.")


def test_an_error_without_a_reason_says_so_once(server: str) -> None:
    assert said(f"http://{server}/broken").message.endswith(": it gave no reason.")


def test_what_is_no_address_has_a_message_of_its_own() -> None:
    assert "http://[" in said("http://[").message
