"""Looks at the locked documents: one per candidate, counted, and each at the price of wider
intervals."""

from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import QuerySet

from assurance.improving.rewording import wording_of
from assurance.improving.scoring import scoring_of
from assurance.improving.search_data import ground_of
from assurance.improving.trials import Trials
from evaluations.corpus.locks.draws import name_of, record, remember_look
from evaluations.corpus.locks.locking import DRAWS_LOCK, locked_of
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.models import Candidate, LockedDocuments, Look, Project, RunState
from evaluations.reports.serving.live import is_large, too_large_for_page
from geval.evaluators.formula import CriterionFormula
from geval.improving.ground import Ground, ImproveError
from geval.improving.proving import LookResult, all_looks_used, proof_of, values_of
from geval.improving.search import check_size
from geval.statistics.thresholds import FAILED_SHARE
from geval.statistics.types import FloatArray
from geval_site.sql import execute_sql

NOT_LOCKED = "No documents are locked; lock some before you search."
OPENED = "The documents were unlocked on {}, so nothing can be proven on them any more."


def usable_lock(project: Any) -> LockedDocuments:
    """Return a project's locked documents.

    Raises:
        ImproveError: there are none, or they were unlocked.
    """
    locked = locked_of(project)
    if locked is None:
        raise ImproveError(NOT_LOCKED)
    if locked.unlocked_at is not None:
        raise ImproveError(OPENED.format(f"{locked.unlocked_at:%Y-%m-%d}"))
    return locked


def look(candidate: Candidate, *, by: Any = None) -> Look | None:
    """Test a candidate against today's judge on the locked documents; repeated calls return the
    first look.

    A wording has no scores on these documents yet. Its look is counted, a run (`look_run`) judges
    them, and until that is done the result is None. A later call returns it.

    Raises:
        ImproveError: all looks are used, the documents were unlocked, or scores are missing.
    """
    project = candidate.search.project
    with transaction.atomic():
        usable_lock(project)
        # Lock, so that two people do not both take the last look.
        execute_sql("SELECT pg_advisory_xact_lock(%s)", [DRAWS_LOCK])
        locked = LockedDocuments.objects.select_for_update().get(project=project)
        before = Look.objects.filter(candidate=candidate).first()
        if before is not None:
            return before
        if candidate.look_run_id is None and looks_taken(locked) >= locked.looks_allowed:
            raise ImproveError(all_looks_used(locked.looks_allowed))
        ground = ground_of(project, candidate.search.judge, candidate.search.criterion, locked)
        check_size(ground)
        if candidate.proposal is None:
            values = values_of(ground, CriterionFormula.model_validate(candidate.formula))
        else:
            judged = _judged(ground, candidate, by=by)
            if judged is None:
                return None
            values = judged
        proof = proof_of(ground, candidate.measure, values, looks=locked.looks_allowed)
        person = candidate.look_by or by
        record(locked)
        result = Look.objects.create(
            locked=locked,
            candidate=candidate,
            looked_by=person,
            looked_by_name=name_of(person)[:200],
            **LookResult.of(proof, candidate.measure).columns(),
        )
        remember_look(result)
        return result


def look_on_page(candidate: Candidate, *, by: Any) -> Look | None:
    """Take a look in a web process.

    Raises:
        ImproveError: as `look`; or the project is too large for a page.
    """
    project, judge = candidate.search.project, candidate.search.judge
    words = f"improve {project.slug} --judge '{judge.label}' --look {candidate.pk}"
    if problem := too_large_for_page(project, words):
        raise ImproveError(problem)
    return look(candidate, by=by)


def looks_taken(locked: LockedDocuments) -> int:
    """Return how many looks are used, including looks whose documents are still being judged."""
    return locked.looks_used() + pending_looks(locked.project).count()


def finish_looks(project: Project) -> None:
    """Complete the looks whose documents have been judged. In a large project, the command that
    took them does this."""
    if is_large(project):
        return
    for candidate in pending_looks(project):
        if candidate.look_run and candidate.look_run.state == RunState.DONE:
            look(candidate)


def pending_looks(project: Project) -> QuerySet[Candidate]:
    """Return candidates whose looks are taken and have no result yet."""
    return Candidate.objects.filter(
        search__project=project, look_run__isnull=False, look=None
    ).select_related("search__project", "search__judge", "search__criterion", "look_run")


def _judged(ground: Ground, candidate: Candidate, *, by: Any) -> FloatArray | None:
    """Return a wording's scores of the locked documents, shape (outputs,); None while they are
    being judged."""
    assert candidate.proposal is not None
    trials = Trials(candidate.search, Shift())
    trials.scoring = scoring_of(candidate.proposal)
    wording = wording_of(candidate.proposal.texts)
    is_wanted = np.isin(ground.outputs.document, ground.locked) & ~np.isnan(ground.human)
    is_wanted &= ~np.isnan(ground.today)
    scores = np.full(len(ground.outputs), np.nan)
    scores[is_wanted] = trials.known(wording, ground.output_ids[is_wanted])
    missing = is_wanted & np.isnan(scores)
    run = candidate.look_run
    if run is None and missing.any():
        candidate.look_run = start_run(
            candidate.search.judge,
            [candidate.search.criterion],
            RunRequest(attempt=trials.attempt(wording, ground.output_ids[missing])),
        )
        candidate.look_by = by
        candidate.save(update_fields=["look_run", "look_by"])
        return None
    if run is not None and run.state != RunState.DONE:
        return None
    if missing.sum() > FAILED_SHARE * is_wanted.sum():
        raise ImproveError(
            f"{missing.sum()} of {is_wanted.sum()} locked outputs could not be judged in the new"
            f" wording. Retry the failed items of run {run.pk if run else ''} first."
        )
    return scores
