"""The pages, parts and hooks that this app adds to the site."""

from collections.abc import Mapping
from typing import Any

from assurance.certifying.sealed import sealed
from assurance.disagreements.numbers import PAGES as OF_DISAGREEMENTS
from assurance.improving.work import neglected_searches, wake_for_search
from assurance.instrument.asking import record_ended_parts, start_due_parts
from assurance.instrument.sensitivity import instructed_judges, sensitivities
from assurance.two_judges.pair_figures import PAGES as OF_TWO_JUDGES
from assurance.web.forms.certificates import CertificateForm
from evaluations.models import Judge
from evaluations.models.row_by_row import for_each
from geval_site.extensions import BEAT, MINUTE, Extension, Job, Lane

ACTIONS = {
    "cancelled a search for a better judge": "api:cancel_search_by_id evaluations:search_cancel",
    "locked documents": "api:make_locked evaluations:lock_create",
    "started a search for a better judge": "api:make_search evaluations:search_create",
    "started a study of a judge": "api:make_study_of evaluations:judge_study",
    "stopped a study of a judge": "api:stop_study_by_id evaluations:study_stop",
    "paused a search for a better judge": "api:pause_search_by_id evaluations:search_pause",
    "resumed a search for a better judge": "api:resume_search_by_id evaluations:search_resume",
    "looked at the locked documents": "api:take_look evaluations:look_create",
    "adopted an improved judge": "api:use_candidate evaluations:candidate_adopt",
    "certified a judge": "api:make_certificate evaluations:judge_certify",
    "gave a disagreement a cause": "evaluations:cause_give",
    "added examples to a judge's prompt": "evaluations:examples_add",
    "removed the cause of a disagreement": "evaluations:cause_remove",
    "unlocked the locked documents": "evaluations:lock_open",
}


def _wake_for_searches() -> None:
    for_each(neglected_searches(), wake_for_search, job="searches")


def _judge_page(judge: Judge) -> Mapping[str, Any]:
    project = judge.project
    made = judge.certificates.select_related("criterion", "project")
    return {
        "sensitivities": sensitivities(project, judge),
        "certificates": [(certificate, sealed(certificate)) for certificate in made],
        "form": CertificateForm(project=project) if project.criteria.exists() else None,
        "added": "assurance/certificates.html",
    }


EXTENSION = Extension(
    urls="assurance.web.urls",
    api="assurance.web.api.app",
    jobs=(
        Job("searches", MINUTE, Lane.WAKE, _wake_for_searches),
        Job("record studies", BEAT, Lane.COMPUTE, record_ended_parts),
        Job("ask studies", BEAT, Lane.COMPUTE, start_due_parts),
    ),
    links={
        "searches": "evaluations:improve",
        "disagreements": "evaluations:disagreement_list",
        "compare": "evaluations:judge_compare",
        "reliability": "evaluations:judge_instrument",
    },
    actions=ACTIONS,
    judge_page=_judge_page,
    sensitivities=sensitivities,
    instructed=instructed_judges,
    report_pages=(*OF_DISAGREEMENTS, *OF_TWO_JUDGES),
    tools="assurance.web.agents.AssuranceTools",
)
