"""The stand-in's answers to typed questions: its ratings of texts as probabilities of levels."""

import re
from typing import Any

from geval.standin import MODEL
from geval.standin.judging import distribution, read_prompt
from geval.standin.replies import count_tokens

_CRITERION = re.compile(r"(?:Rate the|passes on) ([^\n]{1,200}?)(?: of the text|\.)")


def decision(body: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to a request of either protocol; None where it is none."""
    questions = body.get("questions")
    is_systemone = isinstance(questions, dict)
    text = body.get("state" if is_systemone else "input")
    named = questions.items() if isinstance(questions, dict) else enumerate(questions or ())
    if not isinstance(text, str):
        return None
    answers = {name: _answer(question, text, is_systemone) for name, question in named}
    if not answers or None in answers.values():
        return None
    tokens = count_tokens(text) + sum(count_tokens(str(each)) for each in named)
    return {
        "model": body.get("model") or MODEL,
        "answers": answers if is_systemone else list(answers.values()),
        "usage": {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens},
    }


def _answer(question: Any, text: str, is_systemone: bool) -> dict[str, Any] | None:
    if not isinstance(question, dict) or not isinstance(question.get("instructions"), str):
        return None
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
        return {"type": question["type"], **likely}
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


def _as_a_prompt(instructions: str, text: str, most: int) -> str:
    """The question in the words in which the stand-in is asked by G-Eval: from 0 on."""
    criterion = _CRITERION.search(instructions)
    name = criterion[1] if criterion else "quality"
    return (
        f"{instructions}\n\nEvaluation Criteria:\n\n{name} (0-{most})\n\n{text}\n\n\n"
        f"Evaluation Form (scores ONLY):\n\n- {name}:"
    )
