"""What a reply says about cached tokens and thoughts, and prompts whose stable part comes first, so
that there is something to cache."""

import json
from typing import Any

import pytest

from geval.llm.decisions import TypedQuestion
from geval.llm.metering import CallUsage
from geval.llm.presets import Preset, presets
from geval.llm.prompts import PromptParts, compose_template
from geval.llm.replies import Reply
from geval.llm.wire import read_chat_answer, read_decision

STEPS = "1. Read the text.\n2. Assign a score."


def read(usage: Any) -> Reply:
    answer = {"choices": [{"message": {"content": "4"}}], "usage": usage}
    return read_chat_answer(json.dumps(answer).encode())


def usage(tokens_in: int = 100, tokens_out: int = 50, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out} | more


CACHED = {"prompt_tokens_details": {"cached_tokens": 80}}
THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 30}}


@pytest.mark.parametrize(
    ("said", "out", "cached", "thought"),
    [
        (usage(), 50, 0, 0),
        (usage(**CACHED, **THOUGHT, total_tokens=150), 50, 80, 30),
        # As Grok counts: the thought is beside the completion, and part of the total.
        (usage(**THOUGHT, total_tokens=180), 80, 0, 30),
        (usage(tokens_in=60, **CACHED), 50, 60, 0),
        (usage(tokens_out=20, **THOUGHT), 20, 0, 20),
        (usage(prompt_tokens_details=None, completion_tokens_details=[1]), 50, 0, 0),
        (usage(prompt_tokens_details={"cached_tokens": -1}), 50, 0, 0),
        (usage(completion_tokens_details={"reasoning_tokens": "30"}), 50, 0, 0),
        (usage(**THOUGHT, total_tokens="many"), 50, 0, 30),
    ],
)
def test_what_a_reply_says_is_counted_and_what_cannot_be_is_not(
    said: dict[str, Any], out: int, cached: int, thought: int
) -> None:
    reply = read(said)

    assert reply.completion_tokens == out
    assert (reply.cached_tokens, reply.reasoning_tokens) == (cached, thought)


def test_a_decision_says_what_was_cached() -> None:
    answer = {
        "answers": [{"type": "predicate", "probability": 0.5}],
        "usage": {"input_tokens": 90, "input_tokens_details": {"cached_tokens": 64}},
    }

    question = TypedQuestion("It passes.")
    reply = read_decision(json.dumps(answer).encode(), protocol="decisions", questions=[question])

    assert (reply.prompt_tokens, reply.cached_tokens) == (90, 64)


def test_what_was_spent_is_taken_with_its_details() -> None:
    spent = CallUsage(calls=1)
    spent.add_details(read(usage(**CACHED, **THOUGHT)))

    taken = spent.taken()

    assert (taken.cached_tokens, taken.reasoning_tokens) == (80, 30)
    assert (taken.any, spent.any) == (True, False)


def parts_of(preset: Preset) -> PromptParts:
    return PromptParts(
        criterion=preset.name,
        scale=preset.scale,
        definition=preset.definition,
        introduction=preset.introduction,
        inputs=preset.inputs,
    )


@pytest.mark.parametrize("is_delimited", [True, False])
@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.key)
def test_all_instructions_come_before_the_first_text(preset: Preset, is_delimited: bool) -> None:
    template = compose_template(parts_of(preset), steps=STEPS, is_delimited=is_delimited)

    stable, _texts, after = template.partition("{{")
    form = template.rpartition("}}")[2]

    for instruction in (preset.introduction, preset.definition, STEPS):
        assert instruction in stable
    assert after
    assert form.partition("\n\n\n")[2].split() == [
        "Evaluation", "Form", "(scores", "ONLY):", "-",
        *f"{preset.name[0].upper()}{preset.name[1:]}:".split(),
    ]  # fmt: skip
