"""Battles of Chatbot Arena: two conversations on one question, and which a person prefers."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.messages import read_turns
from geval.files.rows import name_of_source
from geval.files.tools.parts import Part
from geval.texts.turns import ASSISTANT

TITLE = "battles of Chatbot Arena"
MARKS = ("conversation_a",)
PERSON = "Arena user"
_KNOWN = ("turn", "language", "tstamp", "anony", "is_code", "is_refusal", "toxic_chat_tag",
          "openai_moderation", "dedup_tag", "conv_metadata", "category_tag")  # fmt: skip
TIES = ("tie", "tie (bothbad)", "both_bad", "bothbad")


def knows(record: Mapping[str, Any]) -> bool:
    return {"conversation_a", "conversation_b", "winner"} <= record.keys()


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield each model's answer to the first question, with what followed in its conversation, and
    the person's choice."""
    for name in _KNOWN:
        record[name].skip()
    answers = {}
    for side in ("a", "b"):
        model = record[f"model_{side}"].name() or f"model {side}"
        answers[side] = (model, *_exchange(record[f"conversation_{side}"]))
    name = record.first("question_id", "id", "evaluation_session_id").name()
    document = name or name_of_source(answers["a"][1])
    for model, source, output in answers.values():
        yield {"doc_id": document, "system_id": model, "source": source, "output": output}
    winner = record["winner"].name().lower()
    if answers["a"][0] == answers["b"][0]:
        record["winner"].note_unused("preferences between two outputs of one system")
        return
    yield {
        "doc_id": document,
        "system_a": answers["a"][0],
        "system_b": answers["b"][0],
        "annotator": record.first("judge", "user_id").name() or PERSON,
        "winner": "tie" if winner in TIES else winner,
        "shown_first": "a",
    }


def _exchange(conversation: Part) -> tuple[str, str]:
    """Return the first question, and the answer; of a longer conversation with all that follows."""
    turns = read_turns(conversation.value, str(conversation.path[-1]), conversation.reading.place)
    texts = ["\n".join(dict.fromkeys((turn.body, *turn.attachments))) for turn in turns]
    roles = [turn.role for turn in turns]
    first = roles.index(ASSISTANT) if ASSISTANT in roles else len(roles)
    question, answers = "\n\n".join(texts[:first]), texts[first:]
    if len(answers) == 1:
        return question, answers[0]
    named = zip(roles[first:], answers, strict=True)
    return question, "\n\n".join(f"{role.capitalize()}: {text}" for role, text in named)
