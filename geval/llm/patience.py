"""Limit the time of a question to an endpoint, including all its calls and retries."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from geval.llm.errors import EndpointError, ErrorKind

# Somebody waits for the answer, and calls with their retries could take far longer.
PATIENCE_SECONDS = 120.0
Result = TypeVar("Result")


def ask_within_patience(
    question: Coroutine[Any, Any, Result], base_url: str, *, seconds: float = PATIENCE_SECONDS
) -> Result:
    """Await the answer to a question.

    Raises:
        EndpointError: it took too long, or the question failed.
    """

    async def ask() -> Result:
        async with asyncio.timeout(seconds):
            return await question

    try:
        return asyncio.run(ask())
    except TimeoutError:
        raise EndpointError(
            ErrorKind.TIMEOUT,
            f"{base_url} had not answered everything after {seconds:.0f} seconds.",
        ) from None
