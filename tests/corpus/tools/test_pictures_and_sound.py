"""Pictures and sound in records become attachments or marks: no empty text is judged unseen.

Other records are in `tests/data/tools/importers.json`.
"""

import json
from pathlib import Path
from typing import Any

from geval.files.rows import ConversationRow
from tests.corpus.tools.reading import outputs, read, read_records

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
NO_PICTURE = "[image_url that is not a text]"


def chat(question: Any, reply: Any) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": question}, {"role": "assistant", "content": reply}]
    }


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
