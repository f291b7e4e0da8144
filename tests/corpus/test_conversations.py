"""Conversations from chat logs: a reply, every turn of a role, or the session; loaded once, refused
with their line."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from annotations.models import Rating
from evaluations.corpus.store import LoadError, LoadResult
from evaluations.models import CandidateOutput, Conversation, Document, Project
from evaluations.reports.ratings.exported import exported_outputs
from geval.texts.turns import Turn

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
    assert [one.doc_id for one in documents] == ["s1#3", "s1#5", "s1#7"]
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


def test_one_turn_is_rated_by_its_number_and_later_ones_are_kept(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    load(project, {"a.jsonl": lines(session(doc_id="d", rate="#2"))})

    output = CandidateOutput.objects.select_related("document").get()
    assert output.said[0].role == "user"
    assert [turn.role for turn in output.document.history()] == ["system"]
    assert output.document.later()[-1].text == "You are welcome."
    assert output.document.unit == "s1"


def numbers(turns: tuple[Turn, ...]) -> list[int]:
    return [turn.number for turn in turns]


def test_turns_are_numbered_as_in_the_file_though_results_stand_with_their_calls(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    load(project, {"a.jsonl": lines(session(doc_id="d", rate="#5"))})

    document = project.documents.get()
    assert CandidateOutput.objects.get().text == "At 08:10 and 09:40."
    assert numbers(document.history()) == [1, 2, 3]
    assert document.rated_number == 5
    assert numbers(document.later()) == [6, 7]


def test_a_rating_of_a_message_is_of_that_message_after_two_tools(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    def call(name: str) -> dict[str, Any]:
        return {"role": "assistant", "tool_calls": [{"id": name, "name": "look"}]}

    messages = [
        {"role": "user", "content": "First?"},
        call("c1"),
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "Second?"},
        call("c2"),
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
        {"role": "assistant", "content": "Two."},
    ]
    ratings = "doc_id,system_id,criterion,annotator,score\ns1#4,bot,good,ann,1\ns1#8,bot,good,ann,5"

    load(
        project,
        {
            "a.jsonl": lines(session(messages=messages, rate="assistant")),
            "ratings.csv": ratings,
        },
    )

    assert dict(Rating.objects.values_list("output__text", "score")) == {"One.": 1, "Two.": 5}


def test_the_result_of_a_tool_is_rated_with_its_call(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    with pytest.raises(LoadError) as error:
        load(project, {"a.jsonl": lines(session(doc_id="d", rate="#4"))})

    message = str(error.value.errors[0])
    assert "message #4 is the result of" in message
    assert "in turn #3" in message


@pytest.mark.parametrize("rate", ["assistant", "#5", "session", "reply"])
def test_an_export_comes_back_with_the_same_numbers(
    project: Project, load: Callable[..., LoadResult], rate: str
) -> None:
    load(
        project, {"a.jsonl": lines(session(doc_id=None if rate == "assistant" else "d", rate=rate))}
    )
    exported = [output.columns for output in exported_outputs(project)]
    copy = Project.objects.create(name="Copy", slug="copy")

    load(copy, {"exported.jsonl": lines(*exported)})

    def shown(of: Project) -> list[Any]:
        return [
            (one.doc_id, one.rated_number, numbers(one.history()), numbers(one.later()))
            for one in of.documents.order_by("doc_id")
        ]

    assert shown(copy) == shown(project)
    assert [numbers(o.said) for o in CandidateOutput.objects.of_project(copy)] == [
        numbers(o.said) for o in CandidateOutput.objects.of_project(project)
    ]


@pytest.mark.parametrize("number", [0, 2, "7", True, 1.5])
def test_numbers_of_turns_that_fall_or_are_none_are_refused(
    project: Project, load: Callable[..., LoadResult], number: Any
) -> None:
    messages = [
        {"role": "user", "text": "a", "number": 3},
        {"role": "assistant", "text": "b", "number": number},
    ]

    with pytest.raises(LoadError) as error:
        load(project, {"a.jsonl": lines(session(doc_id="d", messages=messages))})

    assert error.value.errors[0].column == "messages[2].number"


@pytest.fixture
def earlier(project: Project, load: Callable[..., LoadResult]) -> Project:
    """A project as earlier versions left it, which counted without the messages of tools."""
    load(project, {"a.jsonl": lines(session(rate="assistant"))})
    for document in project.documents.order_by("pk"):
        document.doc_id = f"s1#{document.turns_before + 1}"
        document.save()
    conversation = Conversation.objects.get()
    for turn in conversation.turns:
        turn.pop("number", None)
    conversation.save()
    return project


@pytest.mark.parametrize("replace", [False, True])
def test_a_session_that_has_the_earlier_numbers_is_not_loaded_again_by_new_ones(
    earlier: Project, load: Callable[..., LoadResult], replace: bool
) -> None:
    with pytest.raises(LoadError) as error:
        load(earlier, {"a.jsonl": lines(session(rate="assistant"))}, replace=replace)

    for message, new, old in zip(map(str, error.value.errors), (5, 7), (4, 6), strict=True):
        assert message.startswith(
            f"a.jsonl:1: session_id: document s1#{new} already exists as s1#{old}: session s1"
        )
        assert "load it under another session_id" in message
