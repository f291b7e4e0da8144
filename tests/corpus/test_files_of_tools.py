"""Files of other tools are known by their shape and load as they are; broken ones are refused with
their line."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluations.corpus.store import LoadError, LoadResult
from evaluations.models import CandidateOutput, Project
from geval.files.mapping import structure_of

pytestmark = pytest.mark.django_db
SAMPLE = {
    "doc_id": 0,
    "doc": {"question": "What is 2+2?", "answer": "4"},
    "target": "4",
    "arguments": {"gen_args_0": {"arg_0": "Q: What is 2+2?\nA:", "arg_1": {"until": ["\n"]}}},
    "resps": [[" It is 4."]],
    "filtered_resps": ["It is 4."],
    "exact_match": 1.0,
}
OPENINFERENCE = {
    "name": "ChatCompletion",
    "context": {"trace_id": "t1", "span_id": "span-1"},
    "attributes": {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o",
        "session.id": "s9",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "When does the ferry leave?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "timetable",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}",
    },
}
GENAI = {
    "name": "chat gpt-4o",
    "span_id": "span-2",
    "attributes": {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.conversation.id": "s9",
        "gen_ai.input.messages": json.dumps(
            [
                {"role": "user", "parts": [{"type": "text", "content": "Ferry?"}]},
                {"role": "assistant", "parts": [
                    {"type": "tool_call", "id": "c1", "name": "timetable", "arguments": {"a": 1}}]},
                {"role": "tool", "parts": [
                    {"type": "tool_call_response", "id": "c1", "response": "08:10"}]},
            ]
        ),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "At 08:10."}],
              "finish_reason": "stop"}]
        ),
    },
}  # fmt: skip
RETRIEVER = {
    "name": "retrieve",
    "context": {"span_id": "span-3"},
    "attributes": {"openinference.span.kind": "RETRIEVER", "input.value": "ferry"},
}


def lines(*records: dict[str, Any]) -> dict[str, str | bytes]:
    return {"log.jsonl": "\n".join(map(json.dumps, records))}


def test_samples_of_the_harness(project: Project, load: Callable[..., LoadResult]) -> None:
    load(project, lines(SAMPLE, SAMPLE | {"doc_id": 1, "filtered_resps": [], "resps": [["5"]]}))

    first, second = CandidateOutput.objects.select_related("document").order_by("pk")
    assert (first.text, second.text) == (" It is 4.", "5")
    assert first.document.source == "Q: What is 2+2?\nA:"
    assert first.document.references == ["4"]


def test_spans_of_calls_to_models_are_conversations(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    result = load(project, lines(OPENINFERENCE, GENAI, RETRIEVER))

    called, told = CandidateOutput.objects.select_related("document", "system").order_by("pk")
    assert (called.text, told.text) == ("→ timetable({})", "At 08:10.")
    assert {called.system.name, told.system.name} == {"gpt-4o"}
    assert {called.document.session, told.document.session} == {"s9"}
    assert told.document.history()[1].calls[0].result == "08:10"
    assert [(one.column, one.rows) for one in result.unused] == [
        ("records without a text to rate", 1)
    ]


def test_each_shape_has_its_name() -> None:
    assert structure_of(SAMPLE) == "samples of lm-evaluation-harness"
    assert structure_of(GENAI) == "spans of OpenInference or OpenTelemetry GenAI"


BROKEN = {
    "no prompt": (SAMPLE | {"arguments": {}}, "source"),
    "a prompt that is a number": (
        SAMPLE | {"arguments": {"gen_args_0": {"arg_0": 7}}},
        "source",
    ),
    "a message without a role": (
        {"attributes": {"llm": {"output_messages": [{"message": {"content": "x"}}]}}},
        "messages[1].role",
    ),
    "only what the user said": (
        {"attributes": {"llm": {"output_messages": [{"message": {"role": "user"}}]}}},
        "rate",
    ),
}


@pytest.mark.parametrize(("record", "column"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    project: Project, load: Callable[..., LoadResult], record: dict[str, Any], column: str
) -> None:
    with pytest.raises(LoadError) as error:
        load(project, lines(SAMPLE, record))

    assert {one.line for one in error.value.errors} == {2}
    assert column in {one.column for one in error.value.errors}
