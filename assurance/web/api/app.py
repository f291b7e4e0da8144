"""The routes that this app adds to the API."""

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI

from assurance.instrument.studies import StudyError
from assurance.web.api.certificates import router as certificates
from assurance.web.api.disagreements import router as disagreements
from assurance.web.api.improving import router as improving
from assurance.web.api.instrument import router as instrument
from assurance.web.api.keeping import router as policies
from assurance.web.api.two_judges import router as two_judges
from evaluations.web.api.problems import problem
from geval.improving.ground import ImproveError
from geval.reports.requirements import RequirementError


def add_to(api: NinjaAPI) -> None:
    """Add the routes and the handlers of their errors."""
    api.add_router("/projects/{slug}", certificates, tags=["certificates"])
    api.add_router("/projects/{slug}", policies, tags=["policies"])
    api.add_router("/projects/{slug}", instrument, tags=["studies of judges"])
    api.add_router("/projects/{slug}", improving, tags=["improving judges"])
    api.add_router("/projects/{slug}", disagreements, tags=["runs and reports"])
    api.add_router("/projects/{slug}", two_judges, tags=["judges"])
    api.exception_handler(ImproveError)(_cannot_improve)
    api.exception_handler(StudyError)(_cannot_study)
    api.exception_handler(RequirementError)(_no_requirement)


def _cannot_improve(_request: HttpRequest, error: ImproveError) -> HttpResponse:
    return problem(409, "This cannot be searched or proven", str(error))


def _cannot_study(_request: HttpRequest, error: StudyError) -> HttpResponse:
    return problem(409, "The study cannot be started", str(error))


def _no_requirement(_request: HttpRequest, error: RequirementError) -> HttpResponse:
    return problem(422, "Invalid requirement", str(error))
