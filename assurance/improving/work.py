"""A search as a row: requested by a page, the API or a command, and done by one worker at a
time."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from assurance.improving.looking import usable_lock
from assurance.improving.rewording import Reworded, reword, why_not_reworded
from assurance.improving.scoring import scoring_in_words
from assurance.improving.search_data import ground_of
from assurance.improving.trials import LEASE, Leaving, LeftError, spent_on
from evaluations.judging.runs.lifecycle import cancel_run, pause_by_person
from evaluations.judging.runs.shift import Shift
from evaluations.models import Candidate, Change, Criterion, ErrandState, Judge, Proposal, Search
from evaluations.models.errands import MOST_ATTEMPTS
from evaluations.models.improving import ASKING_CHANGES, OPEN_STATES
from evaluations.people.limits import LimitError, check_start
from evaluations.people.waking import send
from geval.improving.ground import ImproveError
from geval.improving.search import FoundChange, power, search
from geval.llm.prompt_examples import read_examples
from geval.statistics.held_out_test import confidence_of
from geval_site.queues import SEARCH_CHANGES, worker_name

log = structlog.stdlib.get_logger(__name__)
SEARCH_IS_OVER = "Its search is over."


@dataclass(frozen=True)
class SearchLimits:
    """Limits on the calls of a search.

    Args:
        most_calls: calls to endpoints, including reflections.
        budget: money in the currency of the judge's prices; None for no limit.
        reflector: the judge whose model proposes wordings; None for the judge itself.
    """

    most_calls: int = 400
    budget: Decimal | None = None
    reflector: Judge | None = None


def request_search(
    judge: Judge,
    criterion: Criterion,
    changes: Sequence[str],
    *,
    by: Any = None,
    limits: SearchLimits | None = None,
) -> Search:
    """Have a worker search for changes; concurrent requests share one search.

    Raises:
        ImproveError: no documents are locked, an unknown change, a judge without a wording, or a
            limit was reached.
    """
    if reason := criterion.why_items:
        raise ImproveError(reason)
    usable_lock(judge.project)
    wanted, within = _known(changes), limits or SearchLimits()
    search = Search(
        project=judge.project,
        judge=judge,
        criterion=criterion,
        changes=wanted,
        made_by=by,
        state=ErrandState.WAITING,
        most_calls=within.most_calls,
        budget=within.budget,
        reflector=within.reflector,
    )
    if search.asks_models:
        _check_rewording(search)
    try:
        check_start(judge.project)
    except LimitError as error:
        raise ImproveError(str(error)) from None
    with transaction.atomic():
        # Two requests at once would each find no open search and start one.
        Judge.objects.select_for_update().get(pk=judge.pk)
        open_one = Search.objects.filter(
            judge=judge, criterion=criterion, state__in=OPEN_STATES
        ).first()
        if open_one is not None:
            return open_one
        search.save()
        transaction.on_commit(lambda: wake_for_search(search.pk))
    return search


def _check_rewording(search: Search) -> None:
    if problem := why_not_reworded(search):
        raise ImproveError(problem)
    judge = search.judge
    if search.budget is not None and (judge.price_in is None or judge.price_out is None):
        raise ImproveError(
            f"A budget needs prices: give {judge} its prices for a million tokens in and out."
        )
    if search.most_calls < 1 or (search.budget is not None and search.budget <= 0):
        raise ImproveError("Allow at least one call, and a budget above 0.")


# Pause, resume, cancel


def pause_search(wanted: Search, person: object) -> bool:
    """Pause a search until a person resumes it; return True if it was active."""
    if not Search.objects.filter(pk=wanted.pk).pause(person):
        return False
    for run in wanted.runs.unfinished():
        pause_by_person(run.pk, person)
    return True


def cancel_search(wanted: Search, person: object) -> bool:
    """Cancel a search for good, keeping its results so far; return True if it was not over."""
    if not Search.objects.filter(pk=wanted.pk).cancel(person):
        return False
    for run in wanted.runs.unfinished():
        cancel_run(run.pk, SEARCH_IS_OVER)
    return True


def resume_search(wanted: Search) -> bool:
    """Resume a paused or failed search; return True if it was paused or failed."""
    stopped = Search.objects.filter(
        pk=wanted.pk, state__in=(ErrandState.PAUSED, ErrandState.FAILED)
    )
    if not stopped.update(state=ErrandState.WAITING, message="", attempts=0, worker=""):
        return False
    transaction.on_commit(lambda: wake_for_search(wanted.pk))
    return True


def _known(changes: Sequence[str]) -> list[str]:
    unknown = [name for name in changes if name not in Change.values]
    if unknown or not changes:
        names = ", ".join(Change.values)
        raise ImproveError(
            f"There is no change {unknown[0]!r}; choose from {names}."
            if unknown
            else f"Choose at least one change: {names}."
        )
    return list(dict.fromkeys(changes))


def wake_for_search(search_id: int) -> None:
    """Wake a worker for a search."""
    send(SEARCH_CHANGES, search_id)


# Working


def work_on_search(pk: int, shift: Shift | None = None) -> bool:
    """Do a search, unless another worker does; return True if it should be continued at once.

    Args:
        shift: when to leave the search.
    """
    worker = f"{worker_name()}:{uuid.uuid4().hex[:12]}"
    claimed = Search.objects.free().filter(pk=pk, attempts__lt=MOST_ATTEMPTS)
    if not claimed.update(
        state=ErrandState.ASKING,
        attempts=F("attempts") + 1,
        taken_until=timezone.now() + LEASE,
        worker=worker,
        message="",
    ):
        return False
    wanted = Search.objects.select_related(
        "project", "judge__endpoint", "criterion", "reflector__endpoint"
    ).get(pk=pk)
    try:
        changes, basis = _searched(wanted, shift or Shift())
    except LeftError as left:
        return _leave(wanted, left)
    except ImproveError as error:
        _fail(wanted, str(error))
    except Exception as error:
        log.exception("search failed unexpectedly", search=pk)
        _fail(wanted, f"It failed unexpectedly ({type(error).__name__}). Try again.")
    else:
        _keep(wanted, changes, basis)
    return False


def neglected_searches() -> list[int]:
    """Return searches that no worker does; those that were started too often are ended."""
    return Search.objects.neglected()


def _leave(wanted: Search, left: LeftError) -> bool:
    """Release a search; leaving does not count as a failed attempt."""
    if left.why is Leaving.LOST:
        return False
    halted = left.why is Leaving.HALTED
    _mine(wanted).update(
        state=ErrandState.PAUSED if halted else ErrandState.WAITING,
        attempts=Greatest(F("attempts") - 1, 0),
        message=left.message[:1000],
        taken_until=None,
        worker="",
    )
    return left.why is Leaving.SHIFT


def _mine(wanted: Search) -> Any:
    return Search.objects.filter(pk=wanted.pk, state=ErrandState.ASKING, worker=wanted.worker)


def _searched(wanted: Search, shift: Shift) -> tuple[list[FoundChange], dict[str, Any]]:
    locked = usable_lock(wanted.project)
    ground = ground_of(wanted.project, wanted.judge, wanted.criterion, locked)
    others = [name for name in wanted.changes if name not in ASKING_CHANGES]
    done = search(ground, others)
    changes, about = done.candidates, {}
    if wanted.asks_models:
        changes = [_found(each, ground.measure) for each in reword(wanted, ground, shift)] + changes
        spent = spent_on(wanted)
        about = {
            "calls": spent.calls,
            "cost": None if spent.money is None else str(spent.money),
            "wordings": wanted.proposals.exclude(number=0).count(),
        }
    can_show = power(ground, confidence=confidence_of(locked.looks_allowed, 1))
    return changes, about | {
        "training": done.training,
        "locked": done.locked,
        "today": done.today,
        "left_out": done.left_out,
        "smallest_gain": can_show and can_show.smallest,
        "wanted_gain": can_show and can_show.wanted,
        "locked_for_wanted": can_show and can_show.documents,
        **({"what_numbers_speak_of": list(ground.sample)} if ground.sample else {}),
    }


@transaction.atomic
def _keep(wanted: Search, changes: list[FoundChange], basis: dict[str, Any]) -> None:
    """Store the results, unless another worker has taken over."""
    if not _mine(wanted).update(
        state=ErrandState.DONE, message="", taken_until=None, worker="", found=basis
    ):
        return
    for run in wanted.runs.unfinished():
        cancel_run(run.pk, SEARCH_IS_OVER)
    Candidate.objects.bulk_create(
        Candidate(
            search=wanted,
            change=change.change,
            measure=change.measure,
            title=change.title[:200],
            description=change.description[:1000],
            formula=change.formula.model_dump(mode="json") if change.formula else {},
            proposal_id=change.proposal,
            training=change.training(),
        )
        for change in changes
    )


def _fail(wanted: Search, message: str) -> None:
    _mine(wanted).update(
        state=ErrandState.FAILED, message=message[:1000], taken_until=None, worker=""
    )


def _found(reworded: Reworded, measure: str) -> FoundChange:
    """Return a proposal as a candidate."""
    proposal = reworded.proposal
    return FoundChange(
        reworded.change,
        _title(reworded.change, proposal),
        None,
        reworded.today,
        reworded.candidate,
        reworded.documents,
        measure=measure,
        description=f"the best of {reworded.tried} that were proposed",
        proposal=proposal.pk,
    )


def _title(change: Change, proposal: Proposal) -> str:
    if change == Change.WORDING:
        return f"Wording {proposal.number}"
    if change == Change.SCORING:
        return scoring_in_words(proposal)
    count = sum(1 for _example in read_examples(proposal.texts["examples"]))
    nearest = proposal.texts.get("nearest")
    if nearest and nearest != "0":
        return f"The {nearest} nearest of {count} rated examples"
    return f"{count} rated examples"
