"""HTTP API of studies of a judge as an instrument: start, read and stop them."""

from decimal import Decimal
from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Query, Router, Status

from assurance.instrument.page import shown, study_json
from assurance.instrument.studies import make_study, stop
from evaluations.models import Study
from evaluations.models.instrument import MOST_REPLIES
from evaluations.web.api.auth import project_for
from evaluations.web.api.schemas import ID, In, Page, page_of
from geval.statistics.thresholds import STUDY_MOST_OUTPUTS, STUDY_OUTPUTS

router = Router()


class StudyIn(In):
    """`kind` is "again" (asked again) or "probes"; `criterion` is an id; `replies` counts the
    scores of each output that are asked for. What asking again showed is at
    `GET …/judges/{id}/steadiness`."""

    kind: Literal["again", "probes"]
    criterion: int = ID
    items: int | None = Field(None, ge=STUDY_OUTPUTS, le=STUDY_MOST_OUTPUTS)
    replies: int | None = Field(None, ge=1, le=MOST_REPLIES)
    budget: Decimal | None = Field(None, ge=0, max_digits=14, decimal_places=4)


@router.get("/judges/{int:pk}/studies", response=dict[str, Any])
def list_studies(request: HttpRequest, slug: Path[str], pk: int, page: Query[Page]) -> Any:
    """A judge's studies, the oldest first, in pages."""
    judge = get_object_or_404(project_for(request, slug).judges, pk=pk)
    rows = judge.studies.select_related("criterion", "judge")
    return page_of(rows, page, lambda study: study_json(shown(study)))


@router.post("/judges/{int:pk}/studies", response={201: dict[str, Any]}, operation_id="make_study")
def make_study_of(request: HttpRequest, slug: Path[str], pk: int, data: StudyIn) -> Any:
    """Start a study; poll it at `GET …/studies/{id}`."""
    project = project_for(request, slug, change=True)
    judge = get_object_or_404(project.judges, pk=pk)
    about = data.dict()
    criterion = get_object_or_404(project.criteria, pk=about.pop("criterion"))
    study = make_study(judge, criterion, about.pop("kind"), **about, by=request.user)
    return Status(201, study_json(shown(study)))


@router.get("/studies/{int:pk}", response=dict[str, Any])
def get_study(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """A study, how far it is, and what it found."""
    studies = project_for(request, slug).studies.select_related("criterion", "judge")
    return study_json(shown(get_object_or_404(studies, pk=pk)))


@router.post("/studies/{int:pk}/stop", response=dict[str, Any])
def stop_study_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Stop a study for good; what it found is kept."""
    studies = project_for(request, slug, change=True).studies.select_related("criterion", "judge")
    study = get_object_or_404(studies, pk=pk)
    stop(study)
    return study_json(shown(Study.objects.select_related("criterion", "judge").get(pk=study.pk)))
