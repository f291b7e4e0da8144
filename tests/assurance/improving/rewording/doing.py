"""Searches for wordings, done and forgotten."""

from assurance.improving.looking import look
from assurance.improving.work import SearchLimits, request_search, work_on_search
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Candidate, Change, Criterion, Judge, ModelReply, RunItem, Search

LIMITS = SearchLimits(most_calls=600)


def reworded(
    judge: Judge,
    criterion: Criterion,
    limits: SearchLimits = LIMITS,
    *,
    change: str = Change.WORDING,
) -> Search:
    search = request_search(judge, criterion, [change], limits=limits)
    while work_on_search(search.pk):
        pass
    search.refresh_from_db()
    return search


def work_on_look(candidate: Candidate) -> None:
    while look(candidate) is None:
        candidate.refresh_from_db()
        assert candidate.look_run is not None
        work_on_run(candidate.look_run.pk, "tester")
        candidate.refresh_from_db()


def forget(search: Search) -> None:
    """Remove a search with what it tried, its replies in the store included."""
    replies = list(
        ModelReply.objects.filter(items__run__search=search).values_list("pk", flat=True)
    )
    RunItem.objects.filter(run__search=search).delete()
    used = RunItem.objects.filter(reply__isnull=False).values_list("reply", flat=True)
    ModelReply.objects.filter(pk__in=set(replies) - set(used)).delete()
    search.delete()
