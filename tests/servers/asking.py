"""Requests to servers, past everything of ours or by our client alone."""

import asyncio
import json
import math
import urllib.request
from collections.abc import Mapping
from typing import Any

from geval.llm.endpoints import Client
from geval.llm.replies import Reply
from geval.llm.requests import ChatRequest


def reply_at(base_url: str, request: ChatRequest, *, timeout: float = 10) -> Reply:
    """What our client reads of a server's answer."""

    async def ask() -> Reply:
        async with Client(base_url, "", timeout=timeout, allow_private=True) as client:
            return await client.chat(request)

    return asyncio.run(ask())


def post(base_url: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What the server answers; `path` begins at its root."""
    request = urllib.request.Request(
        base_url.removesuffix("/v1") + path,
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        read: dict[str, Any] = json.load(answer)
        return read


def weighted_rating(
    chat_answer: dict[str, Any], points: Mapping[str, float]
) -> tuple[float, float]:
    """The probability-weighted rating of a chat completion, and its coverage: by hand, from the
    first token that is a point of the scale, as it is written in small letters.

    The sum over all points of p * point, divided by the sum of p, which is the coverage.
    """
    tokens = chat_answer["choices"][0]["logprobs"]["content"]
    rating = next(token for token in tokens if _written(token) in points)
    shares = [
        (points[_written(other)], math.exp(other["logprob"]))
        for other in rating["top_logprobs"]
        if _written(other) in points
    ]
    coverage = math.fsum(p for _point, p in shares)
    return math.fsum(point * p for point, p in shares) / coverage, coverage


def _written(token: dict[str, Any]) -> str:
    return str(token["token"]).strip().lower()
