"""Servers with Pythons of their own, for the time of a test."""

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from tests.conftest import free_port


@contextmanager
def serving(
    command: Sequence[str],
    *,
    seconds: int,
    environment: Mapping[str, str] | None = None,
    port: int = 0,
) -> Iterator[str]:
    """The base URL of a server, which may take so long until it lists its models; its port is in
    the command if one is named."""
    listens = [] if port else ["--host", "127.0.0.1", "--port", str(port := free_port())]
    server = subprocess.Popen(
        [*command, *listens],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}/v1"
        for _ in range(4 * seconds):
            try:
                urllib.request.urlopen(f"{url}/models", timeout=1).read()
                break
            except urllib.error.HTTPError:
                break  # it asks for a key
            except OSError:
                assert server.poll() is None, "the server ended instead of starting"
                time.sleep(0.25)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=60)
