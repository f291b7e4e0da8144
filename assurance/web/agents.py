"""What agents can do to see where judges fail, make them better and certify them."""

from typing import Any, Literal

from evaluations.models.improving import ASKING_CHANGES
from geval.client import ApiError
from geval.client.agent_tools import ASK_AGAIN, Answer, Level, Tools, not_found, shortened, tool

Changes = list[Literal["wording", "examples", "scoring", "choice", "panel", "calibration"]]
# Each has texts, and an agent's context has a limited length.
MOST_DISAGREEMENTS = 20
NOT_LOCKED = "No documents are locked; lock some with `lock_documents` before you improve a judge."


class AssuranceTools(Tools):
    """Disagreements, locked documents, searches, looks and certificates."""

    @tool(Level.READ)
    def list_disagreements(
        self,
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
        query = {
            "judge": self.named(project, "judges", judge)["id"] if judge else 0,
            "criterion": criterion,
            "by": by,
            "most": max(1, min(most, MOST_DISAGREEMENTS)),
        }
        rows = self.site.project(project).request("GET", "/disagreements", query=query)
        link = self.link("disagreement_list", project)
        if not isinstance(rows, list):
            return {"state": "computing", "message": rows["message"], "link": link}
        shown = [{**row, "output": shortened(row["output"])} for row in rows]
        return {"state": "done", "disagreements": shown, "link": link}

    @tool(Level.READ)
    def show_locked(self, project: str) -> Answer:
        """Whether documents are locked, how many looks at them are used and allowed, and what each
        look said. Which documents they are follows from the rule; people's ratings of them are
        withheld until the last look."""
        return self._locked(project)

    @tool(Level.WRITE)
    def lock_documents(self, project: str, share: float = 0.4, looks: int = 5) -> Answer:
        """Lock a share of the documents, for good: they prove what is found on the others. More
        looks make each proof weaker. Refused for documents that were locked before on this
        site: people alone draw again."""
        body = {"share": share, "looks": looks}
        self.site.project(project).request("POST", "/locked", body=body)
        return self._locked(project)

    @tool(Level.WRITE)
    def improve(
        self,
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
        if asking := sorted({str(change) for change in ASKING_CHANGES} & set(changes or ())):
            self.may_spend(f"Searching for {' and '.join(asking)}")
        body = {
            "judge": self.named(project, "judges", judge)["id"],
            "criterion": self.named(project, "criteria", criterion)["id"],
            "most_calls": calls,
            "budget": budget,
            **({"changes": changes} if changes else {}),
        }
        search = self.site.project(project).request("POST", "/searches", body=body)
        return self._search(project, search)

    @tool(Level.READ)
    def follow_search(self, project: str, search: int) -> Answer:
        """How far a search is, and the changes it kept with their values on training documents;
        while it goes on, also when to ask again."""
        answer = self.site.project(project).request("GET", f"/searches/{search}")
        return self._search(project, answer)

    @tool(Level.WRITE)
    def look(self, project: str, search: int, candidate: int) -> Answer:
        """Prove a change on the locked documents. This uses one of the looks that are allowed; the
        same change again gives the same result and uses none. While locked documents are judged in
        a new wording, `outcome` is `pending`: call again."""
        answer = self.site.project(project).request("GET", f"/searches/{search}")
        kinds = {row["candidate"]: row["change"] for row in answer["candidates"]}
        if candidate not in kinds:
            raise not_found(f"Search {search} has no change {candidate} ({sorted(kinds)}).")
        if kinds[candidate] in ASKING_CHANGES:
            self.may_spend("This look has the locked documents judged, which")
        result = self.site.project(project).request("POST", f"/candidates/{candidate}/look")
        shown = _look(result) if "outcome" in result else {"outcome": "pending", **result}
        return {**shown, "locked": self._locked(project)}

    @tool(Level.SPEND)
    def use_change(self, project: str, candidate: int) -> Answer:
        """Make a change a judge, or the judge's next version, and run it on every output."""
        used = self.site.project(project).request("POST", f"/candidates/{candidate}/use")
        link = self.link("run_detail", project, used["run"])
        return {"judge": used["label"], "run": used["run"], "link": link}

    @tool(Level.WRITE)
    def certify(self, project: str, judge: str, criterion: str, require: list[str]) -> Answer:
        """Check a judge against requirements and sign the outcome.

        Args:
            require: such as `spearman.summary.low>=0.45` or `alt_test.passed`.
        """
        body = {
            "judge": self.named(project, "judges", judge)["id"],
            "criterion": self.named(project, "criteria", criterion)["id"],
            "require": require,
        }
        made = self.site.project(project).request("POST", "/certificates", body=body)
        content = made["certificate"]
        link = self.link("certificate_detail", project, made["id"])
        return {
            "outcome": made["outcome"],
            "requirements": content.get("requirements"),
            "certificate": made["id"],
            "link": link,
        }

    def _locked(self, project: str) -> Answer:
        link = self.link("improve", project)
        try:
            rule = self.site.project(project).request("GET", "/locked")
        except ApiError as error:
            if error.status != 404 or not self.site.project(project).request("GET"):
                raise
            return {"locked": False, "message": NOT_LOCKED, "link": link}
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

    def _search(self, project: str, answer: Answer) -> Answer:
        names = ("search", "state", "message", "judge", "criterion", "changes")
        return {
            **{name: answer[name] for name in names if name in answer},
            **(ASK_AGAIN if answer["state"] in ("waiting", "asking") else {}),
            "found": [
                {
                    "candidate": row["candidate"],
                    "change": row["change"],
                    "title": row["title"],
                    "training": row["training"],
                    "look": row["look"] and _look(row["look"]),
                }
                for row in answer["candidates"]
            ],
            "locked": self._locked(project),
            "link": self.link("improve", project),
        }


def _look(look: Answer) -> dict[str, Any]:
    names = ("outcome", "gain", "interval", "confidence", "documents", "reason")
    return {name: look[name] for name in names}
