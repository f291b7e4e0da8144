"""A search as a row: asked for by a page, the API or a command, done by one worker."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from evaluations.improving.arms import ImproveError, ground_of
from evaluations.improving.looking import usable_lock
from evaluations.improving.search import Found, power, search
from evaluations.models import Candidate, Change, Criterion, ErrandState, Judge, Search
from evaluations.models.errands import MOST_ATTEMPTS
from evaluations.statistics.proof import confidence_of
from evaluations.waking import wake_for_search

# Longer than a search may take, so that a late worker has died.
LEASE = timedelta(minutes=15)
log = structlog.stdlib.get_logger(__name__)


def request_search(
    judge: Judge, criterion: Criterion, changes: Sequence[str], *, by: Any = None
) -> Search:
    """Have a worker search for changes; of two who ask at once both get the same search.

    Raises:
        ImproveError: no documents are locked, or an unknown change.
    """
    usable_lock(judge.project)
    wanted = _known(changes)
    with transaction.atomic():
        Judge.objects.select_for_update().get(pk=judge.pk)
        open_one = Search.objects.filter(
            judge=judge,
            criterion=criterion,
            state__in=(ErrandState.WAITING, ErrandState.ASKING),
        ).first()
        if open_one is not None:
            return open_one
        made = Search.objects.create(
            project=judge.project,
            judge=judge,
            criterion=criterion,
            changes=wanted,
            made_by=by,
            state=ErrandState.WAITING,
        )
        transaction.on_commit(lambda: wake_for_search(made.pk))
    return made


def _known(changes: Sequence[str]) -> list[str]:
    unknown = [name for name in changes if name not in Change.values]
    if unknown or not changes:
        known = ", ".join(Change.values)
        raise ImproveError(
            f"There is no change {unknown[0]!r}; choose from {known}."
            if unknown
            else f"Choose at least one change: {known}."
        )
    return list(dict.fromkeys(changes))


def work_on_search(pk: int) -> None:
    """Do a search, if nobody else does."""
    claimed = Search.objects.free().filter(pk=pk, attempts__lt=MOST_ATTEMPTS)
    if not claimed.update(
        state=ErrandState.ASKING,
        attempts=F("attempts") + 1,
        taken_until=timezone.now() + LEASE,
        message="",
    ):
        return
    wanted = Search.objects.select_related("project", "judge", "criterion").get(pk=pk)
    try:
        found, basis = _searched(wanted)
    except ImproveError as error:
        _fail(wanted, str(error))
    except Exception as error:
        log.exception("search failed unexpectedly", search=pk)
        _fail(wanted, f"It failed unexpectedly ({type(error).__name__}). Try again.")
    else:
        _keep(wanted, found, basis)


def neglected_searches() -> list[int]:
    """Searches that nobody does; those that were begun too often are ended."""
    free = Search.objects.free()
    free.filter(attempts__gte=MOST_ATTEMPTS).update(
        state=ErrandState.FAILED,
        message=(
            f"{MOST_ATTEMPTS} workers started it and none finished. Is a worker being stopped or"
            " running out of memory? Try again later."
        ),
    )
    return list(free.values_list("pk", flat=True)[:100])


def _searched(wanted: Search) -> tuple[list[Found], dict[str, Any]]:
    locked = usable_lock(wanted.project)
    ground = ground_of(wanted.project, wanted.judge, wanted.criterion, locked)
    done = search(ground, wanted.changes)
    can_show = power(ground, confidence=confidence_of(locked.looks_allowed, 1))
    return done.candidates, {
        "training": done.training,
        "locked": done.locked,
        "today": done.today,
        "left_out": done.left_out,
        "smallest_gain": can_show and can_show.smallest,
        "wanted_gain": can_show and can_show.wanted,
        "locked_for_wanted": can_show and can_show.documents,
    }


@transaction.atomic
def _keep(wanted: Search, found: list[Found], basis: dict[str, Any]) -> None:
    """Store what was found, unless another worker took this one for dead."""
    mine = Search.objects.filter(pk=wanted.pk, state=ErrandState.ASKING, attempts=wanted.attempts)
    if not mine.update(state=ErrandState.DONE, message="", taken_until=None, found=basis):
        return
    Candidate.objects.bulk_create(
        Candidate(
            search=wanted,
            change=one.change,
            measure=one.measure,
            title=one.title[:200],
            description=one.description[:1000],
            formula=one.formula.model_dump(mode="json"),
            training=one.training(),
        )
        for one in found
    )


def _fail(wanted: Search, message: str) -> None:
    Search.objects.filter(pk=wanted.pk, state=ErrandState.ASKING, attempts=wanted.attempts).update(
        state=ErrandState.FAILED, message=message[:1000], taken_until=None
    )
