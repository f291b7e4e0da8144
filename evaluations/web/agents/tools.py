"""What agents can do with any project: load, judge, report."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from django.conf import settings as site
from django.http import Http404

from evaluations.models.runs import ACTIVE_STATES
from evaluations.models.sizes import with_sizes
from evaluations.web.agents.agent import ASK_AGAIN, MOST_LETTERS, Agent, Answer, Level
from evaluations.web.api import corpus, judges, projects, runs
from geval.client import ApiError, report_rows
from geval.reports.verdicts.verdict_table import verdict_lines
from geval.texts.sentences import shortened

Kind = Literal["outputs", "ratings", "preferences", "scores"]


def list_projects(agent: Agent) -> Answer:
    """The projects you may see, with their short names and sizes."""
    return {
        "projects": [
            {
                "project": row.slug,
                "name": row.name,
                "documents": row.document_count,
                "outputs": row.output_count,
                "link": agent.link("project_detail", row.slug),
            }
            for row in with_sizes(projects.seen_projects(agent.reading).order_by("pk"))
        ]
    }


def show_project(agent: Agent, project: str) -> Answer:
    """A project's sizes, criteria with their scales, judges, endpoints and last runs."""
    (about,) = with_sizes([agent.project(project)])
    last = about.runs.of_judges_that_run().order_by("-pk")[:5]
    return {
        "project": project,
        "name": about.name,
        "documents": about.document_count,
        "systems": about.system_count,
        "outputs": about.output_count,
        "criteria": [
            {
                "criterion": row.name,
                "definition": shortened(row.definition, MOST_LETTERS),
                "scale": [row.scale_min, row.scale_max, row.scale_step],
            }
            for row in about.criteria.all()
        ],
        "judges": [
            {"judge": row.label, "kind": row.kind, "model": row.model}
            for row in about.judges.filter(retired_at=None)
        ],
        "endpoints": [
            {
                "endpoint": row.pk,
                "name": row.name,
                "warnings": judges.EndpointOut.resolve_warnings(row),
            }
            for row in about.endpoints.filter(retired_at=None)
        ],
        "runs": [{"run": row.pk, "state": row.state} for row in reversed(last)],
        "link": agent.link("project_detail", project),
    }


def report(agent: Agent, project: str, criterion: str = "", documents: str = "") -> Answer:
    """Whether judges may rate: for each criterion the verdict, the best judge's figures with
    their intervals, one rater's rho, and every judge. If it is still being computed, `state` says
    so: ask again.

    Args:
        criterion: only this one.
        documents: only those whose names contain this.
    """
    if criterion:
        criterion = agent.criterion(project, criterion).name
    made = agent.read(runs.get_report, project, documents=documents)
    link = agent.link("report_detail", project)
    if "criteria" not in made:
        return {"state": "computing", "message": made["message"], "link": link}
    view = made["view"]
    rows = [
        row
        for row in report_rows(made)
        if (row["coefficient"], row["level"]) == (view["coefficient"], view["level"])
    ]
    return {
        "state": "stale: newer numbers are being computed" if made.get("stale") else "done",
        "measure": f"{view['coefficient']} ({view['level']} level)",
        "criteria": [
            {
                "criterion": line.criterion,
                "verdict": line.verdict,
                "judge": line.judge or None,
                "agreement": [figure._asdict() for figure in line.figures],
                "one_rater": line.one_rater,
                "judges": [
                    {"judge": row["judge"], "rho": row["value"]}
                    for row in rows
                    if row["criterion"] == line.criterion
                ],
            }
            for line in verdict_lines(made)
            if criterion in ("", line.criterion)
        ],
        "withheld_documents": made.get("withheld_documents", 0),
        "link": link,
    }


def follow_run(agent: Agent, project: str, run: int) -> Answer:
    """How far a run is and what it cost; while it goes on, also when to ask again."""
    return _run(agent, project, agent.read(runs.get_run, project, run))


def make_project(agent: Agent, name: str, description: str = "") -> Answer:
    """Create a project; use the short name in the answer from then on."""
    made = agent.change(projects.make_project, name=name, description=description)
    return {"project": made.slug, "link": agent.link("project_detail", made.slug)}


def load_rows(
    agent: Agent,
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
    with tempfile.NamedTemporaryFile("w", dir=site.TEMPORARY_DIR) as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
        file.flush()
        return load_file(agent, project, file.name, kind, columns, scales, judge, check)


def load_file(
    agent: Agent,
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
        raise Http404(f"There is no file {path}.")
    loaded = agent.change(
        corpus.load_written, project, kind, Path(path), operation=f"load_{kind}",
        columns=[f"{name}={meaning}" for name, meaning in (columns or {}).items()],
        scale=[f"{name}={scale}" for name, scale in (scales or {}).items()],
        judge=judge, check=check, open_only=True,
    )  # fmt: skip
    counted = ("documents", "outputs", "ratings", "preferences", "verdicts", "scores")
    return {
        "loaded": {name: loaded[name] for name in counted if any(loaded[name].values())},
        "dry_run": check,
        "unused_columns": [row.column for row in loaded["unused"]],
        "notes": loaded["notes"],
        "columns": loaded["columns"],
        "criteria": [
            {"criterion": row.name, "scale": row.scale, "is_guess": row.from_data}
            for row in loaded["contents"].criteria
        ],
        "link": agent.link("document_list", project),
    }


def make_criterion(
    agent: Agent,
    project: str,
    name: str,
    definition: str,
    lowest: float = 1,
    highest: float = 5,
    step: float = 1,
) -> Answer:
    """Create a criterion: what judges and people rate, in words, and its scale."""
    made = agent.change(
        runs.make_criterion, project, name=name, definition=definition,
        scale_min=lowest, scale_max=highest, scale_step=step,
    )  # fmt: skip
    return {"criterion": made.name}


def make_judge(
    agent: Agent,
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
    try:
        made = agent.change(
            judges.make_judge, project, name=name, kind=kind, model=model, mode=mode,
            endpoint=lambda: _endpoint(agent, project, endpoint), settings=settings or {},
        )  # fmt: skip
    except ApiError as error:
        if not error.probe:
            raise
        return {"state": "asking the endpoint", "message": "Call this again in a second."}
    link = agent.link("judge_detail", project, made.pk)
    return {"state": "done", "judge": made.label, "mode": made.mode, "link": link}


def start_run(
    agent: Agent,
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
    made = agent.change(
        runs.make_run, project, judge=lambda: agent.judge(project, judge).pk,
        criteria=criteria or [], fresh=fresh, trial=trial, pilot=pilot, budget=budget,
    )  # fmt: skip
    return _run(agent, project, made)


def pause_run(agent: Agent, project: str, run: int) -> Answer:
    """Pause a run; what is scored stays."""
    return {"paused": agent.change(runs.pause, project, run)["done"]}


def resume_run(agent: Agent, project: str, run: int, retry_failed: bool = False) -> Answer:
    """Resume a paused run, optionally also what failed."""
    resumed = agent.change(runs.resume, project, run, retry_failed=retry_failed)
    return {"resumed": resumed["done"]}


def _endpoint(agent: Agent, project: str, name: str) -> int | None:
    if not name:
        return None
    agent.may_spend("Making a judge on an endpoint")
    of_project = agent.project(project).endpoints.filter(retired_at=None)
    endpoints = dict(of_project.values_list("name", "pk"))
    if name not in endpoints:
        listed = ", ".join(endpoints) or "none yet: a person adds one on the site"
        raise Http404(f"{project} has no endpoint {name!r} (endpoints: {listed}).")
    return endpoints[name]


def _run(agent: Agent, project: str, status: Mapping[str, Any]) -> Answer:
    names = ("state", "message", "items", "done", "failed", "calls", "cost")
    is_going = status["state"] in ACTIVE_STATES
    return {
        "run": status["id"],
        **{name: status[name] for name in names},
        **(ASK_AGAIN if is_going else {}),
        "link": agent.link("run_detail", project, status["id"]),
    }


# By what an agent must be allowed.
TOOLS = {
    Level.READ: (list_projects, show_project, report, follow_run),
    Level.WRITE: (make_project, load_rows, load_file, make_criterion, make_judge, pause_run),
    Level.SPEND: (start_run, resume_run),
}
# They need this machine's files, so they are not offered over HTTP.
HERE = (load_file,)
