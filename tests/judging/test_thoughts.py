"""What a model thinks before its answer is no part of it: not for ratings, not for evaluation
steps, not where a reply is stored; log-probabilities are those of the answer's tokens."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.llm.parsing import Failure, Rating, Reason, parse_rating
from geval.llm.replies import ReplyChoice, Token
from geval.llm.reply_structure import choices_from_json, choices_to_json
from geval.llm.scoring import Scored, score_by_logprobs
from geval.llm.thoughts import without_thoughts
from geval.llm.wire import read_chat_answer
from geval.statistics.scales import Scale

SCALE = Scale(1, 5)
THOUGHT = "At first sight Coherence: 2. But the order is good."
INLINE = [
    f"<think>{THOUGHT}</think>Coherence: 4",
    f"<think>\n{THOUGHT}\n</think>\n\nCoherence: 4",
    f"<thinking>{THOUGHT}</thinking>\nCoherence: 4",
    f"<reasoning>{THOUGHT}</reasoning>Coherence: 4",
    f"<THINK>{THOUGHT}</THINK>Coherence: 4",
    f"[THINK]{THOUGHT}[/THINK]Coherence: 4",
    f"{THOUGHT}</think>Coherence: 4",  # the template opened it
    f"<think></think>{THOUGHT}</think>Coherence: 4",
    f"<think>{THOUGHT}</think>Coherence: 4<think>Or 3? Score: 3",
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>"
    "Coherence: 4<|return|>",
    f"analysis{THOUGHT}assistantfinalCoherence: 4",
    f"◁think▷{THOUGHT}◁/think▷Coherence: 4",
    f"<|channel>thought\n{THOUGHT}<channel|>Coherence: 4",
]


def body(message: dict[str, object], logprobs: object = None, ended: str = "stop") -> bytes:
    choice = {"message": message, "finish_reason": ended, "logprobs": logprobs}
    return json.dumps({"choices": [choice]}).encode()


def read(message: dict[str, object], logprobs: object = None, ended: str = "stop") -> ReplyChoice:
    return read_chat_answer(body(message, logprobs, ended)).choices[0]


def rated(choice: ReplyChoice) -> Rating | Failure:
    return parse_rating(choice, scale=SCALE, criterion="coherence")


@pytest.mark.parametrize("text", INLINE)
def test_a_thought_within_the_reply_is_taken_off(text: str) -> None:
    choice = read({"content": text})

    assert choice.text.strip() == "Coherence: 4"
    assert "the order is good" in choice.thought
    rating = rated(choice)
    assert isinstance(rating, Rating)
    assert rating.value == 4


@pytest.mark.parametrize(
    "message",
    [
        {"content": "Coherence: 4", "reasoning_content": THOUGHT},
        {"content": "Coherence: 4", "reasoning": THOUGHT},
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                {"type": "text", "text": "Coherence: 4"},
            ]
        },
        {
            "content": [
                {"type": "reasoning", "text": THOUGHT},
                {"type": "text", "text": "Coherence: 4"},
            ]
        },
    ],
)
def test_a_thought_that_comes_apart_is_kept_apart(message: dict[str, object]) -> None:
    choice = read(message)

    assert choice.text == "Coherence: 4"
    assert choice.thought == THOUGHT


@pytest.mark.parametrize("text", [f"<think>{THOUGHT}", f"[THINK]{THOUGHT}", f"analysis{THOUGHT}"])
def test_a_reply_that_was_cut_while_thinking_has_no_rating(text: str) -> None:
    failure = rated(read({"content": text}, ended="length"))

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.CUT
    assert "still thinking" in failure.detail


def tokens_of(*texts: str) -> list[Token]:
    """Tokens that a model was sure of, but for a 4, which might have been a 3."""
    sure = {"4": (("4", math.log(0.75)), ("3", math.log(0.25)))}
    return [Token(text, sure.get(text, ((text, 0.0),))[0][1], sure.get(text, ())) for text in texts]


def listed(tokens: list[Token]) -> dict[str, object]:
    return {
        "content": [
            {
                "token": token.text,
                "logprob": token.logprob,
                "top_logprobs": [
                    {"token": text, "logprob": logprob} for text, logprob in token.alternatives
                ],
            }
            for token in tokens
        ]
    }


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        ("<think>score: 2</think>4", ["<think>", "score", ": ", "2", "</think>", "4"]),
        ("<think>score: 2</think>\n4", ["<", "think", ">score: ", "2", "</think", ">\n", "4"]),
        ("score: 2</think>4", ["score", ": ", "2", "</think>", "4"]),
        ("4", ["<think>", "Score: ", "2", "</think>", "4"]),  # taken off the text alone
        ("4", ["Score: ", "2", " or ", "4", "?", "4"]),  # and its tags, too
        ("4", ["4"]),
    ],
)
def test_weights_are_those_of_the_answers_tokens(content: str, tokens: list[str]) -> None:
    message = {"content": content, "reasoning_content": "score: 2" if content == "4" else None}

    choice = read(message, listed(tokens_of(*tokens)))

    assert choice.tokens is not None
    assert "".join(token.text for token in choice.tokens).strip() == "4"
    scored = score_by_logprobs(choice, scale=SCALE, criterion="coherence")
    assert isinstance(scored, Scored)
    assert scored.value == pytest.approx(3.75)


def test_tokens_that_cannot_be_told_from_a_thoughts_are_none() -> None:
    message = {"content": "Coherence: 4", "reasoning_content": "Score: 2"}

    choice = read(message, listed(tokens_of("Score: ", "2")))

    failure = score_by_logprobs(choice, scale=SCALE, criterion="coherence")
    assert isinstance(failure, Failure)
    assert failure.reason == Reason.NO_LOGPROBS


def test_a_reply_is_stored_with_its_thought_apart() -> None:
    choice = read({"content": INLINE[0]})

    assert choices_from_json(choices_to_json([choice])) == (choice,)


def test_a_reply_that_was_stored_with_its_thought_is_read_without_it() -> None:
    stored = [{"text": INLINE[0], "finish_reason": "stop"}]

    (choice,) = choices_from_json(stored)

    assert (choice.text, choice.thought) == ("Coherence: 4", THOUGHT)


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(["<think>", "[THINK]", ""]))
def test_taking_off_thoughts_twice_changes_nothing(before: str, after: str, tag: str) -> None:
    once = without_thoughts(ReplyChoice(f"{tag}{before}</think>{after}"))

    assert without_thoughts(once) == once
