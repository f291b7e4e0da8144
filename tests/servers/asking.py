"""Requests to the local model's server past everything of ours."""

import json
import math
import urllib.request
from typing import Any


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


def weighted_rating(chat_answer: dict[str, Any], points: range) -> tuple[float, float]:
    """The probability-weighted rating of a chat completion, and its coverage: by hand, from the
    first token that has a digit.

    The sum over all points of p * point, divided by the sum of p, which is the coverage.
    """
    tokens = chat_answer["choices"][0]["logprobs"]["content"]
    rating = next(token for token in tokens if any(map(str.isdigit, token["token"])))
    mass = dict.fromkeys(points, 0.0)
    for alternative in rating["top_logprobs"]:
        text = alternative["token"].strip()
        if text.isdigit() and int(text) in mass:
            mass[int(text)] += math.exp(alternative["logprob"])
    coverage = math.fsum(mass.values())
    return math.fsum(point * p for point, p in mass.items()) / coverage, coverage
