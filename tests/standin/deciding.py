"""The stand-in's answers to typed questions: its ratings of texts as probabilities of levels, and
its preferences as those of choices."""

import re
from typing import Any

from geval.standin.judging import distribution, preference, read_comparison, read_prompt
from geval.standin.replies import count_tokens
from geval.texts.stand_in import MODEL

_CRITERION = re.compile(r"(?:Rate the|passes on) ([^\n]{1,200}?)(?: of the text|\.)")
# The subject of a choice, and its names in G-Eval's prompt.
_CHOICES = {"A": "A", "B": "B", "tie": "C"}


def decision(body: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer to a request of either protocol; None for other requests."""
    questions = body.get("questions")
    is_systemone = isinstance(questions, dict)
    text = _as_text(body.get("state", body.get("input")))
    named = questions.items() if isinstance(questions, dict) else enumerate(questions or ())
    if text is None:
        return None
    answers = {name: _answer(question, text, is_systemone) for name, question in named}
    if not answers or None in answers.values():
        return None
    tokens = count_tokens(text) + sum(count_tokens(str(each)) for each in named)
    usage = {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens}
    return {
        "model": body.get("model") or MODEL,
        "answers": answers if is_systemone else list(answers.values()),
        "usage": usage,
    }


def _as_text(value: Any) -> str | None:
    """Return the input for the stand-in: a text, or of messages the earlier ones and the last
    one."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else None
    texts = [_text_in(each) for each in value if isinstance(each, dict)]
    if not texts or len(texts) < len(value) or None in texts:
        return None
    before = "\n".join(map(str, texts[:-1]))
    return f"Conversation History:\n\n{before}\n\nResponse:\n\n{texts[-1]}"


def _text_in(message: dict[str, Any]) -> str | None:
    if message.get("type") == "function_call":
        return f"{message.get('name')}({message.get('arguments')})"
    text = message.get("output" if message.get("type") == "function_call_output" else "content")
    return text if isinstance(text, str) else None


def _answer(question: Any, text: str, is_systemone: bool) -> dict[str, Any] | None:
    if not isinstance(question, dict) or not isinstance(question.get("instructions"), str):
        return None
    if question.get("type") == "choice":
        return _choice(question, text, is_systemone)
    levels = question.get("criteria" if is_systemone else "levels") or ()
    most = max(1, len(levels) - 1)
    reading = read_prompt(_as_a_prompt(question["instructions"], text, most))
    if reading is None:
        return None
    weights = distribution(reading)
    mass = sum(weights.values())
    shares = [weight / mass for weight in weights.values()]
    if not levels:
        likely = {"noul": shares[1]} if is_systemone else {"probability": shares[1]}
        return {"type": question["type"], "name": question.get("name"), **likely}
    score = sum(level * share for level, share in enumerate(shares))
    common = {"type": "score", "score": score, "confidence": max(shares)}
    if is_systemone:
        by_level = {str(level): share for level, share in enumerate(shares)}
        return {**common, "probabilities": by_level, "label_mass": mass}
    return {
        **common,
        "name": question.get("name"),
        "probabilities": [
            {"value": level, "label": levels[level]["label"], "probability": share}
            for level, share in enumerate(shares)
        ],
    }


def _choice(question: dict[str, Any], text: str, is_systemone: bool) -> dict[str, Any] | None:
    """Choose which of two texts is better; the stand-in cannot make other choices."""
    if is_systemone:
        names = list(question.get("criteria") or ())
    else:
        names = [each.get("value") for each in question.get("choices") or ()]
    if not {"A", "B"} <= set(names) <= set(_CHOICES):
        return None
    form = "(A, B, or C if" if "tie" in names else "(A or B"
    compared = read_comparison(
        f"{question['instructions']}\n\n{text}\n\n\nEvaluation Form {form}):\n\n- Better:"
    )
    if compared is None:
        return None
    weights = preference(compared)
    mass = sum(weights.values())
    shares = {name: weights[_CHOICES[name]] / mass for name in names}
    likeliest = max(shares, key=lambda name: shares[name])
    common = {"type": "choice", "choice": likeliest, "confidence": shares[likeliest]}
    if is_systemone:
        return {**common, "probabilities": shares, "label_mass": mass}
    return {
        **common,
        "name": question.get("name"),
        "probabilities": [{"value": name, "probability": share} for name, share in shares.items()],
    }


def _as_a_prompt(instructions: str, text: str, most: int) -> str:
    """Return the question in the form of G-Eval's prompt, on a scale from 0."""
    criterion = _CRITERION.search(instructions)
    name = criterion[1] if criterion else "quality"
    return (
        f"{instructions}\n\nEvaluation Criteria:\n\n{name} (0-{most})\n\n{text}\n\n\n"
        f"Evaluation Form (scores ONLY):\n\n- {name}:"
    )
