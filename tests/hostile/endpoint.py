"""A hostile endpoint: it speaks just enough HTTP to read a request, and answers as its mode says.

The mode is the first part of the path: `http://127.0.0.1:PORT/<number of the mode>/v1`. Batches
work there as OpenAI's do, with the mode's answer in the result file; modes that are no bodies take
the place of that file's transfer.
"""

import asyncio
import contextlib
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.hostile.modes import BODIES, MODES, RAW, WIRE, reply, text


class HostileEndpoint:
    """The server; `calls` counts requests for completions by mode."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.files: dict[str, bytes] = {}
        self.port = 0

    def base_url(self, mode: str) -> str:
        return f"http://127.0.0.1:{self.port}/{MODES.index(mode)}/v1"

    async def serve(self, ready: threading.Event) -> None:
        server = await asyncio.start_server(self._handle, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        async with server:
            await server.serve_forever()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            mode = ""
            while (
                not mode or mode in BODIES
            ):  # whose replies are well-formed HTTP, so that another request can follow
                head = await reader.readuntil(b"\r\n\r\n")
                method, path = head.decode("latin-1").split(" ")[:2]
                length = re.search(rb"content-length: *(\d+)", head, re.I)
                body = await reader.readexactly(int(length[1]) if length else 0)
                mode = MODES[int(path.split("/")[1])]
                await self._answer(method, path, mode, body, writer)
                await writer.drain()
        with contextlib.suppress(OSError):
            writer.close()

    async def _answer(
        self, method: str, path: str, mode: str, body: bytes, writer: asyncio.StreamWriter
    ) -> None:
        if path.endswith(("completions", "/responses", "/decisions", "/systemone")):
            self.calls[mode] += 1
            await self._misbehave(mode, writer, path=path, asked=body)
        elif path.endswith("/files"):
            self.files[mode] = body
            writer.write(reply(body=text({"id": "file-1"})))
        elif path.endswith("/content"):
            if mode in BODIES:
                writer.write(reply(body=self._results(mode)))
            else:
                await self._misbehave(mode, writer)
        elif "/batches" in path and (method == "POST" or path.endswith("batch-1")):
            record = {
                "id": "batch-1",
                "status": "completed",
                "output_file_id": "file-2",
                "metadata": {},
            }
            writer.write(reply(body=text(record)))
        else:
            writer.write(reply(body=text({"data": []})))

    async def _misbehave(
        self, mode: str, writer: asyncio.StreamWriter, *, path: str = "", asked: bytes = b""
    ) -> None:
        if mode in WIRE:
            await WIRE[mode](writer)
        elif mode in RAW:
            writer.write(RAW[mode])
        elif path.endswith("v1/completions"):
            writer.write(reply(body=_as_echo(BODIES[mode], asked)))
        elif path.endswith("/responses"):
            writer.write(reply(body=_as_response(BODIES[mode])))
        else:
            writer.write(reply(body=BODIES[mode]))

    def _results(self, mode: str) -> bytes:
        """The mode's answer to every line of the batch, as its line of the result file."""
        asked = [line for line in self.files[mode].splitlines() if line.startswith(b'{"custom_id"')]
        keys = [json.loads(line)["custom_id"].encode() for line in asked]
        response = b'"response": {"status_code": 200, "body": ' + BODIES[mode] + b"}"
        return b"\n".join(b'{"custom_id": "' + key + b'", ' + response + b"}" for key in keys)


def _as_echo(body: bytes, asked: bytes) -> bytes:
    """A mode's answer where an echo was asked: its tokens and log-probabilities in the place of the
    prompt's."""
    try:
        found: dict[str, Any] = json.loads(body)
        listed = found["choices"][0]["logprobs"]["content"]
        tokens = [entry["token"] for entry in listed]
        values = [entry["logprob"] for entry in listed]
    except (ValueError, LookupError, TypeError, RecursionError):
        return body
    prompt = json.loads(asked)["prompt"]
    found["choices"][0] = {
        "logprobs": {"tokens": [prompt, *tokens], "token_logprobs": [None, *values]}
    }
    return text(found)


def _as_response(body: bytes) -> bytes:
    """A mode's answer in the form of the Responses API, whatever stands in its fields."""
    try:
        completion: dict[str, Any] = json.loads(body)
        choices = completion.pop("choices")
        output = [
            {
                "type": "message",
                "role": "assistant",
                "status": choice.get("finish_reason"),
                "content": [_as_part(choice)],
            }
            for choice in choices
        ]
        counts = completion.pop("usage")
        usage = {"input_tokens": counts["prompt_tokens"], "output_tokens": counts["prompt_tokens"]}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return body
    return text(completion | {"object": "response", "output": output, "usage": usage})


def _as_part(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice["message"]
    if message.get("refusal"):
        return {"type": "refusal", "refusal": message["refusal"]}
    logprobs = (choice.get("logprobs") or {}).get("content")
    return {"type": "output_text", "text": message["content"], "logprobs": logprobs}


@contextmanager
def hostile_endpoint() -> Iterator[HostileEndpoint]:
    endpoint = HostileEndpoint()
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_run, args=(loop, endpoint, ready), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield endpoint
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def _run(
    loop: asyncio.AbstractEventLoop, endpoint: HostileEndpoint, ready: threading.Event
) -> None:
    asyncio.set_event_loop(loop)
    task = loop.create_task(endpoint.serve(ready))
    loop.run_forever()
    task.cancel()
    for other in asyncio.all_tasks(loop):
        other.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
