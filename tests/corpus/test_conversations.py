"""Conversations from chat logs: a reply, every turn of a role, or the session; loaded once, refused
with their line."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluations.corpus.store import LoadError, LoadResult
from evaluations.models import CandidateOutput, Conversation, Document, Project
from evaluations.turns import Turn

pytestmark = pytest.mark.django_db
AGENT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "When does the ferry leave?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "timetable", "arguments": '{"from": "Sandvik"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "08:10, 09:40"},
    {"role": "assistant", "content": "At 08:10 and 09:40."},
    {"role": "user", "content": "Thanks"},
    {"role": "assistant", "content": "You are welcome."},
]


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def session(**more: Any) -> dict[str, Any]:
    return {"session_id": "s1", "system_id": "bot", "messages": AGENT} | more


def test_every_turn_of_a_role_becomes_a_document_of_the_session(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    loaded = load(project, {"a.jsonl": lines(session(rate="assistant"))})

    assert loaded.outputs.created == 3
    assert Conversation.objects.count() == 1
    documents = list(project.documents.order_by("pk"))
    assert [one.doc_id for one in documents] == ["s1#3", "s1#4", "s1#6"]
    assert {one.unit for one in documents} == {"s1"}
    assert [len(one.history()) for one in documents] == [2, 3, 5]
    assert documents[2].source == "user: Thanks"
    called = CandidateOutput.objects.get(document=documents[0])
    assert called.text == '→ timetable({"from": "Sandvik"})\n= 08:10, 09:40'
    assert called.texts().turns[0].calls[0].result == "08:10, 09:40"


def test_a_session_as_a_whole_is_one_output_beside_another_systems(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    other = [{"from": "human", "value": "Ferry?"}, {"from": "gpt", "value": "At 08:10."}]
    load(
        project,
        {
            "a.jsonl": lines(
                session(rate="session", doc_id="task", source="Find the ferry."),
                {"doc_id": "task", "system_id": "b", "source": "Find the ferry.",
                 "conversations": other, "rate": "session"},
            )
        },
    )  # fmt: skip

    document = project.documents.get()
    assert document.source == "Find the ferry."
    texts = {o.system.name: o.text for o in document.outputs.select_related("system")}
    assert texts["b"] == "user: Ferry?\nassistant: At 08:10."
    assert texts["bot"].startswith("system: Be kind.\nuser: When does")


def test_by_default_the_last_thing_the_assistant_said_is_rated(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    load(project, {"a.jsonl": lines(session(doc_id="d"))})

    output = CandidateOutput.objects.select_related("document").get()
    assert output.text == "You are welcome."
    assert output.document.history()[-1] == Turn("user", "Thanks")


def test_what_is_rated_may_be_said_for_the_whole_load(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    assert load(project, {"a.jsonl": lines(session())}, rate="assistant").outputs.created == 3


def test_loading_again_changes_nothing_and_a_text_gets_its_turns(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    plain = {"doc_id": "d", "system_id": "bot", "source": "user: Hello", "output": "Hi."}
    load(project, {"plain.jsonl": lines(plain)})
    turns = [{"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Hi."}]
    chat = lines({"doc_id": "d", "system_id": "bot", "turns": turns})

    assert load(project, {"chat.jsonl": chat}).documents.changed == 1
    assert not load(project, {"chat.jsonl": chat}).changed
    assert not load(project, {"plain.jsonl": lines(plain)}).changed
    assert len(Document.objects.get().history()) == 1


BROKEN = {
    "no role": ([{"content": "x"}], "messages[1].role", "who speaks"),
    "not an object": ([{"role": "user", "content": "x"}, 7], "messages[2]", "found a number"),
    "a number for a text": ([{"role": "user", "content": 7}], "messages[1]", "expected a text"),
    "a call without a tool": (
        [{"role": "assistant", "tool_calls": [{"function": {}}]}],
        "messages[1].tool_calls",
        "which tool",
    ),
    "no assistant": ([{"role": "user", "content": "x"}], "rate", "no turn has the role assistant"),
}


@pytest.mark.parametrize(("messages", "column", "said"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_refused_with_its_line(
    project: Project,
    load: Callable[..., LoadResult],
    messages: list[Any],
    column: str,
    said: str,
) -> None:
    whole = lines(session(doc_id="fine"), session(doc_id="d", messages=messages))

    with pytest.raises(LoadError) as error:
        load(project, {"a.jsonl": whole})

    found = error.value.errors[0]
    assert (found.line, found.column) == (2, column)
    assert said in found.message


def test_a_role_that_nobody_has_is_refused_with_the_roles_there_are(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    with pytest.raises(LoadError) as error:
        load(project, {"a.jsonl": lines(session(rate="clerk"))})

    assert "no turn has the role clerk; the roles are assistant" in str(error.value.errors[0])


def test_one_turn_is_rated_by_its_number_and_later_ones_are_kept(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    load(project, {"a.jsonl": lines(session(doc_id="d", rate="#2"))})

    output = CandidateOutput.objects.select_related("document").get()
    assert output.said[0].role == "user"
    assert [turn.role for turn in output.document.history()] == ["system"]
    assert output.document.later()[-1].text == "You are welcome."
    assert output.document.unit == "s1"


@pytest.mark.parametrize("rate", ["#0", "#7", "#", "#x", "#99999999999"])
def test_a_turn_that_is_not_there_is_refused_with_those_that_are(
    project: Project, load: Callable[..., LoadResult], rate: str
) -> None:
    with pytest.raises(LoadError) as error:
        load(project, {"a.jsonl": lines(session(rate=rate))})

    assert f"there is no turn {rate}; turns are #1 to #6" in str(error.value.errors[0])
