"""The pages, parts and hooks that this app adds to the site."""

from collections.abc import Mapping
from typing import Any

from assurance.certifying.sealed import sealed
from assurance.disagreements.numbers import PAGES as OF_DISAGREEMENTS
from assurance.improving.work import neglected_searches, wake_for_search
from assurance.instrument.asking import record_ended_parts, start_due_parts
from assurance.instrument.sensitivity import instructed_judges, sensitivities
from assurance.two_judges.parts import PAGES as OF_TWO_JUDGES
from assurance.web.forms.certificates import CertificateForm
from evaluations.models import Judge
from evaluations.models.row_by_row import for_each
from geval_site.extensions import BEAT, MINUTE, Extension, Job, Lane


def _wake_for_searches() -> None:
    for_each(neglected_searches(), wake_for_search, job="searches")


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
        Job("record studies", BEAT, Lane.COMPUTE, record_ended_parts),
        Job("ask studies", BEAT, Lane.COMPUTE, start_due_parts),
    ),
    judge_page=_judge_page,
    sensitivities=sensitivities,
    instructed=instructed_judges,
    report_pages=(*OF_DISAGREEMENTS, *OF_TWO_JUDGES),
    tools="assurance.web.agents.AssuranceTools",
)
