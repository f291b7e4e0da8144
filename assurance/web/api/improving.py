"""HTTP API of improving judges: locked documents, searches, looks, and what is used."""

from decimal import Decimal
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Query, Router, Schema, Status

from assurance.improving.adopting import adopt
from assurance.improving.certificate import (
    candidate_json,
    certificate,
    look_json,
    proposal_json,
    search_json,
)
from assurance.improving.looking import finish_looks, look_on_page
from assurance.improving.work import (
    SearchLimits,
    cancel_search,
    pause_search,
    request_search,
    resume_search,
)
from evaluations.corpus.locks.locking import lock_documents, refuse_second_draw
from evaluations.models import Candidate, LockedDocuments, Project, Search
from evaluations.models.improving import FREE_CHANGES
from evaluations.web.api.auth import project_for
from evaluations.web.api.schemas import ID, LARGEST_ID, In, Page, page_of
from geval.statistics.locked_rule import LEAST_SHARE, LOOKS, MOST_LOOKS, MOST_SHARE, SHARE

router = Router()


class LockIn(In):
    """The share of the documents to set aside, and how often they may be looked at."""

    share: float = Field(SHARE, ge=LEAST_SHARE, le=MOST_SHARE)
    looks: int = Field(LOOKS, ge=1, le=MOST_LOOKS)


class SearchIn(In):
    """`judge`, `criterion` and `reflector` are ids; the limits are for wordings alone."""

    judge: int = ID
    criterion: int = ID
    changes: list[str] = Field([str(one) for one in FREE_CHANGES], max_length=20)
    most_calls: int = Field(SearchLimits.most_calls, ge=1, le=1_000_000)
    budget: Decimal | None = Field(None, gt=0, max_digits=14, decimal_places=4)
    reflector: int | None = Field(None, le=LARGEST_ID)


class DoneOut(Schema):
    """Whether something changed."""

    done: bool


class UsedOut(Schema):
    """The judge that a change became, and its run on every output."""

    judge: int
    label: str
    run: int


@router.get("/locked", response=dict[str, Any])
def get_locked(request: HttpRequest, slug: Path[str]) -> Any:
    """The rule of the locked documents and every look at them: the certificate."""
    project = project_for(request, slug)
    finish_looks(project)
    return certificate(get_object_or_404(LockedDocuments, project=project))


@router.post("/locked", response={201: dict[str, Any]})
def make_locked(request: HttpRequest, slug: Path[str], data: LockIn) -> Any:
    """Set documents aside, for good; refused where ten of them were drawn before on this site."""
    project = project_for(request, slug, change=True)
    locked = lock_documents(
        project, by=request.user, share=data.share, looks=data.looks, may_redraw=False
    )
    return Status(201, certificate(locked))


@router.get("/searches", response=dict[str, Any])
def list_searches(request: HttpRequest, slug: Path[str], page: Query[Page]) -> Any:
    """Searches with their changes, in pages."""
    rows = project_for(request, slug).searches.select_related("judge", "criterion")
    return page_of(rows, page, _search_out)


@router.post("/searches", response={201: dict[str, Any]})
def make_search(request: HttpRequest, slug: Path[str], data: SearchIn) -> Any:
    """Have a worker search for changes that make a judge better."""
    project = project_for(request, slug, change=True)
    limits = SearchLimits(
        most_calls=data.most_calls,
        budget=data.budget,
        reflector=(
            None if data.reflector is None else get_object_or_404(project.judges, pk=data.reflector)
        ),
    )
    search = request_search(
        get_object_or_404(project.judges, pk=data.judge),
        get_object_or_404(project.criteria, pk=data.criterion),
        data.changes,
        by=request.user,
        limits=limits,
    )
    return Status(201, _search_out(search))


@router.get("/searches/{int:pk}", response=dict[str, Any])
def get_search(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """A search with its changes and every wording that was proposed."""
    search = _search(project_for(request, slug), pk)
    rows = search.proposals.select_related("parent")
    return _search_out(search) | {"proposals": [proposal_json(row) for row in rows]}


@router.post("/searches/{int:pk}/pause", response=DoneOut)
def pause_search_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Pause a search."""
    search = _search(project_for(request, slug, change=True), pk)
    return {"done": pause_search(search, request.user)}


@router.post("/searches/{int:pk}/resume", response=DoneOut)
def resume_search_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Continue a search that is paused or failed."""
    return {"done": resume_search(_search(project_for(request, slug, change=True), pk))}


@router.post("/searches/{int:pk}/cancel", response=DoneOut)
def cancel_search_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """End a search for good; what it tried is kept."""
    search = _search(project_for(request, slug, change=True), pk)
    return {"done": cancel_search(search, request.user)}


@router.post("/candidates/{int:pk}/look", response={200: dict[str, Any], 202: dict[str, Any]})
def take_look(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Test a change on the locked documents. 202 while they are being judged in a new wording: the
    look counts, and the same request gets its result later."""
    candidate = _candidate(project_for(request, slug, change=True), pk)
    # Known texts may have been loaded after the lock.
    refuse_second_draw(candidate.search.project)
    look = look_on_page(candidate, by=request.user)
    if look is None:
        return Status(202, {"run": candidate.look_run_id})
    return look_json(look)


@router.post("/candidates/{int:pk}/use", response={201: UsedOut})
def use_candidate(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Make a change a judge, or the judge's next version, and run it on every output."""
    judge, run = adopt(_candidate(project_for(request, slug, change=True), pk))
    return Status(201, {"judge": judge.pk, "label": judge.label, "run": run.pk})


def _search_out(search: Search) -> dict[str, Any]:
    order = search.candidates.select_related("look", "proposal", "adopted_as").order_by("pk")
    return search_json(search) | {"candidates": [candidate_json(candidate) for candidate in order]}


def _search(project: Project, pk: int) -> Search:
    rows = project.searches.select_related("judge", "criterion")
    return get_object_or_404(rows, pk=pk)


def _candidate(project: Project, pk: int) -> Candidate:
    rows = Candidate.objects.filter(search__project=project).select_related(
        "search__project", "search__judge", "search__criterion", "proposal", "look_run"
    )
    return get_object_or_404(rows, pk=pk)
