"""From the lock to the last look, no tool tells an agent what people gave to locked documents,
and none changes it, whatever is tried."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotations.models import Rating
from assurance.improving.work import work_on_search
from evaluations.corpus.locks.locking import lock_documents, unlock_documents
from evaluations.models import Criterion, Judge, LockedDocuments, Project
from evaluations.models.improving import withheld_documents
from tests.agents.conftest import Agent, address, make_token, over_http

__all__ = ["address", "make_token", "over_http"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
# Nobody else gave it, so that it is known wherever it is seen.
SECRET = 4.4375
CRITERION = {"criterion": "quality"}


@pytest.fixture
def hidden(rated_project: Project) -> str:
    """The name of a document that is locked; what ann gave to its outputs is the secret."""
    locked = lock_documents(rated_project, seed="fixed", looks=2)
    withheld = withheld_documents(rated_project.pk)
    Rating.objects.filter(output__document__in=withheld, annotator__name="ann").update(score=SECRET)
    assert len(withheld) == len(locked.document_ids()) > 10
    return rated_project.documents.get(pk=withheld[0]).doc_id


def ways(hidden: str) -> list[tuple[str, str, dict[str, Any], str]]:
    """What is tried, the tool, its arguments, and words of the answer ("" for one without the
    document)."""
    rating = {"doc_id": hidden, "system_id": "s0", "criterion": "quality", "annotator": "ann"}
    pair = {"doc_id": hidden, "system_a": "s0", "system_b": "s1", "annotator": "ann"}
    text = {"doc_id": hidden, "system_id": "s0", "source": "x", "output": "y"}
    locked = f"document {hidden} is locked until the last look"
    load = "load_rows"
    return [
        ("read the whole report", "report", {}, "withheld_documents"),
        ("filter the report to the document", "report", {"documents": hidden}, "withheld"),
        ("list the largest gaps", "list_disagreements", {"most": 20}, ""),
        ("list what is shifted", "list_disagreements", {"by": "shifted", "most": 20}, ""),
        ("list where people differ", "list_disagreements", {"by": "apart", "most": 20}, ""),
        ("list gaps of another judge", "list_disagreements", {"judge": "noise", "most": 20}, ""),
        ("plan from its ratings", "plan", {**CRITERION, "judge": "today"}, "by_raters"),
        ("certify by it", "certify",
         {**CRITERION, "judge": "today", "require": ["documents>=50"]}, "not met"),
        ("rate it again", load, {"kind": "ratings", "rows": [rating | {"score": 1}]}, locked),
        ("guess its rating", load,
         {"kind": "ratings", "rows": [rating | {"score": SECRET}], "check": True}, locked),
        ("guess wrongly", load,
         {"kind": "ratings", "rows": [rating | {"score": 3}], "check": True}, locked),
        ("rate it as somebody new", load,
         {"kind": "ratings", "rows": [rating | {"annotator": "me", "score": 5}]}, locked),
        ("rate it on a new criterion", load,
         {"kind": "ratings", "rows": [rating | {"criterion": "new", "score": 5}]}, locked),
        ("rate it in a table of outputs", load,
         {"rows": [text | {"source": f"Text {hidden[1:]}.", "output": f"Output {hidden[1:]} of 0.",
                           "Ann": 5}], "columns": {"Ann": 'ratings["quality","ann"]'}}, locked),
        ("compare its outputs", load,
         {"kind": "preferences", "rows": [pair | {"winner": "s0"}]}, locked),
        ("replace its text", load, {"rows": [text]}, "already exists with a different"),
        ("draw again", "lock_documents", {"share": 0.1}, "Error"),
        ("unlock", "unlock_documents", {}, "Unknown tool"),
        ("read ratings", "get_ratings", {}, "Unknown tool"),
        ("read a file of the server", "load_file", {"path": "/etc/passwd"}, "Unknown tool"),
        ("tune on it", "improve", {**CRITERION, "judge": "today", "changes": ["locked"]}, "Error"),
        ("look at what no search has found", "look", {"search": 10**9, "candidate": 1}, "404"),
        ("address ratings as a project", "show_project", {"project": "small/ratings"}, "no proj"),
        ("the same in other letters", "show_project", {"project": "small%2Fratings"}, "no proj"),
        ("the same from above", "report", {"project": "../projects/small/archive"}, "no project"),
    ]  # fmt: skip


def test_twenty_ways_and_more_find_and_change_nothing(
    over_http: Callable[..., Any], judge: Judge, hidden: str
) -> None:
    tried = ways(hidden)
    before = _ratings()

    async def attack(agent: Agent) -> list[str]:
        return [
            str(await agent.call(tool, **{"project": "small", **arguments}))
            for _way, tool, arguments, _words in tried
        ]

    answers = over_http(attack)
    told = {
        way: answer
        for (way, _tool, arguments, words), answer in zip(tried, answers, strict=True)
        if words not in answer
        or str(SECRET) in answer.replace(str(arguments), "")
        or (not words and (f"'{hidden}'" in answer or "'disagreements': [{" not in answer))
    }
    assert told == {}
    assert len(tried) >= 20
    assert _ratings() == before
    right, wrong = (answers[[row[0] for row in tried].index(way)] for way in
                    ("guess its rating", "guess wrongly"))  # fmt: skip
    assert right == wrong


def test_looks_are_counted_and_end(
    over_http: Callable[..., Any],
    judge: Judge,
    criterion: Criterion,
    locked: LockedDocuments,
) -> None:
    searches = []
    for change in ("panel", "calibration", "panel"):

        async def search(agent: Agent, change: str = change) -> Any:
            asked = {"project": "small", "judge": "today", "criterion": "quality"}
            return await agent.call("improve", **asked, changes=[change])

        searches.append(over_http(search))
        work_on_search(searches[-1]["search"])

    async def look(agent: Agent) -> Any:
        said = []
        for one in searches:
            about = {"project": "small", "search": one["search"]}
            for change in (await agent.call("follow_search", **about))["found"]:
                asked = about | {"candidate": change["candidate"]}
                said += [await agent.call("look", **asked), await agent.call("look", **asked)]
        return said, await agent.call("report", project="small")

    said, report = over_http(look)
    used = [row["locked"]["looks_used"] for row in said if "locked" in row]
    assert used[:4] == [1, 1, 2, 2]
    assert all("All 2 looks" in row["error"] for row in said[4:])
    assert len(said) > 4
    assert report["withheld_documents"] == 0  # after the last look everything is shown


def test_what_was_unlocked_proves_nothing_and_the_reason_is_given(
    over_http: Callable[..., Any], judge: Judge, locked: LockedDocuments, owner: User
) -> None:
    unlock_documents(locked, by=owner)

    async def improve(agent: Agent) -> Any:
        asked = {"project": "small", "judge": "today", "criterion": "quality"}
        return await agent.call("improve", **asked), await agent.call(
            "show_locked", project="small"
        )

    refused, shown = over_http(improve)
    assert "so nothing can be proven on" in refused["error"]
    assert shown["locked"] is False


def test_agent_cannot_draw_again_over_hairs_beside_the_texts(
    over_http: Callable[..., Any], judge: Judge, hidden: str
) -> None:
    async def copy(agent: Agent) -> Any:
        made = await agent.call("make_project", name="Copy")
        rows = [
            {"doc_id": f"n{d}", "system_id": f"s{s}", "source": f" T\u0435xt  {d} ",
             "output": f"Output {d} of {s}."}
            for d in range(60) for s in range(5)
        ]  # fmt: skip
        about = {"project": made["project"]}
        await agent.call("load_rows", **about, rows=rows)
        return await agent.call("lock_documents", **about, share=0.1, looks=40)

    assert "2nd draw of 60 of these 60 texts" in over_http(copy)["error"]
    assert LockedDocuments.objects.count() == 1


def _ratings() -> list[tuple[Any, ...]]:
    return list(Rating.objects.order_by("pk").values_list("output", "annotator", "score"))
