"""A client that leaves before `local_llm` has its reply is no error of the server."""

import asyncio

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from evaluations import local_llm


async def _ask_and_leave() -> None:
    """Ask through the front, and leave before the model answers."""
    asked, left = asyncio.Event(), asyncio.Event()

    async def answer(_request: web.Request) -> web.Response:
        asked.set()
        await left.wait()
        return web.json_response({"choices": []})

    model = web.Application()
    model.router.add_post("/v1/chat/completions", answer)
    ports: asyncio.Queue[int] = asyncio.Queue()
    async with TestServer(model) as upstream:
        front = asyncio.create_task(
            local_llm.serve(
                str(upstream.make_url("/")), context=256, port=0, ready=ports.put_nowait
            )
        )
        _reader, writer = await asyncio.open_connection("127.0.0.1", await ports.get())
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
        )
        await asked.wait()
        writer.close()
        await writer.wait_closed()
        left.set()
        await asyncio.sleep(0.2)
        front.cancel()
        await asyncio.gather(front, return_exceptions=True)


def test_nothing_is_logged_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(_ask_and_leave())

    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
