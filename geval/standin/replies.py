"""The bodies of the stand-in's responses, in the format of OpenAI's API."""

import json
import math
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from geval.llm.server_fit import MOST_ALTERNATIVES
from geval.standin.judging import (
    StandInReading,
    distribution,
    items_for,
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

ABOUT = f"This is the {HONEST_NAME}. It rates texts by lexical features and does nothing else."
# Other tokens that a model might have generated, so that every token has the requested number of
# alternatives.
_FILLERS = (
    "\n", " the", "The", " a", ".", ",", " is", " of", " and", " to", "I", " in", "It", " it",
    " this", "This", " rate", " text", "-", " as",
)  # fmt: skip
# From the reading of a prompt, and a random generator, to the probability of each point.
Rate = Callable[[StandInReading, random.Random], dict[int, float]]
_TOKEN = re.compile(r"\s?\w+|[^\w\s]|\s+")


def usual_rate(reading: StandInReading, _source: random.Random) -> dict[int, float]:
    return distribution(reading)


def count_tokens(text: str) -> int:
    """Estimate how many tokens a text has."""
    return max(1, len(text) // 4)


def chat_completion(
    body: dict[str, Any], *, call: int, rate: Rate = usual_rate, instead: str = ""
) -> dict[str, Any]:
    """Return the answer to a chat completion request.

    Args:
        call: how often the same request was made before, so that repeats at a temperature give
            different samples.
        rate: how texts are rated.
        instead: a text in place of the answer.
    """
    prompt = "\n".join(str(message.get("content", "")) for message in body["messages"])
    n = int(body.get("n") or 1)
    temperature = float(1 if body.get("temperature") is None else body["temperature"])
    wanted = int(body.get("top_logprobs") or 0) if body.get("logprobs") else None
    limit = int(body.get("max_completion_tokens") or body.get("max_tokens") or 4096)
    asked = body.get("response_format") or {}
    schema = (asked.get("json_schema") or {}).get("schema") or {}
    choices = []
    for index in range(n):
        text, alternatives = instead, list[dict[str, float]]()
        if not instead:
            text, alternatives = _answer(prompt, (index, call), temperature, rate)
            text = _by_schema(schema, text) if schema else text
        choices.append(_choice(index, text, alternatives, wanted, limit))
    written = sum(count_tokens(choice["message"]["content"]) for choice in choices)
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


def _answer(
    prompt: str, draw: tuple[int, int], temperature: float, rate: Rate
) -> tuple[str, list[dict[str, float]]]:
    """Return a text, and for each rating in it, in order, the probabilities of points."""
    if compared := read_comparison(prompt):
        points = preference(compared)
        source = seeded(compared.criterion, compared.source, compared.first, compared.second, *draw)
        return _drawn(points, temperature=temperature, source=source), [points]
    if items := items_for(prompt):
        return items, []
    if wants_steps(prompt):
        return steps_for(prompt), []
    if wants_reflection(prompt):
        return reflect(prompt), []
    if (reading := read_prompt(prompt)) is None:
        return ABOUT, []
    joint, lines, alternatives = read_joint_prompt(prompt), [], []
    for part in joint or [reading]:
        source = seeded(part.criterion, part.source, part.output, *draw)
        points = {str(point): share for point, share in rate(part, source).items()}
        point = _drawn(points, temperature=temperature, source=source)
        lines.append(f"- {part.name}: {point}" if joint else point)
        alternatives.append(points)
    return "\n".join(lines), alternatives


def _choice(
    index: int, text: str, alternatives: list[dict[str, float]], wanted: int | None, limit: int
) -> dict[str, Any]:
    tokens = _TOKEN.findall(text)
    cut, logprobs = tokens[:limit], None
    if wanted is not None:
        logprobs = {"content": list(_chat_tokens(cut, alternatives, wanted)), "refusal": None}
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
    if token.strip() in alternatives:
        probable = {other: share for other, share in alternatives.items() if share > 0}
        probable |= {" " + token.strip(): 0.01, "\n": 0.005, "The": 0.005}
    else:
        probable = {other: 0.01 / 2**place for place, other in enumerate(_FILLERS, start=1)}
        probable = {token: 0.99} | probable
    ranked = sorted(probable.items(), key=lambda pair: (-pair[1], pair[0]))
    top = [_logprob(*pair) for pair in ranked[: min(wanted, MOST_ALTERNATIVES)]]
    return _logprob(token, probable.get(token, 0.01)) | {"top_logprobs": top}


def _logprob(token: str, share: float) -> dict[str, Any]:
    return {"token": token, "logprob": math.log(share), "bytes": list(token.encode())}
