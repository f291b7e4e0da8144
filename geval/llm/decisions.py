"""Decision models: a typed question about an input, and the probability of each answer. Pure.

Two protocols speak of the same:

- OpenAI's Decisions API (`POST …/decisions`; the package's `client.decisions`): questions in a
  list, of type `score` with `levels`, or `predicate`; answers in their order, or `refusal`.
- System One (`POST …/systemone`; TypeSafe, vLLM, llama.cpp and others): questions by name, of type
  `score` with `criteria` from low to high, or `noul`, the probability of yes; answers by name.
  vLLM adds `label_mass`, the probability of all labels together before they were made to add up
  to 1: what G-Eval calls coverage.

A reply is kept as a text of our own (`answer_text`), so that stored replies are read again.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored
from geval.scales import Scale, short

Protocol = Literal["decisions", "systemone"]
# The route of each, behind the base URL.
ROUTES: Mapping[Protocol, str] = {"decisions": "/decisions", "systemone": "/systemone"}
# System One has two to ten levels (TypeSafe, llama.cpp); more are refused by OpenAI's too.
MOST_LEVELS = 10
# Probabilities are rounded by servers; beyond this they are not those of one question.
ROUNDING = 0.02
NAME = "rating"


@dataclass(frozen=True)
class DecisionRequest:
    """One question about one input: everything that changes its answer.

    `levels` are the points of the scale from low to high, as the model reads them; empty for a
    statement that is true or not.
    """

    model: str
    text: str
    instructions: str
    levels: tuple[str, ...]
    protocol: Protocol
    n: int = 1

    def body(self) -> dict[str, Any]:
        """The request as its protocol has it."""
        if self.protocol == "decisions":
            question: dict[str, Any] = {"name": NAME, "instructions": self.instructions}
            question |= (
                {"type": "score", "levels": [{"label": level} for level in self.levels]}
                if self.levels
                else {"type": "predicate"}
            )
            return {"model": self.model, "input": self.text, "questions": [question]}
        asked: dict[str, Any] = {"instructions": self.instructions}
        asked |= {"type": "score", "criteria": [*self.levels]} if self.levels else {"type": "noul"}
        return {"model": self.model, "state": self.text, "questions": {NAME: asked}}

    @property
    def shown(self) -> str:
        """What the model reads."""
        return f"{self.instructions}\n\n{self.text}"

    @property
    def most_reply_tokens(self) -> int:
        """No text is written."""
        return 1


def levels_of(scale: Scale) -> tuple[str, ...]:
    """The points of a scale as levels, from low to high: with their words, where they have some;
    none for a scale of 0 and 1, which is asked as a statement."""
    if scale.points == (0, 1):
        return ()
    words = {point: word for word, point in scale.words.items()}
    return tuple(
        f"{short(point)}: {words[point]}" if point in words else short(point)
        for point in scale.points
    )


def why_not_decided(scale: Scale) -> str:
    """Why no decision model can rate on a scale; empty if one can."""
    if len(scale.points) <= MOST_LEVELS:
        return ""
    return (
        f"decision models have at most {MOST_LEVELS} levels, and the scale {scale} has"
        f" {len(scale.points)} points; use G-Eval, or a scale with fewer points."
    )


def answer_text(answer: Mapping[str, Any], protocol: Protocol, *, levels: int) -> str:
    """An answer in the form in which it is kept: JSON with `probabilities` from low to high and
    `mass` where the server says it, or with `refused`.

    Raises:
        ValueError: it is none; the message says what is wrong.
    """
    kind = answer.get("type")
    if kind == "refusal":
        return json.dumps({"refused": True})
    if levels == 0:
        shares = [_share(answer.get("probability" if protocol == "decisions" else "noul"))]
        shares = [1 - shares[0], shares[0]]
    else:
        shares = _shares(answer.get("probabilities"), levels)
    mass = answer.get("label_mass")
    return json.dumps({"probabilities": shares} | ({} if mass is None else {"mass": _share(mass)}))


def _shares(given: Any, levels: int) -> list[float]:
    """Probabilities from low to high: a list of objects with `value` or in order, or by index."""
    if isinstance(given, Mapping):
        entries = [(_index(key), value) for key, value in given.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        entries = [
            (_index(each.get("value", at)), each.get("probability"))
            if isinstance(each, Mapping)
            else (at, each)
            for at, each in enumerate(given)
        ]
    else:
        raise ValueError("it has no probabilities of levels")
    if sorted(at for at, _value in entries) != list(range(levels)):
        raise ValueError(f"it has not one probability for each of the {levels} levels")
    shares = [_share(value) for _at, value in sorted(entries, key=lambda entry: entry[0])]
    if abs(sum(shares) - 1) > ROUNDING:
        raise ValueError(f"its probabilities add up to {sum(shares):.3f}")
    return shares


def _index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).isdecimal():
        raise ValueError("its levels are not numbered")
    return int(value)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("a probability is not a number")
    if not -ROUNDING <= value <= 1 + ROUNDING:
        raise ValueError(f"a probability is {value:g}")
    return min(1.0, max(0.0, float(value)))


def score_decision(text: str, scale: Scale, *, min_coverage: float) -> Scored | Failure:
    """The score of a kept answer: the mean of the scale's points, weighted by their probabilities.

    Args:
        min_coverage: the least mass of all labels together, where the server states it.
    """
    answer = json.loads(text)
    if answer.get("refused"):
        return Failure(Reason.REFUSAL, "The model declined to answer this question.")
    shares, mass = answer["probabilities"], answer.get("mass")
    total = sum(shares)
    distribution = {point: share / total for point, share in zip(scale.points, shares, strict=True)}
    if mass is not None and mass < min_coverage:
        return Failure(
            Reason.LOW_COVERAGE,
            f"All labels together had a probability of {mass:.2f}, and at least {min_coverage:.2f}"
            " is required.",
        )
    value = math.fsum(point * share for point, share in distribution.items())
    return Scored(value, distribution, mass)
