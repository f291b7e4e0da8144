"""An endpoint whose replies a test makes itself."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answering = Callable[[dict[str, Any]], Any]


@contextmanager
def decision_server(answer: Answering) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Its base URL, and the bodies it was sent.

    Args:
        answer: the `answers` for a body.
    """
    usage = {"input_tokens": 10, "output_tokens": 0}
    with json_server(lambda body: {"answers": answer(body), "usage": usage}) as served:
        yield served


@contextmanager
def json_server(answer: Answering) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The same for replies of any form.

    Args:
        answer: the reply to a body, as JSON or bytes.
    """
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append(body)
            answered = answer(body)
            content = answered if isinstance(answered, bytes) else json.dumps(answered).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
