"""A client that leaves before `local_llm` has its reply takes its request along."""

import asyncio

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from geval.llm import local_server as local_llm

REQUEST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"


async def _ask_and_leave() -> bool:
    """Ask through the front and leave before the model answers; whether the model was told."""
    asked, told = asyncio.Event(), asyncio.Event()

    async def answer(_request: web.Request) -> web.Response:
        asked.set()
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            told.set()
            raise
        return web.json_response({"choices": []})

    model = web.Application()
    model.router.add_post("/v1/chat/completions", answer)
    ports: asyncio.Queue[int] = asyncio.Queue()
    async with TestServer(model, handler_cancellation=True) as upstream:
        front = asyncio.create_task(
            local_llm.serve(
                str(upstream.make_url("/")), context=256, port=0, ready=ports.put_nowait
            )
        )
        _reader, writer = await asyncio.open_connection("127.0.0.1", await ports.get())
        writer.write(REQUEST)
        await asked.wait()
        writer.close()
        await writer.wait_closed()
        await asyncio.wait([asyncio.create_task(told.wait())], timeout=3)
        front.cancel()
        await asyncio.gather(front, return_exceptions=True)
    return told.is_set()


def test_the_model_stops_and_nothing_is_logged_as_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert asyncio.run(_ask_and_leave())

    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
