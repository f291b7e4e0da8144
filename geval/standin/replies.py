"""The bodies of the stand-in's responses, in the format of OpenAI's API."""

import json
import math
import random
import re
from collections.abc import Iterator
from typing import Any

from geval.llm.server_fit import MOST_ALTERNATIVES
from geval.standin.judging import (
    StandInReading,
    distribution,
    preference,
    read_comparison,
    read_joint_prompt,
    read_prompt,
    seeded,
    steps_for,
    wants_reflection,
    wants_steps,
)
from geval.standin.wording import reflect
from geval.texts.stand_in import HONEST_NAME, MODEL

REFUSAL = "I'm sorry, but I can't help with rating this."
UNREADABLE = "Thank you for sharing this text. It touches on several interesting matters."
# Other tokens that a model might have generated, so that every token has the requested number of
# alternatives.
_FILLERS = (
    "\n",
    " the",
    "The",
    " a",
    ".",
    ",",
    " is",
    " of",
    " and",
    " to",
    "I",
    " in",
    "It",
    " it",
    " this",
    "This",
    " rate",
    " text",
    "-",
    " as",
)
_TOKEN = re.compile(r"\s?\w+|[^\w\s]|\s+")


def count_tokens(text: str) -> int:
    """Estimate how many tokens a text has."""
    return max(1, len(text) // 4)


def chat_completion(
    body: dict[str, Any], *, call: int, defect: str = "", leaning: str = ""
) -> dict[str, Any]:
    """Return the answer to a chat completion request.

    Args:
        call: how often the same request was made before, so that repeats at a temperature give
            different samples.
        defect: "refuse" or "garble" for a reply that cannot be read.
        leaning: the planted defect of ratings (judging.py).
    """
    prompt = "\n".join(str(message.get("content", "")) for message in body["messages"])
    n = int(body.get("n") or 1)
    temperature = float(1 if body.get("temperature") is None else body["temperature"])
    wanted = int(body.get("top_logprobs") or 0) if body.get("logprobs") else None
    limit = int(body.get("max_completion_tokens") or body.get("max_tokens") or 4096)
    asked = body.get("response_format") or {}
    schema = (asked.get("json_schema") or {}).get("schema") or {}
    choices = [
        _choice(
            index,
            prompt,
            temperature=temperature,
            wanted=wanted,
            limit=limit,
            call=call,
            defect=defect,
            leaning=leaning,
            schema=schema,
        )
        for index in range(n)
    ]
    written = sum(count_tokens(choice["message"]["content"] or "") for choice in choices)
    return {
        "id": f"standin-{seeded(prompt, n, call).getrandbits(48):012x}",
        "object": "chat.completion",
        "created": 0,
        "model": str(body.get("model") or MODEL),
        "system_fingerprint": HONEST_NAME,
        "choices": choices,
        "usage": {
            "prompt_tokens": count_tokens(prompt),
            "completion_tokens": written,
            "total_tokens": count_tokens(prompt) + written,
        },
    }


def model_list() -> dict[str, Any]:
    """Return the only model, with its honest name as owner."""
    return {
        "object": "list",
        "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": HONEST_NAME}],
    }


def _choice(
    index: int,
    prompt: str,
    *,
    temperature: float,
    wanted: int | None,
    limit: int,
    call: int,
    defect: str,
    leaning: str,
    schema: dict[str, Any],
) -> dict[str, Any]:
    compared = read_comparison(prompt)
    other = wants_steps(prompt) or wants_reflection(prompt)
    reading = None if compared or other else read_prompt(prompt)
    joint = read_joint_prompt(prompt) if reading else []
    # For each rating in the text, in order.
    alternatives: list[dict[str, float]] = []
    if defect == "refuse":
        text = REFUSAL
    elif defect == "garble":
        text = UNREADABLE
    elif compared:
        points = preference(compared)
        source = seeded(
            compared.criterion, compared.source, compared.first, compared.second, index, call
        )
        text, alternatives = _drawn(points, temperature=temperature, source=source), [points]
    elif wants_steps(prompt):
        text = steps_for(prompt)
    elif wants_reflection(prompt):
        text = reflect(prompt)
    elif joint:
        rated = [
            _rate(part, temperature=temperature, index=index, call=call, leaning=leaning)
            for part in joint
        ]
        lines = zip(joint, rated, strict=True)
        text = "\n".join(f"- {part.name}: {point}" for part, (point, _) in lines)
        alternatives = [points for _, points in rated]
    elif reading:
        text, points = _rate(
            reading, temperature=temperature, index=index, call=call, leaning=leaning
        )
        alternatives = [points]
    else:
        text = (
            f"This is the {HONEST_NAME}. It rates texts by lexical features and does nothing else."
        )
    if schema and not defect:
        text = _by_schema(schema, text)
    tokens = _TOKEN.findall(text)
    cut = tokens[:limit]
    logprobs = None
    if wanted is not None:
        logprobs = {
            "content": list(_chat_tokens(cut, alternatives, wanted)),
            "refusal": None,
        }
    return {
        "index": index,
        "message": {"role": "assistant", "content": "".join(cut), "refusal": None},
        "logprobs": logprobs,
        "finish_reason": "stop" if len(cut) == len(tokens) else "length",
    }


def _by_schema(schema: dict[str, Any], rating: str) -> str:
    """Return a rating as JSON by a schema with an enum of ratings; the first of them if the text is
    not a rating."""
    properties = schema["properties"]
    points = properties["rating"]["enum"]
    answer: dict[str, Any] = dict.fromkeys(properties, f"The {HONEST_NAME} gives no reasons.")
    spelled = {str(point): point for point in points}
    return json.dumps(answer | {"rating": spelled.get(rating, points[0])})


def _rate(
    reading: StandInReading, *, temperature: float, index: int, call: int, leaning: str
) -> tuple[str, dict[str, float]]:
    source = seeded(reading.criterion, reading.source, reading.output, index, call)
    luck = source.uniform(-1, 1) if leaning else 0.0
    shares = distribution(reading, leaning=leaning, luck=luck)
    points = {str(point): probability for point, probability in shares.items()}
    return _drawn(points, temperature=temperature, source=source), points


def _drawn(points: dict[str, float], *, temperature: float, source: random.Random) -> str:
    """Return the most likely answer at temperature 0, otherwise a random one."""
    if temperature == 0:
        return max(points, key=lambda point: (points[point], point))
    weights = [probability ** (1 / temperature) for probability in points.values()]
    return source.choices(list(points), weights)[0]


def _chat_tokens(
    tokens: list[str], alternatives: list[dict[str, float]], wanted: int
) -> Iterator[dict[str, Any]]:
    """Return each token with alternatives; each rating with its scale points."""
    ratings = list(alternatives)
    for token in tokens:
        is_rating = bool(ratings) and token.strip() in ratings[0]
        yield _chat_token(token, ratings.pop(0) if is_rating else {}, wanted)


def _chat_token(token: str, alternatives: dict[str, float], wanted: int) -> dict[str, Any]:
    if token.strip() not in alternatives:
        probable = {token: 0.99} | {
            other: 0.01 / 2**place for place, other in enumerate(_FILLERS, start=1)
        }
    else:
        probable = {
            other: probability for other, probability in alternatives.items() if probability > 0
        }
        probable |= {" " + token.strip(): 0.01, "\n": 0.005, "The": 0.005}
    ranked = sorted(probable.items(), key=lambda pair: (-pair[1], pair[0]))[
        : min(wanted, MOST_ALTERNATIVES)
    ]
    return {
        "token": token,
        "logprob": math.log(probable.get(token, 0.01)),
        "bytes": list(token.encode()),
        "top_logprobs": [
            {"token": other, "logprob": math.log(probability), "bytes": list(other.encode())}
            for other, probability in ranked
        ],
    }
