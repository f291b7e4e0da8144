"""What agents can do with any project: load, judge, report, plan."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, Literal, TypeVar

from geval.client import ApiError, Client, Project, report_rows
from geval.reports.verdicts.verdict_table import verdict_lines

Answer = dict[str, Any]
Kind = Literal["outputs", "ratings", "preferences", "scores"]
Method = TypeVar("Method", bound=Callable[..., Any])
# Tools answer at once, as a server must answer others meanwhile; agents ask again after so long.
ASK_AGAIN = {"ask_again_in_seconds": 5}
# An agent reads all of an answer, in a context of limited length.
MOST_LETTERS = 1000
SLUG = re.compile(r"[-\w]+")


class Level(IntEnum):
    """What an agent may do; each level includes the lower ones."""

    READ = 0
    WRITE = 1
    SPEND = 2


@dataclass(frozen=True)
class AgentSite(Client):
    """A site as an agent uses it.

    Args:
        level: what the agent may do, regardless of its user's rights.
    """

    level: Level = Level.READ

    def project(self, slug: str) -> Project:
        """Return a project by its short name.

        Raises:
            ApiError: it is not a valid short name, and must not be used in an address.
        """
        if not SLUG.fullmatch(slug):
            raise not_found(f"There is no project {slug!r}.")
        return super().project(slug)

    def link(self, page: str, *args: Any) -> str:
        """Return the address of a page, by its name on the site."""
        raise NotImplementedError


def not_found(detail: str) -> ApiError:
    """Return the error for something that does not exist."""
    return ApiError(404, {"title": "Not found", "detail": detail})


def forbidden(detail: str) -> ApiError:
    """Return the error for something that an agent may not do, regardless of its user's rights."""
    return ApiError(403, {"title": "Forbidden", "detail": detail})


def tool(level: Level, *, here: bool = False) -> Callable[[Method], Method]:
    """Mark a method as a tool for agents of this level.

    Args:
        here: it needs this machine's files, so it is not offered over HTTP.
    """

    def mark(method: Method) -> Method:
        method.level, method.here = level, here  # type: ignore[attr-defined]
        return method

    return mark


class Tools:
    """A group of tools. Each asks the API and shortens its answer."""

    def __init__(self, site: AgentSite) -> None:
        self.site = site
        self.link = site.link

    @classmethod
    def of(cls, site: AgentSite) -> Iterator[Any]:
        """Return the methods that are tools, for a site."""
        tools = cls(site)
        for name in vars(cls):
            method = getattr(tools, name)
            if hasattr(method, "level"):
                yield method

    def may_spend(self, what: str) -> None:
        """Raises:
        ApiError: the agent may not spend money on `what`.
        """
        if self.site.level < Level.SPEND:
            raise forbidden(
                f"{what} calls a model, which may cost money; this connection may not spend."
            )

    def named(self, project: str, kind: Literal["criteria", "judges"], name: str) -> Answer:
        """Return a criterion, or the newest version of a judge that is not retired, by name.

        Raises:
            ApiError: there is none; the message lists the existing ones.
        """
        listed = self.site.project(project).request("GET", f"/{kind}")
        rows = [row for row in listed if not row.get("retired_at")]
        named = [row for row in rows if name in (row["name"], row.get("label"))]
        if not named:
            names = ", ".join(dict.fromkeys(row["name"] for row in rows)) or "none yet"
            raise not_found(f"{project} has no {name!r} among its {kind} ({names}).")
        newest: Answer = max(named, key=lambda row: row.get("version", 0))
        return newest


class CoreTools(Tools):
    """The tools of every site."""

    @tool(Level.READ)
    def list_projects(self) -> Answer:
        """The projects you may see, with their short names and sizes."""
        return {
            "projects": [
                {
                    "project": row["slug"],
                    "name": row["name"],
                    "documents": row["document_count"],
                    "outputs": row["output_count"],
                    "link": self.link("project_detail", row["slug"]),
                }
                for row in self.site.pages("/projects")
            ]
        }

    @tool(Level.READ)
    def show_project(self, project: str) -> Answer:
        """A project's sizes, criteria with their scales, judges, endpoints and last runs."""
        target = self.site.project(project)
        about = target.request("GET")
        runs = list(target.pages("/runs"))
        return {
            "project": project,
            "name": about["name"],
            "documents": about["document_count"],
            "systems": about["system_count"],
            "outputs": about["output_count"],
            "criteria": [
                {
                    "criterion": row["name"],
                    "definition": shortened(row["definition"]),
                    "scale": [row["scale_min"], row["scale_max"], row["scale_step"]],
                }
                for row in target.request("GET", "/criteria")
            ],
            "judges": [
                {"judge": row["label"], "kind": row["kind"], "model": row["model"]}
                for row in target.request("GET", "/judges")
                if not row["retired_at"]
            ],
            "endpoints": self._endpoints(project),
            "runs": [{"run": row["id"], "state": row["state"]} for row in runs[-5:]],
            "link": self.link("project_detail", project),
        }

    @tool(Level.READ)
    def report(self, project: str, criterion: str = "", documents: str = "") -> Answer:
        """Whether judges may rate: for each criterion the verdict, the best judge's rho with its
        interval beside one rater's, and every judge. If it is still being computed, `state` says
        so: ask again.

        Args:
            criterion: only this one.
            documents: only those whose names contain this.
        """
        if criterion:
            criterion = self.named(project, "criteria", criterion)["name"]
        query = {"documents": documents}
        report = self.site.project(project).request("GET", "/report", query=query)
        link = self.link("report_detail", project)
        if "criteria" not in report:
            return {"state": "computing", "message": report["message"], "link": link}
        view = report["view"]
        rows = [
            row
            for row in report_rows(report)
            if (row["coefficient"], row["level"]) == (view["coefficient"], view["level"])
        ]
        return {
            "state": "stale: newer numbers are being computed" if report.get("stale") else "done",
            "measure": f"{view['coefficient']} ({view['level']} level)",
            "criteria": [
                {
                    "criterion": line.criterion,
                    "verdict": line.verdict,
                    "judge": line.judge or None,
                    "rho": line.rho,
                    "interval": line.interval,
                    "one_rater": line.one_rater,
                    "judges": [
                        {"judge": row["judge"], "rho": row["value"]}
                        for row in rows
                        if row["criterion"] == line.criterion
                    ],
                }
                for line in verdict_lines(report)
                if criterion in ("", line.criterion)
            ],
            "withheld_documents": report.get("withheld_documents", 0),
            "link": link,
        }

    @tool(Level.READ)
    def plan(
        self,
        project: str,
        criterion: str,
        judge: str = "",
        rival: str = "",
        width: float = 0.05,
        difference: float | None = None,
    ) -> Answer:
        """How many documents and ratings it takes to know a judge's rho within `width`, or with a
        `rival` which of two judges agrees better with people.

        Args:
            difference: the smallest that matters, for two judges.
        """
        query = {
            "kind": "judges" if rival else "width",
            "criterion": self.named(project, "criteria", criterion)["id"],
            "judge": self.named(project, "judges", judge)["id"] if judge else None,
            "rival": self.named(project, "judges", rival)["id"] if rival else None,
            "width": None if rival else width,
            "difference": difference,
        }
        made: Answer = self.site.project(project).request("GET", "/plan", query=query)
        return made | {"link": self.link("report_detail", project)}

    @tool(Level.READ)
    def follow_run(self, project: str, run: int) -> Answer:
        """How far a run is and what it cost; while it goes on, also when to ask again."""
        return self._run(project, self.site.project(project).request("GET", f"/runs/{run}"))

    @tool(Level.WRITE)
    def make_project(self, name: str, description: str = "") -> Answer:
        """Create a project; use the short name in the answer from then on."""
        body = {"name": name, "description": description}
        slug = self.site.request("POST", "/projects", body=body)["slug"]
        return {"project": slug, "link": self.link("project_detail", slug)}

    @tool(Level.WRITE)
    def load_rows(
        self,
        project: str,
        rows: list[dict[str, Any]],
        kind: Kind = "outputs",
        columns: dict[str, str] | None = None,
        scales: dict[str, str] | None = None,
        judge: str = "",
        check: bool = False,
    ) -> Answer:
        """Load rows; all of them or, if there is an error, none. What exists stays as it is.

        Args:
            kind: `outputs` (doc_id, system_id, source, output), `ratings` (doc_id, system_id,
                criterion, annotator, score), `preferences`, `scores` of judges that ran elsewhere.
            columns: the meaning of columns that are not recognised, as the error suggests.
            scales: of new criteria, such as {"coherence": "1-5"}.
            judge: whose scores they are, if the rows do not say.
            check: a dry run.
        """
        return self._load(project, rows, kind, columns, scales, judge=judge, check=check)

    @tool(Level.WRITE, here=True)
    def load_file(
        self,
        project: str,
        path: str,
        kind: Kind = "outputs",
        columns: dict[str, str] | None = None,
        scales: dict[str, str] | None = None,
        judge: str = "",
        check: bool = False,
    ) -> Answer:
        """The same with a file on this machine: CSV, JSON Lines, Parquet, xlsx and others."""
        if not Path(path).is_file():
            raise not_found(f"There is no file {path}.")
        return self._load(project, path, kind, columns, scales, judge=judge, check=check)

    @tool(Level.WRITE)
    def make_criterion(
        self,
        project: str,
        name: str,
        definition: str,
        lowest: float = 1,
        highest: float = 5,
        step: float = 1,
    ) -> Answer:
        """Create a criterion: what judges and people rate, in words, and its scale."""
        scale = {"scale_min": lowest, "scale_max": highest, "scale_step": step}
        body = {"name": name, "definition": definition, **scale}
        made = self.site.project(project).request("POST", "/criteria", body=body)
        return {"criterion": made["name"]}

    @tool(Level.WRITE)
    def make_judge(
        self,
        project: str,
        name: str,
        kind: str = "geval",
        endpoint: str = "",
        model: str = "",
        mode: Literal["", "logprobs", "samples", "direct"] = "",
        settings: dict[str, Any] | None = None,
    ) -> Answer:
        """Create a judge: an evaluator, and for those that ask an LLM one of the project's
        endpoints (`show_project` lists them; people set them up) and a model. If the endpoint has
        to be asked first, `state` says so: call again.

        Args:
            kind: such as `geval`, `rouge`, `bleu`.
            mode: by default the best that the endpoint supports.
        """
        endpoint_id = None
        if endpoint:
            self.may_spend("Making a judge on an endpoint")
            endpoints = {row["name"]: row["endpoint"] for row in self._endpoints(project)}
            if endpoint not in endpoints:
                listed = ", ".join(endpoints) or "none yet: a person adds one on the site"
                raise not_found(f"{project} has no endpoint {endpoint!r} (endpoints: {listed}).")
            endpoint_id = endpoints[endpoint]
        body = {
            "name": name, "kind": kind, "model": model, "mode": mode, "endpoint": endpoint_id,
            "settings": settings or {},
        }  # fmt: skip
        try:
            made = self.site.project(project).request("POST", "/judges", body=body)
        except ApiError as error:
            if not error.probe:
                raise
            return {"state": "asking the endpoint", "message": "Call this again in a second."}
        link = self.link("judge_detail", project, made["id"])
        return {"state": "done", "judge": made["label"], "mode": made["mode"], "link": link}

    @tool(Level.SPEND)
    def start_run(
        self,
        project: str,
        judge: str,
        criteria: list[str] | None = None,
        trial: int | None = None,
        pilot: int | None = None,
        budget: float | None = None,
        fresh: bool = False,
    ) -> Answer:
        """Have a judge rate every output that it has not rated yet; follow it with `follow_run`.

        Args:
            criteria: names; all by default.
            trial: only so many outputs (try 10 first).
            pilot: only so many documents.
            budget: in the currency of the judge's prices.
            fresh: rate everything again.
        """
        body = {
            "judge": self.named(project, "judges", judge)["id"],
            "criteria": criteria or [],
            "fresh": fresh,
            "trial": trial,
            "pilot": pilot,
            "budget": budget,
        }
        made = self.site.project(project).request("POST", "/runs", body=body)
        return self._run(project, made)

    @tool(Level.WRITE)
    def pause_run(self, project: str, run: int) -> Answer:
        """Pause a run; what is scored stays."""
        paused = self.site.project(project).request("POST", f"/runs/{run}/pause")
        return {"paused": paused["done"]}

    @tool(Level.SPEND)
    def resume_run(self, project: str, run: int, retry_failed: bool = False) -> Answer:
        """Resume a paused run, optionally also what failed."""
        body = {"retry_failed": retry_failed}
        resumed = self.site.project(project).request("POST", f"/runs/{run}/resume", body=body)
        return {"resumed": resumed["done"]}

    def _load(
        self,
        project: str,
        rows: Any,
        kind: Kind,
        columns: Mapping[str, str] | None,
        scales: Mapping[str, str] | None,
        *,
        judge: str,
        check: bool,
    ) -> Answer:
        query = {
            "columns": [f"{name}={meaning}" for name, meaning in (columns or {}).items()],
            "scale": [f"{name}={scale}" for name, scale in (scales or {}).items()],
            "judge": judge,
            "check": check,
            "open_only": True,
        }
        loaded = self.site.project(project).request("POST", f"/{kind}", query=query, rows=rows)
        counted = ("documents", "outputs", "ratings", "preferences", "verdicts", "scores")
        return {
            "loaded": {name: loaded[name] for name in counted if any(loaded[name].values())},
            "dry_run": check,
            "unused_columns": [row["column"] for row in loaded["unused"]],
            "notes": loaded.get("notes", []),
            "columns": loaded["columns"],
            "criteria": [
                {"criterion": row["name"], "scale": row["scale"], "is_guess": row["from_data"]}
                for row in loaded["contents"]["criteria"]
            ],
            "link": self.link("document_list", project),
        }

    def _endpoints(self, project: str) -> list[Answer]:
        return [
            {"endpoint": row["id"], "name": row["name"], "warnings": row["warnings"]}
            for row in self.site.project(project).request("GET", "/endpoints")
            if not row["retired_at"]
        ]

    def _run(self, project: str, status: Mapping[str, Any]) -> Answer:
        names = ("state", "message", "items", "done", "failed", "calls", "cost")
        shown = {name: status[name] for name in names}
        is_going = status["state"] in ("preparing", "running")
        return {
            "run": status["id"],
            **shown,
            **(ASK_AGAIN if is_going else {}),
            "link": self.link("run_detail", project, status["id"]),
        }


def shortened(text: str) -> str:
    """Shorten a text for an answer."""
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
