"""Legacy completions of the stand-in, with the log-probabilities of a prompt that it echoes."""

from typing import Any

from geval.standin.judging import seeded
from geval.standin.replies import _TOKEN, count_tokens
from geval.texts.stand_in import HONEST_NAME, MODEL


def text_completion(body: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a legacy completion; with `echo` it includes the prompt with its tokens'
    log-probabilities."""
    prompt = str(body.get("prompt", ""))
    limit = 16 if body.get("max_tokens") is None else int(body["max_tokens"])
    written = " " + " ".join(HONEST_NAME.split()[: max(0, limit)]) if limit else ""
    text = (prompt if body.get("echo") else "") + written
    choice: dict[str, Any] = {
        "index": 0,
        "text": text,
        "finish_reason": "length" if limit else "stop",
        "logprobs": None,
    }
    if body.get("logprobs") is not None:
        choice["logprobs"] = _completion_logprobs(
            text, int(body["logprobs"]), begins_cold=bool(body.get("echo"))
        )
    return {
        "id": f"standin-{seeded(prompt).getrandbits(48):012x}",
        "object": "text_completion",
        "created": 0,
        "model": str(body.get("model") or MODEL),
        "choices": [choice],
        "usage": {
            "prompt_tokens": count_tokens(prompt),
            "completion_tokens": count_tokens(written),
            "total_tokens": count_tokens(prompt) + count_tokens(written),
        },
    }


def _completion_logprobs(text: str, wanted: int, *, begins_cold: bool) -> dict[str, Any]:
    tokens = _TOKEN.findall(text)
    offsets, position, seen = [], 0, set()
    logprobs: list[float | None] = []
    for token in tokens:
        offsets.append(position)
        position += len(token)
        # A word is more likely if the text has used it before, so that log-probabilities depend on
        # the text.
        base = -1.0 if token.strip().lower() in seen else -3.0
        logprobs.append(base - 0.05 * len(token) - seeded(token).random())
        seen.add(token.strip().lower())
    if begins_cold and logprobs:
        logprobs[0] = None
    return {
        "tokens": tokens,
        "token_logprobs": logprobs,
        "top_logprobs": [
            None if value is None else {token: value} if wanted else {}
            for token, value in zip(tokens, logprobs, strict=True)
        ],
        "text_offset": offsets,
    }
