"""HTTP API of certificates: check a judge, read a certificate, and whether it still fits."""

from typing import Annotated, Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Query, Router, Schema, Status
from ninja.errors import HttpError
from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

from assurance.certifying.certificates import COMMANDS, certify, read_requirements, what_changed
from assurance.certifying.sealed import sealed
from evaluations.models import Certificate, Project
from evaluations.reports.serving.live import too_large_for_page
from evaluations.web.api.auth import project_for
from evaluations.web.api.schemas import ID, In, Page, page_of
from geval.files.certificates import MOST_REQUIREMENTS, CertificateContent
from geval.reports.options import MEAN, Epsilon
from geval.statistics.consensus import HumanScore

router = Router()


class CertifyIn(In):
    """`judge` and `criterion` are ids; `require` are requirements such as
    `spearman.summary.low>=0.45` or `alt_test.passed`."""

    judge: int = ID
    criterion: int = ID
    require: list[str] = Field(min_length=1, max_length=MOST_REQUIREMENTS)
    epsilon: Epsilon = "0.2"
    human_score: HumanScore = MEAN


class _OfAnyContent:
    """The schema of a certificate; unsigned content may hold anything, so replies are not validated
    against it."""

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [handler(CertificateContent.__pydantic_core_schema__), {}]}


class CertificateOut(Schema):
    """`outcome` is the signed one; `problem` says why there is none to trust, and `certificate` is
    the content that was signed, which may be anything where it is not genuine."""

    id: int
    outcome: str
    is_genuine: bool
    problem: str
    signed_here: bool
    fingerprint: str
    certificate: Annotated[Any, _OfAnyContent()]


class CheckedCertificateOut(CertificateOut):
    """A certificate, whether it still fits, and what `changed` if it does not."""

    fits: bool
    changed: list[str]


class Certificates(Schema):
    items: list[CertificateOut]
    next: int | None


@router.get("/certificates", response=Certificates)
def list_certificates(request: HttpRequest, slug: Path[str], page: Query[Page]) -> Any:
    """Certificates, the oldest first, in pages."""
    return page_of(
        project_for(request, slug).certificates.select_related("judge", "criterion"), page, _out
    )


@router.post("/certificates", response={201: CertificateOut})
def make_certificate(request: HttpRequest, slug: Path[str], data: CertifyIn) -> Any:
    """Check whether a judge meets requirements on a criterion; `outcome` is the answer."""
    project = _of_a_page(project_for(request, slug, change=True))
    made = certify(
        get_object_or_404(project.judges, pk=data.judge),
        get_object_or_404(project.criteria, pk=data.criterion),
        read_requirements(data.require),
        epsilon=data.epsilon,
        human_score=data.human_score,
        by=request.user,
    )
    return Status(201, _out(made))


@router.get("/certificates/{int:pk}", response=CheckedCertificateOut)
def get_certificate(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """A certificate, whether it still `fits`, and what changed if it does not."""
    project = _of_a_page(project_for(request, slug))
    rows = project.certificates.select_related("judge__project", "criterion")
    made = get_object_or_404(rows, pk=pk)
    answer = _out(made)
    if not answer["is_genuine"]:
        return answer | {"fits": False, "changed": [answer["problem"]]}
    changed = what_changed(made)
    return answer | {"fits": not changed, "changed": changed}


def _of_a_page(project: Project) -> Project:
    if problem := too_large_for_page(project, *COMMANDS):
        raise HttpError(422, problem)
    return project


def _out(made: Certificate) -> dict[str, Any]:
    """Return a certificate as JSON; `outcome` is the signed one, or "not genuine" if the signature
    is invalid. For a certificate of another site, the outcome includes its fingerprint and “, says
    another site”, because it is that site's statement."""
    seal = sealed(made)
    return {
        "id": made.pk,
        "outcome": seal.said,
        "is_genuine": seal.outcome is not None,
        "problem": seal.problem,
        "signed_here": seal.is_ours,
        "fingerprint": seal.fingerprint,
        "certificate": made.content,
    }
