"""Pictures and sound in records become attachments or marks: no empty text is judged unseen."""

import json
from pathlib import Path
from typing import Any

import pytest

from geval.files.rows import ConversationRow
from tests.corpus.tools.reading import ASKED, outputs, read, read_records

DATA = "data:image/png;base64,iVBORw0KGgo="
STORED = "@@@langfuseMedia:type=image/png|id=m1|source=base64_data_uri@@@"
PICTURE = {"type": "image_url", "image_url": {"url": DATA}}
SOUND = {"role": "assistant", "content": None, "audio": {"id": "a1", "transcript": "At 8."}}
NO_PICTURE, NO_MEDIA = "[image_url that is not a text]", "[media that is not a text]"


def chat(question: Any, reply: Any) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": question}, {"role": "assistant", "content": reply}]
    }


def battle(question: Any, reply: Any) -> dict[str, Any]:
    messages = chat(question, reply)["messages"]
    names = {"question_id": "q1", "model_a": "m1", "model_b": "m2", "winner": "tie"}
    return {**names, "conversation_a": messages, "conversation_b": messages}


def trace(asked: Any, answered: Any) -> dict[str, Any]:
    return {"id": "t1", "traceId": "t1", "name": "bot", "input": asked, "output": answered}


# A record, and its source and output.
SHOWN: dict[str, tuple[dict[str, Any], str, str]] = {
    "messages, a question": (chat([PICTURE], "A ferry."), f"user: {NO_PICTURE}", "A ferry."),
    "messages, a reply": (chat("Draw it.", [PICTURE]), "user: Draw it.", NO_PICTURE),
    "messages, data in a text": (chat("Draw it.", DATA), "user: Draw it.", NO_MEDIA),
    "messages, spoken": (
        {"messages": [{"role": "user", "content": ASKED}, SOUND]}, f"user: {ASKED}", "At 8.",
    ),
    "Arena": (
        battle(["What is this?", PICTURE], "A ferry."),
        f"What is this?\n{NO_PICTURE}",
        "A ferry.",
    ),
    "Arena, a picture alone": (battle([PICTURE], [PICTURE]), NO_PICTURE, NO_PICTURE),
    "Langfuse": (trace({"question": STORED}, {"answer": STORED}), NO_MEDIA, NO_MEDIA),
    "Langfuse, messages": (
        trace(chat([PICTURE], "")["messages"][:1], "A ferry."), f"user: {NO_PICTURE}", "A ferry.",
    ),
    "OpenInference": (
        {
            "attributes": {
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.contents.0.message_content.type": "image",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": "A ferry.",
            }
        },
        "user: [image that is not a text]",
        "A ferry.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("record", "source", "output"), SHOWN.values(), ids=SHOWN)
def test_picture_or_sound_is_marked(
    tmp_path: Path, record: dict[str, Any], source: str, output: str
) -> None:
    rows, errors = read_records(tmp_path, [record])

    assert not errors.listed
    assert outputs(rows)[0][2:] == (source, output)


def test_pictures_of_an_openai_batch_are_marked(tmp_path: Path) -> None:
    body = {"model": "m", "messages": chat([PICTURE], "")["messages"][:1]}
    request = {"custom_id": "q1", "method": "POST", "url": "/v1/chat/completions", "body": body}
    message = {"role": "assistant", "content": [PICTURE]}
    answered = {"status_code": 200, "body": {"model": "m", "choices": [{"message": message}]}}
    requests, results = tmp_path / "requests.jsonl", tmp_path / "results.jsonl"
    requests.write_text(json.dumps(request))
    results.write_text(json.dumps({"custom_id": "q1", "response": answered, "error": None}))

    rows, errors = read(results, requests)

    assert not errors.listed
    assert outputs(rows) == [("q1", "m", f"user: {NO_PICTURE}", NO_PICTURE)]


def test_picture_from_a_tool_stays_with_its_call(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "draw", "arguments": "{}"}}
    record = chat("Draw it.", "Done.")
    record["messages"][1:1] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": [PICTURE]},
    ]

    rows, _ = read_records(tmp_path, [record])

    [conversation] = [row for row in rows if isinstance(row, ConversationRow)]
    assert json.loads(conversation.turns)[1]["tool_calls"][0]["result"] == NO_PICTURE
