"""What this app adds to the site."""

from collections.abc import Mapping
from typing import Any

from assurance.certifying.sealed import sealed
from assurance.improving.work import (
    cancel_search,
    neglected_searches,
    pause_search,
    wake_for_search,
)
from assurance.instrument.asking import ask_what_is_due, record_what_ended
from assurance.instrument.sensitivity import instructed_judges, sensitivities
from assurance.instrument.studies import stop
from assurance.web.forms.certificates import CertificateForm
from evaluations.models import Judge, Project, Search, Study
from evaluations.models.row_by_row import for_each
from evaluations.registry import BEAT, MINUTE, Extension, Job, Lane


def _wake_for_searches() -> None:
    for_each(neglected_searches(), wake_for_search, job="searches")


def _pause(project: Project, cause: str) -> None:
    """Watches wait by themselves (`Study.objects.due`)."""
    for search in Search.objects.filter(project=project):
        pause_search(search, cause)


def _stop(project: Project) -> None:
    for search in Search.objects.filter(project=project):
        cancel_search(search, "deleting the project")
    for study in Study.objects.filter(project=project):
        stop(study)


def _judge_page(judge: Judge) -> Mapping[str, Any]:
    project = judge.project
    made = judge.certificates.select_related("criterion", "project")
    return {
        "sensitivities": sensitivities(project, judge),
        "certificates": [(certificate, sealed(certificate)) for certificate in made],
        "form": CertificateForm(project=project) if project.criteria.exists() else None,
    }


EXTENSION = Extension(
    urls="assurance.web.urls",
    api="assurance.web.api.app",
    jobs=(
        Job("searches", MINUTE, Lane.WAKE, _wake_for_searches),
        Job("record studies", BEAT, Lane.COMPUTE, record_what_ended),
        Job("ask studies", BEAT, Lane.COMPUTE, ask_what_is_due),
    ),
    pause=_pause,
    stop=_stop,
    judge_page=_judge_page,
    sensitivities=sensitivities,
    instructed=instructed_judges,
)
