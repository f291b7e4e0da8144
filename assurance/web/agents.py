"""What agents can do to see where judges fail, make them better and certify them."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from django.http import Http404

from assurance.web.api import certificates, disagreements, improving
from evaluations.models import LockedDocuments
from evaluations.models.improving import ASKING_CHANGES, FREE_CHANGES
from evaluations.web.agents.agent import ASK_AGAIN, MOST_LETTERS, Agent, Answer, Level
from geval.texts.sentences import shortened

Changes = list[Literal["wording", "examples", "scoring", "choice", "panel", "calibration"]]
# Each has texts, and an agent's context has a limited length.
MOST_DISAGREEMENTS = 20
NOT_LOCKED = "No documents are locked; lock some with `lock_documents` before you improve a judge."


def list_disagreements(
    agent: Agent,
    project: str,
    criterion: str = "",
    judge: str = "",
    by: Literal["gap", "shifted", "apart"] = "gap",
    most: int = 5,
) -> Answer:
    """The outputs on which a judge and people differ most, with their texts.

    Args:
        judge: by default the best one, as the report has it.
        by: `gap`: score less people; `shifted`: beyond the judge's usual shift; `apart`: where
            people differ from each other.
        most: how many, at most 20.
    """
    link = agent.link("disagreement_list", project)
    rows = agent.read(
        disagreements.get_disagreements, project, criterion=criterion, by=by,
        judge=agent.judge(project, judge).pk if judge else 0,
        most=max(1, min(most, MOST_DISAGREEMENTS)),
    )  # fmt: skip
    if not isinstance(rows, list):
        return {"state": "computing", "message": rows["message"], "link": link}
    shown = [asdict(row) | {"output": shortened(row.output, MOST_LETTERS)} for row in rows]
    return {"state": "done", "disagreements": shown, "link": link}


def show_locked(agent: Agent, project: str) -> Answer:
    """Whether documents are locked, how many looks at them are used and allowed, and what each
    look said. Which documents they are follows from the rule; people's ratings of them are
    withheld until the last look."""
    link = agent.link("improve", project)
    if not LockedDocuments.objects.filter(project=agent.project(project)).exists():
        return {"locked": False, "message": NOT_LOCKED, "link": link}
    rule = agent.read(improving.get_locked, project)
    return {
        "locked": rule["unlocked_at"] is None,
        "share": rule["rule"]["share"],
        "looks_used": rule["looks_used"],
        "looks_allowed": rule["looks_allowed"],
        "ratings_withheld": rule["withheld"],
        "looks": [
            {**_look(row), "criterion": row["criterion"], "judge": row["judge"]}
            for row in rule["looks"]
        ],
        "link": link,
    }


def lock_documents(agent: Agent, project: str, share: float = 0.4, looks: int = 5) -> Answer:
    """Lock a share of the documents, for good: they prove what is found on the others. More
    looks make each proof weaker. Refused for documents that were locked before on this
    site: people alone draw again."""
    agent.change(improving.make_locked, project, share=share, looks=looks)
    return show_locked(agent, project)


def improve(
    agent: Agent,
    project: str,
    judge: str,
    criterion: str,
    changes: Changes | None = None,
    calls: int = 400,
    budget: float | None = None,
) -> Answer:
    """Search, on documents that are not locked, for changes that make a judge agree better with
    people; follow it with `follow_search`.

    Args:
        changes: `choice`, `panel` and `calibration` (the default) use the scores there are;
            `wording`, `examples` and `scoring` call models.
        calls: the most calls to models.
        budget: in the currency of the judge's prices.
    """

    def guard() -> None:
        if asking := sorted({str(change) for change in ASKING_CHANGES} & set(changes or ())):
            agent.may_spend(f"Searching for {' and '.join(asking)}")

    search = agent.change(
        improving.make_search, project, guard=guard,
        judge=lambda: agent.judge(project, judge).pk,
        criterion=lambda: agent.criterion(project, criterion).pk, most_calls=calls, budget=budget,
        changes=changes or [str(change) for change in FREE_CHANGES],
    )  # fmt: skip
    return _search(agent, project, search)


def follow_search(agent: Agent, project: str, search: int) -> Answer:
    """How far a search is, and the changes it kept with their values on training documents;
    while it goes on, also when to ask again."""
    return _search(agent, project, agent.read(improving.get_search, project, search))


def look(agent: Agent, project: str, search: int, candidate: int) -> Answer:
    """Prove a change on the locked documents. This uses one of the looks that are allowed; the
    same change again gives the same result and uses none. While locked documents are judged in
    a new wording, `outcome` is `pending`: call again."""

    def guard() -> None:
        rows = agent.read(improving.get_search, project, search)["candidates"]
        kinds = {row["candidate"]: row["change"] for row in rows}
        if candidate not in kinds:
            raise Http404(f"Search {search} has no change {candidate} ({sorted(kinds)}).")
        if kinds[candidate] in ASKING_CHANGES:
            agent.may_spend("This look has the locked documents judged, which")

    result = agent.change(improving.take_look, project, candidate, guard=guard)
    shown = _look(result) if "outcome" in result else {"outcome": "pending", **result}
    return {**shown, "locked": show_locked(agent, project)}


def use_change(agent: Agent, project: str, candidate: int) -> Answer:
    """Make a change a judge, or the judge's next version, and run it on every output."""
    used = agent.change(improving.use_candidate, project, candidate)
    link = agent.link("run_detail", project, used["run"])
    return {"judge": used["label"], "run": used["run"], "link": link}


def certify(agent: Agent, project: str, judge: str, criterion: str, require: list[str]) -> Answer:
    """Check a judge against requirements and sign the outcome.

    Args:
        require: such as `spearman.summary.low>=0.45` or `alt_test.passed`.
    """
    made = agent.change(
        certificates.make_certificate, project, judge=lambda: agent.judge(project, judge).pk,
        criterion=lambda: agent.criterion(project, criterion).pk, require=require,
    )  # fmt: skip
    return {
        "outcome": made["outcome"],
        "requirements": made["certificate"].get("requirements"),
        "certificate": made["id"],
        "link": agent.link("certificate_detail", project, made["id"]),
    }


def _search(agent: Agent, project: str, search: Mapping[str, Any]) -> Answer:
    names = ("search", "state", "message", "judge", "criterion", "changes")
    return {
        **{name: search[name] for name in names},
        **(ASK_AGAIN if search["state"] in ("waiting", "asking") else {}),
        "found": [
            {
                "candidate": row["candidate"],
                "change": row["change"],
                "title": row["title"],
                "training": row["training"],
                "look": row["look"] and _look(row["look"]),
            }
            for row in search["candidates"]
        ],
        "locked": show_locked(agent, project),
        "link": agent.link("improve", project),
    }


def _look(look: Mapping[str, Any]) -> Answer:
    names = ("outcome", "gain", "interval", "confidence", "documents", "reason")
    return {name: look[name] for name in names}


# By what an agent must be allowed.
TOOLS = {
    Level.READ: (list_disagreements, show_locked, follow_search),
    Level.WRITE: (lock_documents, improve, look, certify),
    Level.SPEND: (use_change,),
}
