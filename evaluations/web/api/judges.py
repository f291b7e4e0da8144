"""HTTP API of endpoints and judges: list, create, change, probe, retire; never returns keys."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Router, Schema, Status
from pydantic import ConfigDict

from evaluations.corpus.families import keep_families
from evaluations.judging.judges.clients import findings_of
from evaluations.judging.judges.judges import (
    EndpointDraft,
    JudgeDraft,
    change_judge,
    create_judge,
    draft_of,
    retire,
    save_endpoint,
)
from evaluations.judging.runs.accounts import warn_of_key
from evaluations.judging.runs.errands import request_probe
from evaluations.models import Endpoint, Judge, JudgeKind, ModelProbe
from evaluations.models.judges import validate_request_options
from evaluations.reports.steadiness import steadiness
from evaluations.web.api.auth import CALLS_OUT, project_for
from evaluations.web.api.schemas import LARGEST_ID, In
from evaluations.web.revisions import Change, Revised, editing
from geval.files.project_fields import EndpointFields
from geval.llm.judge_settings import JudgeSettings
from geval.reports.steadiness import steadiness_json

router = Router()


class EndpointIn(EndpointFields, In):
    """`key` is stored encrypted; leave it out to keep the stored key, send an empty text to delete
    it. `headers` that calls carry, by name, are stored in the same way; an empty object deletes
    them."""

    name: str = Field("", max_length=100)
    key: str | None = Field(None, max_length=2000)
    headers: dict[str, str] | None = None


class EndpointChange(EndpointIn, Change):
    """What is left out stays as it is, also `key` and `headers`; another address needs them
    again."""

    base_url: str = Field("", max_length=500)


class EndpointOut(Revised):
    """`warnings` are sentences about what should be done, such as that its key is not set."""

    id: int
    name: str
    base_url: str
    api_version: str
    key_env: str
    has_stored_key: bool
    has_stored_headers: bool
    requests_per_minute: int | None
    tokens_per_minute: int | None
    parallel_calls: int | None
    retired_at: datetime | None
    warnings: list[str]

    @staticmethod
    def resolve_has_stored_key(endpoint: Endpoint) -> bool:
        return bool(endpoint.sealed_key)

    @staticmethod
    def resolve_has_stored_headers(endpoint: Endpoint) -> bool:
        return bool(endpoint.sealed_headers)

    @staticmethod
    def resolve_warnings(endpoint: Endpoint) -> list[str]:
        return [text for text in (warn_of_key(endpoint),) if text]


class ProbeIn(In):
    """`request_options` are those of the judge that it is for."""

    model: str = Field(min_length=1, max_length=200)
    request_options: dict[str, Any] = Field(default_factory=dict)


class ProbeOut(Schema):
    """`state` is waiting, asking, done or failed (`message` says why). Findings of an earlier probe
    stay until then."""

    id: int
    model: str
    state: str
    message: str
    address: str
    findings: dict[str, Any] | None
    probed_at: datetime | None

    @staticmethod
    def resolve_address(probe: ModelProbe) -> str:
        return probe_address(probe)

    @staticmethod
    def resolve_findings(probe: ModelProbe) -> dict[str, Any] | None:
        if not probe.findings:
            return None
        return findings_of(probe).as_json()


def probe_address(probe: ModelProbe) -> str:
    """Return the API address of a probe's progress."""
    endpoint = probe.endpoint
    return f"/api/v1/projects/{endpoint.project.slug}/endpoints/{endpoint.pk}/probes/{probe.pk}"


class JudgeIn(JudgeSettings, In):
    """If `mode` is empty, the best supported one is used; `endpoint` and `model` are for kinds that
    ask an LLM."""

    model_config = ConfigDict(frozen=False)

    name: str = Field(min_length=1, max_length=200)
    kind: str = Field("geval", max_length=40)
    settings: dict[str, Any] = Field(default_factory=dict)
    endpoint: int | None = Field(None, le=LARGEST_ID)
    model: str = Field("", max_length=200)
    probe: bool = True


class JudgeChange(JudgeIn, Change):
    """What is left out stays as it is."""

    name: str = Field("", min_length=1, max_length=200)


class JudgeOut(Revised):
    """`warnings` are those of its endpoint."""

    id: int
    label: str
    name: str
    version: int
    kind: str
    settings: dict[str, Any]
    endpoint_id: int | None
    model: str
    family: str
    mode: str
    samples: int
    temperature: float
    use_steps: bool
    concurrency: int
    max_tokens: int
    timeout_seconds: float | None
    min_coverage: float
    request_options: dict[str, Any]
    price_in: Decimal | None
    price_out: Decimal | None
    price_cached: Decimal | None
    is_frozen: bool
    is_stand_in: bool
    retired_at: datetime | None
    warnings: list[str]

    @staticmethod
    def resolve_warnings(judge: Judge) -> list[str]:
        return [text for text in (warn_of_key(judge.endpoint),) if text]


class Retired(Change):
    retired: bool


class FamilyIn(Change):
    """Of models, such as gpt; empty: guessed from names."""

    family: str = Field(max_length=60)


@router.get("/endpoints", response=list[EndpointOut])
def list_endpoints(request: HttpRequest, slug: Path[str]) -> Any:
    """All endpoints of a project, retired ones included."""
    return project_for(request, slug).endpoints.all()


@router.post("/endpoints", response={201: EndpointOut}, auth=CALLS_OUT)
def make_endpoint(request: HttpRequest, slug: Path[str], data: EndpointIn) -> Any:
    """Create an endpoint."""
    return Status(
        201, save_endpoint(project_for(request, slug, change=True), EndpointDraft(**data.dict()))
    )


@router.put("/endpoints/{int:pk}", response=EndpointOut, auth=CALLS_OUT)
def change_endpoint(request: HttpRequest, slug: Path[str], pk: int, data: EndpointChange) -> Any:
    """Change an endpoint."""
    project, sent = project_for(request, slug, change=True), data.sent()
    with editing(project.endpoints.all(), data, EndpointOut.from_orm, pk=pk) as endpoint:
        kept = {name: getattr(endpoint, name) for name in ("name", *EndpointFields.model_fields)}
        # The key of a variable goes to another address only if the request names the variable.
        draft = EndpointDraft(**kept | sent, confirms_key_env="key_env" in sent)
        return save_endpoint(project, draft, endpoint=endpoint)


@router.post("/endpoints/{int:pk}/probe", response={202: ProbeOut}, operation_id="probe_endpoint")
def probe(request: HttpRequest, slug: Path[str], pk: int, data: ProbeIn) -> Any:
    """Have a worker probe the endpoint for a model; poll `address` for the progress."""
    endpoint = _endpoint(request, slug, pk)
    if endpoint.retired_at:
        raise ValidationError("This endpoint is retired and is not called. Restore it first.")
    validate_request_options(data.request_options)
    return Status(202, request_probe(endpoint, data.model.strip(), data.request_options))


@router.get("/endpoints/{int:pk}/probes/{int:probe}", response=ProbeOut)
def show_probe(request: HttpRequest, slug: Path[str], pk: int, probe: int) -> Any:
    """The progress and findings of a probe."""
    endpoint = get_object_or_404(Endpoint, project=project_for(request, slug), pk=pk)
    return get_object_or_404(ModelProbe, endpoint=endpoint, pk=probe)


@router.put("/endpoints/{int:pk}/retired", response=EndpointOut, auth=CALLS_OUT)
def retire_endpoint(request: HttpRequest, slug: Path[str], pk: int, data: Retired) -> Any:
    """Retire an endpoint, or restore it."""
    project = project_for(request, slug, change=True)
    with editing(project.endpoints.all(), data, EndpointOut.from_orm, pk=pk) as endpoint:
        retire(endpoint, back=not data.retired)
        return endpoint


@router.get("/judges", response=list[JudgeOut])
def list_judges(request: HttpRequest, slug: Path[str]) -> Any:
    """All judges of a project, with all their versions."""
    return project_for(request, slug).judges.select_related("endpoint")


@router.post("/judges", response={200: JudgeOut, 201: JudgeOut})
def make_judge(request: HttpRequest, slug: Path[str], data: JudgeIn) -> Any:
    """Create a judge; repeating the request returns the existing one, with status 200."""
    project = project_for(request, slug, change=True)
    judge, made = create_judge(
        project, JudgeDraft(**_values(request, slug, data.dict())), probe=data.probe, here=False
    )
    return Status(201 if made else 200, judge)


@router.put("/judges/{int:pk}", response=JudgeOut)
def edit_judge(request: HttpRequest, slug: Path[str], pk: int, data: JudgeChange) -> Any:
    """Change a judge; once runs have used it, this creates and returns a new version."""
    with editing(_judges(request, slug), data, JudgeOut.from_orm, pk=pk) as judge:
        values = _values(request, slug, data.sent())
        return change_judge(judge, draft_of(judge).changed(**values), probe=data.probe, here=False)


@router.put("/judges/{int:pk}/retired", response=JudgeOut)
def retire_judge(request: HttpRequest, slug: Path[str], pk: int, data: Retired) -> Any:
    """Retire a judge, or restore it; its scores are kept."""
    with editing(_judges(request, slug), data, JudgeOut.from_orm, pk=pk) as judge:
        retire(judge, back=not data.retired)
        return judge


@router.get("/judges/{int:pk}/steadiness", response=dict[str, Any])
def get_steadiness(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """How far the judge's replies to the same question differ, by criterion; empty where its scores
    rest on one reply each."""
    judge = get_object_or_404(project_for(request, slug).judges, pk=pk)
    return {"criteria": {each.criterion: steadiness_json(each) for each in steadiness(judge)}}


@router.put("/judges/{int:pk}/family", response=JudgeOut)
def edit_judge_family(request: HttpRequest, slug: Path[str], pk: int, data: FamilyIn) -> Any:
    """Say of which family of models a judge is, whose own texts it may prefer; it gets no new
    version."""
    project = project_for(request, slug, change=True)
    with editing(project.judges.all(), data, JudgeOut.from_orm, pk=pk) as judge:
        judge.family = data.family
        keep_families(project, judges=[judge])
        return judge


def _endpoint(request: HttpRequest, slug: str, pk: int) -> Endpoint:
    return get_object_or_404(Endpoint, project=project_for(request, slug, change=True), pk=pk)


def _judges(request: HttpRequest, slug: str) -> QuerySet[Judge]:
    return project_for(request, slug, change=True).judges.exclude(kind=JudgeKind.IMPORTED)


def _values(request: HttpRequest, slug: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return a judge's values, with the endpoint in place of its id."""
    pk = values.get("endpoint")
    endpoint = {"endpoint": pk and _endpoint(request, slug, pk)} if "endpoint" in values else {}
    return {name: value for name, value in values.items() if name != "probe"} | endpoint
