"""Decision models: typed questions about an input, and the probability of each answer. Pure.

Two protocols do the same:

- OpenAI's Decisions API (`POST …/decisions`; the package's `client.decisions`): questions in a
  list, of type `score` with `levels`, `choice` with `choices`, or `predicate`; answers in their
  order, or `refusal`. The input is a text, or a list of messages and calls of tools.
- System One (`POST …/systemone`; TypeSafe, vLLM, Ollama, llama.cpp and others): questions by name,
  of type `score` with `criteria` from low to high, `choice` with `criteria` by name, or `noul`, the
  probability of yes; answers by name, without questions that the model could not answer. vLLM adds
  `label_mass`, the total probability of all labels before normalising: what G-Eval calls coverage.

Replies are stored as text in our own form (`reply_text`), from which they can be scored again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored, normalised
from geval.statistics.scales import NO_POINT, NOT_APPLICABLE, Scale, short

# Each is also the route, after the base URL.
Protocol = Literal["decisions", "systemone"]
# System One allows two to ten levels (TypeSafe, llama.cpp); OpenAI refuses more as well.
MOST_LEVELS = 10
# Servers round probabilities; with a larger deviation from 1 they do not belong to one question.
ROUNDING = 0.02
NAME = "rating"
_NO_CHOICE = ((NOT_APPLICABLE, "It does not apply, or cannot be assessed."),)
# OpenAI's limit, which we apply to every protocol.
MOST_QUESTIONS = 400


@dataclass(frozen=True)
class TypedQuestion:
    """A question and its answers as the model reads them.

    `levels` are the points of a scale from low to high, `choices` the meaning of each answer's
    name; a statement that is true or false has neither.
    """

    instructions: str
    levels: tuple[str, ...] = ()
    choices: tuple[tuple[str, str], ...] = ()

    def body(self, protocol: Protocol) -> dict[str, Any]:
        """Return the question in the form of a protocol, without a name."""
        asked: dict[str, Any] = {"instructions": self.instructions}
        if protocol == "decisions":
            if self.levels:
                return asked | {
                    "type": "score",
                    "levels": [{"label": level} for level in self.levels],
                }
            if self.choices:
                listed = [{"value": name, "description": words} for name, words in self.choices]
                return asked | {"type": "choice", "choices": listed}
            return asked | {"type": "predicate"}
        if self.levels:
            return asked | {"type": "score", "criteria": [*self.levels]}
        if self.choices:
            return asked | {"type": "choice", "criteria": dict(self.choices)}
        return asked | {"type": "noul"}


@dataclass(frozen=True)
class DecisionRequest:
    """Questions about one input: everything that changes their answers.

    Where the input is a conversation, `messages` holds it in the form of OpenAI's protocol, and
    `text` is how people read it.
    """

    model: str
    text: str
    questions: tuple[TypedQuestion, ...]
    protocol: Protocol
    messages: tuple[Mapping[str, Any], ...] = ()
    n: int = 1

    def body(self) -> dict[str, Any]:
        """Return the request in the form of its protocol."""
        named = zip(names_of(len(self.questions)), self.questions, strict=True)
        if self.protocol == "decisions":
            listed = [{"name": name, **each.body("decisions")} for name, each in named]
            return {
                "model": self.model,
                "input": [*self.messages] if self.messages else self.text,
                "questions": listed,
            }
        by_name = {name: each.body(self.protocol) for name, each in named}
        return {"model": self.model, "state": self.text, "questions": by_name}

    @property
    def shown(self) -> str:
        """Return what the model reads."""
        asked = "\n\n".join(each.instructions for each in self.questions)
        return f"{asked}\n\n{self.text}"

    @property
    def most_reply_tokens(self) -> int:
        """The most tokens of a reply, counted as 1: a decision model writes no text."""
        return 1


def names_of(count: int) -> tuple[str, ...]:
    """Return names for `count` questions. They are meaningless, as a model may read them."""
    return (NAME,) if count == 1 else tuple(f"{NAME}_{index}" for index in range(1, count + 1))


def typed_question(instructions: str, scale: Scale) -> TypedQuestion:
    """Return the question for a scale: a score with a level for each point and its label, from low
    to high, or a statement for 0 and 1. Labels without an order are a choice, and so is every scale
    that allows "n/a", as the other types have no further answer."""
    words = {point: word for word, point in scale.words.items()}
    levels = tuple(
        f"{short(point)}: {words[point]}" if point in words else short(point)
        for point in scale.points
    )
    if scale.is_ordered and not scale.allows_not_applicable:
        return TypedQuestion(instructions, () if scale.points == (0, 1) else levels)
    labels = [words.get(point, short(point)) for point in scale.points]
    names, meanings = ([*map(short, scale.points)], levels) if scale.is_ordered else (labels,) * 2
    choices = zip(names, meanings, strict=True)
    beside = _NO_CHOICE if scale.allows_not_applicable else ()
    return TypedQuestion(instructions, choices=(*choices, *beside))


def points_asked(scale: Scale) -> tuple[float, ...]:
    """Return the value of each answer to the question for a scale, in order; NO_POINT for "n/a"."""
    return (*scale.points, NO_POINT) if scale.allows_not_applicable else scale.points


def why_not_decided(scale: Scale) -> str:
    """Return why a decision model cannot rate on a scale; empty if it can."""
    if len(scale.points) <= MOST_LEVELS or not scale.is_ordered:
        return ""
    return (
        f"decision models have at most {MOST_LEVELS} levels, and the scale {scale} has"
        f" {len(scale.points)} points; use G-Eval, or a scale with fewer points."
    )


def reply_text(answers: Any, questions: Sequence[TypedQuestion], protocol: Protocol) -> str:
    """Return the answers to questions as JSON, the form in which they are stored. For one question
    that is the result of `_answer`; for several an object `answers` by the names of the questions,
    where an unreadable answer is replaced by its error as `odd`.

    Raises:
        ValueError: no answer can be read; the message says what is wrong.
    """
    names = names_of(len(questions))
    given = _by_name(answers, names, protocol)
    if len(questions) == 1:
        return json.dumps(_answer(given[NAME], questions[0], protocol))
    kept = {}
    for name, question in zip(names, questions, strict=True):
        try:
            kept[name] = _answer(given[name], question, protocol)
        except ValueError as error:
            kept[name] = {"odd": str(error)}
    if all("odd" in each for each in kept.values()):
        raise ValueError(str(kept[names[0]]["odd"]))
    return json.dumps({"answers": kept})


def _by_name(answers: Any, names: Sequence[str], protocol: Protocol) -> dict[str, Any]:
    """Return the answer to each question, or None. A list is read in order, unless every answer has
    a name; where only some have names, these must match the order.

    Raises:
        ValueError: answers cannot be matched with questions, or there are none.
    """
    if protocol != "decisions":
        if not isinstance(answers, Mapping) or not any(name in answers for name in names):
            raise ValueError("it has no answer to what was asked")
        return {name: answers.get(name) for name in names}
    if not isinstance(answers, list) or not answers or len(answers) > len(names):
        raise ValueError(f"it has not one answer to each of {len(names)} questions")
    labels = [each.get("name") if isinstance(each, Mapping) else None for each in answers]
    are_named = [isinstance(name, str) for name in labels]
    if len(names) > 1 and all(are_named):
        if len(set(labels)) < len(labels) or not set(labels) <= set(names):
            raise ValueError("its answers are not named as the questions are")
        by_name = dict(zip(labels, answers, strict=True))
        return {name: by_name.get(name) for name in names}
    if len(answers) != len(names):
        raise ValueError(f"it has {len(answers)} answers without names to {len(names)} questions")
    # A refusal may have no name; the other answers must then be in the right places.
    if len(names) > 1 and any(
        is_named and label != name
        for is_named, label, name in zip(are_named, labels, names, strict=True)
    ):
        raise ValueError("some of its answers have names, and not in the order of the questions")
    return dict(zip(names, answers, strict=True))


def _answer(answer: Any, question: TypedQuestion, protocol: Protocol) -> dict[str, Any]:
    """Return an answer as it is stored: `probabilities` from low to high or in the order of the
    choices, and `mass` where the server states it; or `refused`.

    Raises:
        ValueError: it is not an answer; the message says what is wrong.
    """
    if not isinstance(answer, Mapping):
        raise ValueError("it has no answer to this question")
    if answer.get("type") == "refusal":
        return {"refused": True}
    if question.levels:
        shares = _shares(answer.get("probabilities"), len(question.levels))
    elif question.choices:
        shares = _shares_of_choices(
            answer.get("probabilities"), [name for name, _words in question.choices]
        )
    else:
        likely = _share(answer.get("probability" if protocol == "decisions" else "noul"))
        shares = [1 - likely, likely]
    mass = answer.get("label_mass")
    return {"probabilities": shares} | ({} if mass is None else {"mass": _share(mass)})


def _shares(shares: Any, levels: int) -> list[float]:
    """Read probabilities from low to high: a list of objects with `value` or in order, or an object
    by index."""
    if isinstance(shares, Mapping):
        entries = [(_index(key), value) for key, value in shares.items()]
    elif isinstance(shares, Sequence) and not isinstance(shares, str):
        entries = [
            (_index(each.get("value", index)), each.get("probability"))
            if isinstance(each, Mapping)
            else (index, each)
            for index, each in enumerate(shares)
        ]
    else:
        raise ValueError("it has no probabilities of levels")
    if sorted(index for index, _value in entries) != list(range(levels)):
        raise ValueError(f"it has not one probability for each of the {levels} levels")
    return _summed([_share(value) for _at, value in sorted(entries, key=lambda entry: entry[0])])


def _shares_of_choices(shares: Any, names: Sequence[str]) -> list[float]:
    """Read probabilities in the order of names: a list of objects with `value`, or an object by
    name."""
    if isinstance(shares, Mapping):
        entries = list(shares.items())
    elif isinstance(shares, list) and all(isinstance(each, Mapping) for each in shares):
        entries = [(each.get("value"), each.get("probability")) for each in shares]
    else:
        raise ValueError("it has no probabilities of choices")
    by_name = {name: value for name, value in entries if isinstance(name, str)}
    if len(entries) != len(names) or set(by_name) != set(names):
        raise ValueError(f"it has not one probability for each of {', '.join(names)}")
    return _summed([_share(by_name[name]) for name in names])


def _summed(shares: list[float]) -> list[float]:
    """Return shares unchanged if they add up to 1, apart from rounding.

    Raises:
        ValueError: they do not; the message has their sum.
    """
    if abs(sum(shares) - 1) > ROUNDING:
        raise ValueError(f"its probabilities add up to {sum(shares):.3f}")
    return shares


def _index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).isdecimal():
        raise ValueError("its levels are not numbered")
    return int(value)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ValueError("a probability is not a number")
    if not -ROUNDING <= value <= 1 + ROUNDING:
        raise ValueError("a probability is not between 0 and 1")
    return min(1.0, max(0.0, float(value)))


def is_any_answered(text: str) -> bool:
    """Return whether a stored reply has a distribution for at least one question."""
    reply = json.loads(text)
    return any("probabilities" in each for each in reply.get("answers", {NAME: reply}).values())


def score_decision(
    text: str, points: Sequence[float], *, min_coverage: float, name: str = NAME
) -> Scored | Failure:
    """Score a stored answer: the mean of the points, weighted by their probabilities, or "n/a".

    Args:
        points: the points of the scale from low to high, or the value of each choice; a last
            NO_POINT counts only if the stored answer was to a question that offered it.
        min_coverage: the least total probability of all labels, where the server states it.
        name: the question's name, in a reply to several questions.
    """
    reply = json.loads(text)
    answer = reply.get("answers", {name: reply})[name]
    if answer.get("refused"):
        return Failure(Reason.REFUSAL, "The model declined to answer this question.")
    if "odd" in answer:
        return Failure(
            Reason.NO_RATING,
            f"The reply answers other questions, but not this one: {answer['odd']}.",
        )
    shares, mass = answer["probabilities"], answer.get("mass")
    if mass is not None and mass < min_coverage:
        return Failure(
            Reason.LOW_COVERAGE,
            f"All labels together had a probability of {mass:.2f}, and at least {min_coverage:.2f}"
            " is required.",
        )
    asked = [point for point in points if point != NO_POINT]
    asked = asked if len(shares) == len(asked) else [*points]
    scored = normalised(dict(zip(asked, shares, strict=True)))
    return replace(scored, coverage=mass) if isinstance(scored, Scored) else scored
