"""The data that a search in a project chooses from: ratings and scores as arrays."""

from evaluations.models import CandidateOutput, Criterion, Judge, LockedDocuments, Project
from evaluations.reports.data import load_data
from geval.improving.ground import Ground, ground_in
from geval.statistics.types import IntArray

# Kinds fitted to ratings of any document, which may have seen the locked ones.
FITTED_KINDS = ("formula", "ensemble")


def ground_of(
    project: Project, judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> Ground:
    """Return the data for improving a judge on a criterion.

    Raises:
        ImproveError: the judge has no scores on it, or nobody has rated it.
    """
    newest = {each.name: each for each in project.judges.order_by("version")}
    judges = list({each.pk: each for each in (*newest.values(), judge)}.values())
    criteria = list(project.criteria.all())
    return ground_in(
        load_data(project, judges, criteria, with_withheld=True),
        list(newest.values()),
        judge,
        criteria,
        criterion,
        locked.among,
        fitted={each.pk for each in judges if each.kind in FITTED_KINDS},
    )


def outputs_at(ground: Ground, places: IntArray) -> list[CandidateOutput]:
    """Return the outputs at some positions, with their documents, in the same order."""
    ids = [int(pk) for pk in ground.output_ids[places]]
    by_pk = CandidateOutput.objects.select_related("document").in_bulk(ids)
    return [by_pk[pk] for pk in ids]
