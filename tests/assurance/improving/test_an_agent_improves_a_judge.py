"""An agent's script: from rows to a judge that is improved and proven."""

import asyncio
import csv
from collections.abc import Callable
from typing import Any

import pytest

from evaluations.models import Judge, LockedDocuments, Project
from geval.standin.planted import VAGUE, planted_files
from tests.agents.conftest import Agent, address, make_token, over_http
from tests.processes import StandInProcess

__all__ = ["address", "make_token", "over_http"]  # fixtures
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes, pytest.mark.slow]
SMALL = {"project": "small"}


async def _until(agent: Agent, tool: str, states: set[str], **about: Any) -> dict[str, Any]:
    while (answer := await agent.call(tool, **SMALL, **about)).get("state") in states:
        await asyncio.sleep(0.2)
    assert "error" not in answer, answer
    return answer


async def improve(agent: Agent) -> dict[str, Any]:
    files = planted_files(1, documents=50, systems=4)
    for name, kind in (("outputs.csv", "outputs"), ("ratings.csv", "ratings")):
        rows = list(csv.DictReader(files[name].splitlines()))
        await agent.call("load_rows", **SMALL, rows=rows, kind=kind, scales={"usefulness": "1-5"})
    before = await agent.call("report", **SMALL)
    judge = {"name": "First", "endpoint": "stand-in", "model": "offline-stand-in"}
    await _until(agent, "make_judge", {"asking the endpoint"}, **judge)
    run = await agent.call("start_run", **SMALL, judge="First")
    waiting = {"preparing", "running"}
    judged = await _until(agent, "follow_run", waiting, run=run["run"])
    first = await agent.call("report", **SMALL)
    gaps = await agent.call("list_disagreements", **SMALL, most=3)
    plan = await agent.call("plan", **SMALL, criterion="usefulness", judge="First", width=0.05)

    locked = await agent.call("lock_documents", **SMALL, share=0.5, looks=2)
    await _fix_the_draw()
    search = await agent.call(
        "improve", **SMALL, judge="First", criterion="usefulness", changes=["wording"], calls=300
    )
    kept = await _until(agent, "follow_search", {"waiting", "asking"}, search=search["search"])
    change = {"search": search["search"], "candidate": kept["found"][0]["candidate"]}
    while (look := await agent.call("look", **SMALL, **change)).get("outcome") == "pending":
        pass
    used = await agent.call("use_change", **SMALL, candidate=change["candidate"])
    await _until(agent, "follow_run", waiting, run=used["run"])
    last = await agent.call("report", **SMALL)
    certified = await agent.call(
        "certify", **SMALL, judge="First", criterion="usefulness", require=["documents>=5"]
    )
    return {
        "before": before, "judged": judged, "first": first, "gaps": gaps, "plan": plan,
        "locked": locked, "look": look, "used": used, "last": last, "certified": certified,
    }  # fmt: skip


async def _fix_the_draw() -> None:
    await LockedDocuments.objects.aupdate(seed="fixed")


def test_from_rows_to_a_judge_that_is_proven(
    over_http: Callable[..., Any],
    project: Project,
    start_standin: Callable[..., StandInProcess],
    start_worker: Callable[..., object],
) -> None:
    # Whom texts are sent to is for people to decide, so the endpoint is there.
    project.endpoints.create(name="stand-in", base_url=start_standin().base_url)
    project.criteria.create(name="usefulness", definition=VAGUE)
    start_worker()

    answers = over_http(improve)

    assert answers["before"]["criteria"][0]["judges"] == []
    assert (answers["judged"]["state"], answers["judged"]["done"]) == ("done", 200)
    (row,) = answers["first"]["criteria"]
    assert (row["criterion"], row["judge"]) == ("usefulness", "First")
    assert row["verdict"]
    assert len(answers["gaps"]["disagreements"]) == 3
    assert answers["gaps"]["disagreements"][0]["output"]
    assert answers["plan"]["by_raters"]
    assert (answers["locked"]["looks_used"], answers["locked"]["looks_allowed"]) == (0, 2)
    assert answers["look"]["outcome"] == "proven"
    assert answers["look"]["locked"]["looks_used"] == 1
    assert answers["last"]["withheld_documents"] > 10
    # Its search has seen all documents but the locked ones, which are withheld.
    assert answers["certified"]["outcome"] == "cannot say"
    assert Judge.objects.filter(project=project, name="First", version=2).exists()
    assert "/p/small/runs/" in answers["used"]["link"]
