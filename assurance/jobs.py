"""This app's periodic jobs."""

from assurance.improving.work import neglected_searches, wake_for_search
from assurance.instrument.asking import record_ended_parts, start_due_parts
from assurance.keeping.proofs import answer_requests
from assurance.keeping.using import decide_new_outputs
from evaluations.models.row_by_row import for_each
from geval_site.extensions import BEAT, MINUTE, Job, Lane


def _wake_for_searches() -> None:
    for_each(neglected_searches(), wake_for_search, job="searches")


JOBS = (
    Job("searches", MINUTE, Lane.WAKE, _wake_for_searches),
    Job("policy questions", MINUTE, Lane.COMPUTE, answer_requests),
    Job("policies", MINUTE, Lane.COMPUTE, decide_new_outputs),
    Job("record studies", BEAT, Lane.COMPUTE, record_ended_parts),
    Job("ask studies", BEAT, Lane.COMPUTE, start_due_parts),
)
