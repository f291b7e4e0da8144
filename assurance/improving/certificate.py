"""What a search and a look say, in words and as JSON."""

from typing import Any

from evaluations.corpus.locks.draws import record
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
from geval.reports.words import ranked_in_words
from geval.statistics.proof import Outcome
from geval.statistics.same_documents import Ranked
from geval.statistics.shrinking import shrunken
from geval.texts.numbers import signed

_DIGITS = 3
MAP_CLAIM = "its numbers fit people's scale better; it ranks as before"
_FOUND_NOTHING = {
    Change.WORDING: "tried, and no proposal was kept",
    Change.EXAMPLES: "tried, and no set of examples was kept",
    Change.SCORING: "tried, and no other scoring was kept",
    Change.CHOICE: "tried; no other judge ranks better",
    Change.PANEL: "tried; it takes two judges that together rank better than each alone",
    Change.CALIBRATION: "tried; the scores do not vary, or too few documents have ratings",
}


def sentence_of(candidate: Candidate) -> str:
    """A candidate's result in one sentence."""
    training = candidate.training
    measure = candidate.get_measure_display()
    tried = (
        f"{candidate.title}: {measure} {training['today']:.2f} → {training['candidate']:.2f} on"
        f" {training['documents']} training documents{constant_on_training(candidate)}"
    )
    look = look_of(candidate)
    if look is None:
        return f"{tried}; not looked at."
    return f"{tried}; {outcome_in_words(look)}."


def constant_on_training(candidate: Candidate) -> str:
    """The best constant's distance on training documents, to follow a candidate's; empty where
    ranks are compared."""
    distance = candidate.training.get("constant")
    return "" if distance is None else f" (always the same score: {distance:.2f})"


def outcome_in_words(look: Look) -> str:
    """What a look says, such as "proven: gain +0.05 [+0.01, +0.09] on 40 locked documents"; of a
    map also what is claimed, and the best constant."""
    if look.gain is None:
        return f"{look.outcome}: {look.reason}"
    is_map = look.candidate.measure == Candidate.Measure.DISTANCE
    claim = f"{MAP_CLAIM}; " if is_map and look.outcome == Outcome.PROVEN else ""
    distance = f" ({look.today:.2f} → {look.value:.2f} from people)" if is_map else ""
    clauses = (likely_in_words(look), ranks_of(look), constant_of(look))
    following = "".join(f"; {clause}" for clause in clauses if clause)
    return (
        f"{look.outcome}: {claim}gain {signed(look.gain, _DIGITS)}"
        f"{_ends(look.low, look.high, look.reason)}{distance} on {look.documents} locked"
        f" documents, {look.confidence:.1%} interval{following}"
    )


def likely_gain(look: Look) -> float | None:
    """Of a proven gain, how large it is likely to be: those that prove are exaggerated by chance.
    None for other looks."""
    if look.outcome != Outcome.PROVEN or look.gain is None or look.low is None:
        return None
    documents = look.ranked["documents"] if look.ranked else look.documents
    return shrunken(
        look.gain, look.gain - look.low, confidence=look.confidence, freedom=documents - 1
    )


def likely_in_words(look: Look) -> str:
    """The same, such as "likely about +0.03, as gains that prove are exaggerated"."""
    gain = likely_gain(look)
    if gain is None:
        return ""
    return f"likely about {signed(gain, _DIGITS)}, as gains that prove are exaggerated"


def _ends(low: float | None, high: float | None, reason: str = "") -> str:
    """An interval, to follow a gain."""
    if low is None or high is None:
        return f" (no interval: {reason})" if reason else ""
    return f" [{signed(low, _DIGITS)}, {signed(high, _DIGITS)}]"


def constant_of(look: Look) -> str:
    """How the best constant does on the locked documents, and the candidate against it, such as
    "always 4: 0.62 from people, against which it gains +0.06 [+0.02, +0.10]"; empty where ranks are
    compared."""
    if look.candidate.measure != Candidate.Measure.DISTANCE or look.gain is None:
        return ""
    constant = look.constant
    if constant is None:
        return "not compared with the best constant"
    is_beaten = constant["low"] is not None and constant["low"] > 0
    against = "against which it gains" if is_beaten else "which it is not shown to beat:"
    return (
        f"always {constant['value']:g}: {constant['distance']:.2f} from people, {against}"
        f" {signed(constant['gain'], _DIGITS)}{_ends(constant['low'], constant['high'])}"
    )


def ranks_of(look: Look) -> str:
    """In how many documents each of the two judges ranks anything; empty where it is not known."""
    if not look.ranked:
        return ""
    ranked = Ranked(look.ranked["documents"], look.ranked["candidate"], look.ranked["today"])
    return ranked_in_words(ranked, "the candidate", "today’s judge")


def look_of(candidate: Candidate) -> Look | None:
    """The look at a candidate, if there was one."""
    return getattr(candidate, "look", None)


def not_tried(search: Search) -> tuple[tuple[str, str], ...]:
    """What a search left out or found nothing with, and why: changes, then judges."""
    if search.state != ErrandState.DONE:
        return ()
    found = set(search.candidates.values_list("change", flat=True))
    changes = [
        (
            change.label,
            _FOUND_NOTHING[change]
            if change in search.changes
            else "it was not asked for" + (", as it makes calls" * (change in ASKING_CHANGES)),
        )
        for change in Change
        if change not in found
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
    """Mean rho on the documents by which one is chosen; None if it did not get so far."""
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
        "likely_gain": likely_gain(look),
        "interval": None if look.low is None else [look.low, look.high],
        "confidence": look.confidence,
        "reason": look.reason or None,
        "documents_ranked": look.ranked,
        "constant": look.constant,
    }


def _speaks_of(search: Search) -> dict[str, Any]:
    """Of what outputs the numbers speak, where people rated a sample that says more than that."""
    said = search.found.get("what_numbers_speak_of")
    return {"what_numbers_speak_of": said} if said else {}


def certificate(locked: LockedDocuments) -> dict[str, Any]:
    """Everything that a claim rests on: the rule, every look in the order in which it was taken,
    and the history: who drew, looked, opened or copied the locked ratings, when, in any copy of the
    project that this site knows of."""
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
        "locked_at": locked.locked_at.isoformat(),
        "unlocked_at": locked.unlocked_at and locked.unlocked_at.isoformat(),
        "looks_allowed": locked.looks_allowed,
        "looks_used": locked.looks_used(),
        "withheld": LockedDocuments.objects.withheld_in(locked.project_id) is not None,
        "proven": sum(look.outcome == Outcome.PROVEN for look in looks),
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
