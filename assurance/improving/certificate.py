"""The results of a search and its looks, as sentences and as JSON."""

from typing import Any

from evaluations.corpus.locks.draws import earlier_draws, record
from evaluations.models import (
    Candidate,
    Change,
    ErrandState,
    LockedDocuments,
    LockEvent,
    Look,
    Proposal,
    Search,
)
from evaluations.models.improving import ASKING_CHANGES
from geval.improving.changes import NO_ORDER, NOTHING_BETTER
from geval.improving.words import sentence
from geval.statistics.held_out_test import ProofOutcome

_FOUND_NOTHING: dict[str, str] = {
    Change.WORDING: "tried, and no proposal was kept",
    Change.EXAMPLES: "tried, and no set of examples was kept",
    Change.SCORING: "tried, and no other scoring was kept",
    **NOTHING_BETTER,
}


def sentence_of(candidate: Candidate) -> str:
    """Describe a candidate's result in one sentence."""
    return sentence(candidate.title, candidate.measure, candidate.training, look_of(candidate))


def look_of(candidate: Candidate) -> Look | None:
    """Return the look at a candidate, if there was one."""
    return getattr(candidate, "look", None)


def not_tried(search: Search) -> tuple[tuple[str, str], ...]:
    """Return what a search left out or improved nothing with, and why: changes, then judges."""
    if search.state != ErrandState.DONE:
        return ()
    tried = set(search.candidates.values_list("change", flat=True))
    why = _FOUND_NOTHING | ({} if search.criterion.is_ordered else NO_ORDER)
    changes = [
        (
            change.label,
            why[change]
            if change in search.changes
            else "it was not asked for" + (", as it makes calls" * (change in ASKING_CHANGES)),
        )
        for change in Change
        if change not in tried
    ]
    return (*changes, *search.found.get("left_out", {}).items())


def search_json(search: Search) -> dict[str, Any]:
    return {
        "search": search.pk,
        "judge": search.judge.label,
        "criterion": search.criterion.name,
        "changes": search.changes,
        "state": search.state,
        "message": search.message or None,
        **search.found,
        "not_tried": dict(not_tried(search)),
    }


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    look = look_of(candidate)
    return {
        "candidate": candidate.pk,
        "change": candidate.change,
        "title": candidate.title,
        "description": candidate.description,
        "measure": candidate.measure,
        "training": candidate.training,
        "formula": candidate.formula or None,
        "wording": candidate.proposal and candidate.proposal.texts,
        "look": look and look_json(look),
        "adopted_as": candidate.adopted_as and candidate.adopted_as.label,
    }


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    return {
        "number": proposal.number,
        "parent": proposal.parent and proposal.parent.number,
        "part": proposal.part or None,
        "texts": proposal.texts,
        "scoring": proposal.scoring or None,
        "problem": proposal.problem or None,
        "parent_on_batch": proposal.parent_on_batch,
        "on_batch": proposal.on_batch,
        "on_selection": mean_on_selection(proposal),
    }


def mean_on_selection(proposal: Proposal) -> float | None:
    """Return the mean merit on the selection documents; None if the proposal was not tried on
    them."""
    values = proposal.on_selection.values()
    return sum(values) / len(values) if values else None


def look_json(look: Look) -> dict[str, Any]:
    return {
        "at": look.looked_at.isoformat(),
        "by": look.person or None,
        "outcome": look.outcome,
        "documents": look.documents,
        "candidate": look.value,
        "today": look.today,
        "gain": look.gain,
        "interval": None if look.low is None else [look.low, look.high],
        "confidence": look.confidence,
        "reason": look.reason or None,
        "documents_ranked": look.ranked,
        "constant": look.constant,
    }


def _speaks_of(search: Search) -> dict[str, Any]:
    """Describe the outputs that the numbers cover, if people rated a sample."""
    subject = search.found.get("what_numbers_speak_of")
    return {"what_numbers_speak_of": subject} if subject else {}


def certificate(locked: LockedDocuments) -> dict[str, Any]:
    """Return everything that a claim depends on: the rule, every look in order, and the history:
    who drew, looked at, opened or copied the locked ratings, and when."""
    record(locked)
    looks = list(locked.looks.select_related("candidate__search", "looked_by"))
    return {
        "project": locked.project.slug,
        "rule": {
            "share": locked.share,
            "seed": locked.seed,
            "locked": "sha256(seed + NUL + doc_id), first 8 bytes < share * 2^64",
            "exceptions": locked.exceptions,
        },
        "earlier_draws": str(earlier_draws(locked.project)) or None,
        "locked_at": locked.locked_at.isoformat(),
        "unlocked_at": locked.unlocked_at and locked.unlocked_at.isoformat(),
        "looks_allowed": locked.looks_allowed,
        "looks_used": locked.looks_used(),
        "withheld": LockedDocuments.objects.withheld_in(locked.project_id) is not None,
        "proven": sum(look.outcome == ProofOutcome.PROVEN for look in looks),
        "looks": [
            look_json(look)
            | {
                "judge": look.candidate.search.judge.label,
                "criterion": look.candidate.search.criterion.name,
                **_speaks_of(look.candidate.search),
                "candidate": candidate_json(look.candidate) | {"look": None},
            }
            for look in looks
        ],
        "history": [
            {
                "what": event.kind,
                "at": event.at.isoformat(),
                "by": event.by or None,
                "project": event.project or None,
                **({"from_archive": True} if event.from_archive else {}),
                **event.content,
            }
            for event in LockEvent.objects.of_draw(locked.draw)
        ],
    }
