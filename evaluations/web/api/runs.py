"""HTTP API of criteria, runs and reports."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Query, Router, Schema, Status

from annotations.models import GuidelinesVersion
from evaluations.corpus.removing import remove_criterion
from evaluations.judging.judges.criteria import change_criterion
from evaluations.judging.runs.lifecycle import cancel_run, pause_by_person, resume_run
from evaluations.judging.runs.starting import RunRequest, start_remainder, start_run
from evaluations.models import Criterion, EvaluationRun, JudgeKind, Project
from evaluations.pages.runs.progress import run_progress
from evaluations.reports.by_field import FieldView, fields_of
from evaluations.reports.data import options_of, usual_options
from evaluations.reports.serving.parts import ANNOTATORS, BY_FIELD, NotComputedError, ReportView
from evaluations.reports.serving.view import ASK_AGAIN_SECONDS, page_view, report_view
from evaluations.web.api.auth import project_for
from evaluations.web.api.problems import problem
from evaluations.web.api.schemas import ID, LARGEST_ID, In, Page, page_of
from evaluations.web.revisions import Change, Revised, editing
from geval.files.project_fields import CriterionFields
from geval.reports.annotators import annotators_json
from geval.reports.by_field import by_field_as_dict
from geval.reports.options import ReportOptions
from geval.statistics.goal_widths import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH

router = Router()


class CriterionIn(CriterionFields, In):
    """The criterion itself validates its scale, as for forms and archives. `rubric` is the id of
    the criterion whose item it is."""

    name: str = Field(min_length=1, max_length=100)
    rubric: int | None = Field(None, le=LARGEST_ID)


class CriterionChange(CriterionFields, Change):
    """What is left out stays as it is."""

    name: str = Field("", min_length=1, max_length=100)
    rubric: int | None = Field(None, le=LARGEST_ID)


class CriterionOut(Revised):
    id: int
    name: str
    definition: str
    scale_min: float
    scale_max: float
    scale_step: float
    scale_labels: dict[str, Any]
    is_ordered: bool
    finds_highest: bool
    required_sensitivity: float | None
    required_specificity: float | None
    required_kappa: float | None
    allows_not_applicable: bool
    rubric: int | None
    weight: float
    task_introduction: str
    inputs: str
    prompt_file: str
    guidelines: str

    @staticmethod
    def resolve_rubric(row: Criterion) -> int | None:
        return row.rubric_id


class RunIn(In):
    """`criteria` are names, all of them if empty; `fresh` judges everything again; `pilot` judges
    so many documents only, drawn at random, rated ones first, `trial` so many items; with
    `goal_width` the run ends when rho is known within plus and minus it on its criteria, with
    `goal_rival` when it is known whether that judge agrees better with people."""

    judge: int = ID
    criteria: list[str] = Field(default_factory=list, max_length=1000)
    fresh: bool = False
    budget: Decimal | None = Field(None, ge=0, max_digits=14, decimal_places=4)
    transport: str = Field("live", pattern="^(live|batch)$")
    pilot: int | None = Field(None, ge=1, le=100_000)
    trial: int | None = Field(None, ge=1, le=100)
    goal_width: float | None = Field(None, ge=LEAST_GOAL_WIDTH, le=MOST_GOAL_WIDTH)
    goal_rival: int | None = Field(None, ge=1, le=LARGEST_ID)


class RestIn(In):
    """A budget for what a pilot or a trial left out."""

    budget: Decimal | None = Field(None, ge=0, max_digits=14, decimal_places=4)


class ResumeIn(In):
    retry_failed: bool = False


class RunOut(Schema):
    id: int
    judge: int
    state: str
    message: str
    items: int
    done: int
    failed: int
    open: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost: Decimal | None
    created_at: datetime
    finished_at: datetime | None
    resumes_at: datetime | None
    goal_width: float | None
    goal_rival: int | None


class RunShort(Schema):
    id: int
    judge_id: int
    state: str
    message: str
    created_at: datetime
    finished_at: datetime | None


class Runs(Schema):
    items: list[RunShort]
    next: int | None


class ActionOut(Schema):
    """Whether anything changed: a run that has ended cannot be paused."""

    done: bool


class ReportQuery(In):
    level: str = Field("", max_length=20)
    coefficient: str = Field("", max_length=20)
    over: str = Field("", max_length=20)
    human_score: str = Field("", max_length=20)
    documents: str = Field("", max_length=200)
    round: int | None = Field(None, description="a campaign's id: only answers given in it count")
    pseudonyms: bool = Field(True, description="false: annotators' own names")


class ReportProgress(Schema):
    """How far a worker is with the numbers of a large project; `progress` is from 0 to 1."""

    state: str
    progress: float
    step: str
    message: str
    worker_alive: bool


@router.get("/criteria", response=list[CriterionOut])
def list_criteria(request: HttpRequest, slug: Path[str]) -> Any:
    """All criteria, in the order reports show them."""
    return project_for(request, slug).criteria.all()


@router.post("/criteria", response={201: CriterionOut})
def make_criterion(request: HttpRequest, slug: Path[str], data: CriterionIn) -> Any:
    """Create a criterion."""
    project = project_for(request, slug, change=True)
    criterion = Criterion(project=project, position=project.criteria.count())
    return Status(201, change_criterion(criterion, data.dict()))


@router.put("/criteria/{int:pk}", response=CriterionOut)
def edit_criterion(request: HttpRequest, slug: Path[str], pk: int, data: CriterionChange) -> Any:
    """Change a criterion; running runs keep the prompt they started with."""
    project = project_for(request, slug, change=True)
    with editing(project.criteria.all(), data, CriterionOut.from_orm, pk=pk) as criterion:
        change_criterion(criterion, data.sent())
        GuidelinesVersion.objects.current(project, by=request.user)
        return criterion


@router.delete("/criteria/{int:pk}", response={204: None})
def remove_criterion_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Remove a criterion if nothing depends on it; otherwise 409 says what does."""
    remove_criterion(
        get_object_or_404(Criterion, project=project_for(request, slug, change=True), pk=pk)
    )
    return Status(204, None)


@router.get("/runs", response=Runs)
def list_runs(request: HttpRequest, slug: Path[str], page: Query[Page]) -> Any:
    """Runs, paginated."""
    return page_of(project_for(request, slug).runs.counting().of_judges_that_run(), page)


@router.post("/runs", response={201: RunOut})
def make_run(request: HttpRequest, slug: Path[str], data: RunIn) -> Any:
    """Start a run of a judge; workers execute it."""
    project = project_for(request, slug, change=True)
    judge = get_object_or_404(project.judges.exclude(kind=JudgeKind.IMPORTED), pk=data.judge)
    rival = (
        None if data.goal_rival is None else get_object_or_404(project.judges, pk=data.goal_rival)
    )
    run = start_run(
        judge,
        criteria_named(project, data.criteria),
        RunRequest(
            fresh=data.fresh,
            budget=data.budget,
            transport=data.transport,
            pilot=data.pilot or 0,
            trial=data.trial or 0,
            goal_width=data.goal_width,
            goal_rival=rival,
        ),
    )
    return Status(201, _run_out(run))


@router.post("/runs/{int:pk}/rest", response={201: RunOut})
def make_rest(request: HttpRequest, slug: Path[str], pk: int, data: RestIn) -> Any:
    """Start a run on what a pilot or a trial left out."""
    pilot = _run(project_for(request, slug, change=True), pk)
    return Status(201, _run_out(start_remainder(pilot, budget=data.budget)))


@router.get("/runs/{int:pk}", response=RunOut)
def get_run(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """A run with its counts."""
    return _run_out(_run(project_for(request, slug), pk))


@router.post("/runs/{int:pk}/pause", response=ActionOut, operation_id="pause_run")
def pause(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Pause a run."""
    run = _run(project_for(request, slug, change=True), pk)
    return {"done": pause_by_person(run.pk, request.user)}


@router.post("/runs/{int:pk}/resume", response=ActionOut, operation_id="resume_run")
def resume(request: HttpRequest, slug: Path[str], pk: int, data: ResumeIn) -> Any:
    """Resume a paused run, or retry failed items."""
    run = _run(project_for(request, slug, change=True), pk)
    return {"done": resume_run(run, retry_failed=data.retry_failed)}


@router.post("/runs/{int:pk}/cancel", response=ActionOut, operation_id="cancel_run")
def cancel(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Cancel a run for good; its scores are kept."""
    run = _run(project_for(request, slug, change=True), pk)
    return {"done": cancel_run(run.pk, f"Cancelled by {request.user}.")}


@router.get(
    "/report",
    openapi_extra={
        "responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}
    },
    response={202: ReportProgress},
)
def get_report(
    request: HttpRequest, response: HttpResponse, slug: Path[str], query: Query[ReportQuery]
) -> Any:
    """Everything on the report page, with pseudonyms for annotators unless names are asked for.

    A worker computes the report of a large project: 202 with Retry-After says how far the first
    numbers are, 503 why computing them failed. Later the last numbers are returned; while there are
    newer ratings or scores, these begin with `"stale": true`, their age and the progress of new
    ones.
    """
    project = project_for(request, slug)
    options, errors = options_of(query.dict(), project)
    if errors:
        raise ValidationError(errors)
    view = report_view(project, options, pseudonyms=query.pseudonyms)
    try:
        content = view.needed("download", "json")
    except NotComputedError as error:
        return not_computed(error.cached, response)
    if view.coming:
        content = _stale(content, view)
    return HttpResponse(content, content_type="application/json")


@router.get("/report/groups", response={200: list[dict[str, Any]], 202: ReportProgress})
def get_groups(request: HttpRequest, response: HttpResponse, slug: Path[str], field: str) -> Any:
    """The best judge of each criterion on the documents of each value of a field, such as
    `language`, with differences from the others, or of `system`. 202 with Retry-After while a
    worker computes them."""
    project = project_for(request, slug)
    if field not in (fields := fields_of(project)):
        there = ", ".join(fields) or "none"
        raise ValidationError({"field": f"There is no field {field!r} (there are: {there})."})
    try:
        numbers = page_view(project, BY_FIELD, FieldView(usual_options(project), field)).needed(
            "page"
        )
    except NotComputedError as error:
        return not_computed(error.cached, response)
    if numbers.reasons:
        raise ValidationError({"field": list(numbers.reasons)})
    return [by_field_as_dict(result) for result in numbers.results]


@router.get("/annotator-numbers", response={200: dict[str, Any], 202: ReportProgress})
def get_annotator_numbers(request: HttpRequest, response: HttpResponse, slug: Path[str]) -> Any:
    """Severity and agreement of each annotator with intervals, the outputs on which annotators are
    split, and agreement on marked spans. 202 with Retry-After while a worker computes them."""
    project = project_for(request, slug)
    try:
        return annotators_json(page_view(project, ANNOTATORS, ReportOptions()).needed("page"))
    except NotComputedError as error:
        return not_computed(error.cached, response)


def not_computed(cached: ReportView, response: HttpResponse) -> Any:
    """Return the answer while a worker computes numbers: its progress, or why it failed."""
    if cached.coming and cached.coming.has_failed:
        return problem(503, "Not computed", cached.in_words)
    response["Retry-After"] = str(ASK_AGAIN_SECONDS)
    return Status(202, _progress(cached))


def _progress(cached: ReportView) -> dict[str, Any]:
    coming = cached.coming
    return {
        "state": coming.state if coming else "",
        "progress": coming.share if coming else 0.0,
        "step": coming.step if coming else "",
        "message": cached.in_words,
        "worker_alive": cached.has_worker,
    }


def _stale(content: str, cached: ReportView) -> str:
    """Return a report's JSON with its age at the beginning. A large report is not parsed for
    that."""
    assert cached.last is not None
    about = {
        "stale": True,
        "computed_at": cached.last.computed_at,
        "age_seconds": cached.age_seconds,
        "new_numbers": _progress(cached),
    }
    head = orjson.dumps(about, option=orjson.OPT_INDENT_2).decode()
    return f"{head.removesuffix(chr(10) + '}')},{content.removeprefix('{')}"


def criteria_named(project: Project, names: Sequence[str]) -> list[Criterion]:
    """Return the criteria with these names, regardless of case, in the project's order; all
    criteria for no names.

    Raises:
        ValidationError: there is no criterion with that name.
    """
    criteria = {criterion.name.lower(): criterion for criterion in project.criteria.all()}
    wanted = {name.lower() for name in names}
    if unknown := wanted - criteria.keys():
        raise ValidationError(
            {"criteria": f"There is no criterion {sorted(unknown)[0]!r} in this project."}
        )
    return [criterion for name, criterion in criteria.items() if not wanted or name in wanted]


def _run(project: Project, pk: int) -> EvaluationRun:
    return get_object_or_404(project.runs.of_judges_that_run(), pk=pk)


def _run_out(run: EvaluationRun) -> dict[str, Any]:
    progress = run_progress(run)
    return {
        "id": run.pk,
        "judge": run.judge_id,
        "state": run.state,
        "message": run.message,
        "items": progress.total,
        "done": progress.done,
        "failed": progress.failed,
        "open": progress.open,
        "calls": run.calls,
        "prompt_tokens": run.prompt_tokens,
        "completion_tokens": run.completion_tokens,
        "cached_tokens": run.cached_tokens,
        "reasoning_tokens": run.reasoning_tokens,
        "cost": run.cost,
        "created_at": run.created_at,
        "finished_at": run.finished_at,
        "resumes_at": run.resumes_at,
        "goal_width": run.goal_width,
        "goal_rival": run.goal_rival_id,
    }
