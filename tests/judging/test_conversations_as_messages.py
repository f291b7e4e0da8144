"""Where a conversation is judged by a decision model, it is sent as messages and calls of tools, if
these show what the prompt shows; otherwise as a text."""

from typing import Any

import pytest

from geval.evaluators.base import Item
from geval.evaluators.decision import Decision
from geval.evaluators.perturbing import PROBES, perturbed
from geval.llm.decisions import DecisionRequest
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure
from geval.llm.prompts import PromptParts
from geval.llm.request_settings import RequestSettings
from geval.statistics.scales import Scale
from geval.texts.turns import ToolCall, Turn, transcript

SETTINGS = RequestSettings("m", "direct")
FIVE = Scale(1, 5)
INPUTS = "Conversation:\n\n{{Conversation}}\n\nRated turn:\n\n{{Turn}}"
SYSTEM = Turn("system", "Help travellers.")
QUESTION = Turn("user", "When does it sail?", name="Ann")
CALL = ToolCall("timetable", '{"day": "today"}', "10:00", id="x")
ANSWER = Turn("assistant", "At ten.", calls=(CALL,))


def turn_rated(*history: Turn, answer: Turn = ANSWER, **more: Any) -> Texts:
    return Texts(transcript(history), answer.body, history=history, turns=(answer,), **more)


def request_for(texts: Texts, inputs: str = INPUTS, **settings: Any) -> DecisionRequest:
    judge = Decision({"messages": True, "delimited": True} | settings)
    template = judge.template(PromptParts("clarity", FIVE, inputs=inputs))
    question = judge.question(Item(texts, "clarity", template), FIVE, SETTINGS)
    assert not isinstance(question, Failure)
    (request,) = judge.requests(question, SETTINGS)
    assert isinstance(request, DecisionRequest)
    return request


def test_turns_and_calls_of_tools_are_sent_as_such() -> None:
    body = request_for(turn_rated(SYSTEM, QUESTION)).body()

    assert body["input"] == [
        {"role": "system", "content": "Help travellers."},
        {"role": "user", "content": "Ann: When does it sail?"},
        {"role": "assistant", "content": "At ten."},
        {"type": "function_call", "call_id": "call_1", "name": "timetable",
         "arguments": '{"day": "today"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "10:00"},
    ]  # fmt: skip
    (question,) = body["questions"]
    assert (
        "What is judged is the last turn of the conversation, with the calls of tools in it."
        in question["instructions"]
    )


def test_turns_outside_of_the_window_are_left_out_with_a_note_and_long_texts_cut() -> None:
    long = Turn("user", "x" * 100)
    inputs = "{{Conversation last=1 longest=10}}\n\n{{Turn}}"
    body = request_for(turn_rated(SYSTEM, QUESTION, long), inputs).body()

    assert body["input"][:2] == [
        {"role": "developer", "content": "[Turns 1 to 2 of 3 are left out]"},
        {"role": "user", "content": "xxxxxxxxxx [90 more characters cut]"},
    ]


@pytest.mark.parametrize(
    ("texts", "inputs", "settings"),
    [
        (Texts("a source", "a text"), "", {}),
        (turn_rated(QUESTION), INPUTS, {"protocol": "systemone"}),
        (turn_rated(QUESTION), INPUTS, {"messages": False}),
        (turn_rated(QUESTION, context="a fact"), INPUTS + "\n\nFact:\n\n{{Context}}", {}),
        (turn_rated(QUESTION), "Ann is often angry.\n\n" + INPUTS, {}),
        (turn_rated(Turn("tool", "10:00")), INPUTS, {}),
        (turn_rated(Turn("user", "")), INPUTS, {}),
        (turn_rated(QUESTION, answer=Turn("assistant", calls=(ToolCall("a b"),))), INPUTS, {}),
        (turn_rated(QUESTION, as_read=ANSWER.body), INPUTS, {}),
    ],
)
def test_what_messages_cannot_show_is_sent_as_a_text(
    texts: Texts, inputs: str, settings: dict[str, Any]
) -> None:
    request = request_for(texts, inputs, **settings)

    body = request.body()
    assert (body["state"] if request.protocol == "systemone" else body["input"]) == request.text
    assert "What is judged is" not in request.questions[0].instructions


@pytest.mark.parametrize("name", ["unchanged", *(probe.name for probe in PROBES)])
def test_all_parts_of_a_study_ask_in_one_form(name: str) -> None:
    judge = Decision({"messages": True})
    template = judge.template(PromptParts("clarity", FIVE, inputs=INPUTS))
    item = Item(turn_rated(QUESTION), "clarity", template)

    question = judge.question(perturbed(name, item, model="m"), FIVE, SETTINGS)

    assert not isinstance(question, Failure)
    assert question.messages == ()
    if name == "unchanged":
        alone = judge.question(item, FIVE, SETTINGS)
        assert not isinstance(alone, Failure)
        assert question.text == alone.text
