"""The verdict by labels in words."""

from geval.reports.verdicts.expert import OFF_SCALE, LabelEvidence
from geval.reports.verdicts.verdict import Verdict
from geval.statistics.pass_fail import PassFail
from geval.statistics.shares import ShareEstimate
from geval.statistics.thresholds import SCORED_SHARE, VERDICT_MARGIN
from geval.statistics.weighted_kappa import KappaEstimate
from geval.texts.numbers import counted, in_brackets, shown, thin, whole_percent
from geval.texts.sentences import listed

ONE_EXPERT = "One expert's labels cannot show how far experts agree."
_PLURALS = {"fail": "fails", "pass": "passes", "label": "labels"}


def with_brackets(figure: ShareEstimate | KappaEstimate) -> str:
    """Return a figure with its interval."""
    return f"{shown(figure.estimate)} {in_brackets(figure.interval)}".rstrip()


def found_and_kept(passing: PassFail) -> str:
    """Return what a judge finds and keeps, for a sentence about it."""
    (found, finds, _count), (kept, keeps, _kept) = passing.sides
    return (
        f"finds {with_brackets(found)} of the {_PLURALS[finds]} and keeps"
        f" {with_brackets(kept)} of the {_PLURALS[keeps]}"
    )


def labels_needed(evidence: LabelEvidence) -> str:
    """Return how many more labels a verdict needs; empty if none, or no affordable number."""
    kinds = [
        f"{thin(count)} more {kind if count == 1 else _PLURALS[kind]}"
        for count, kind in evidence.more
    ]
    if not kinds:
        return ""
    verb = "is" if len(kinds) == 1 and evidence.more[0][0] == 1 else "are"
    labels = evidence.labels_needed if evidence.passing else 0
    about = f", about {thin(labels)} labels" if labels else ""
    return f"{listed(kinds)} {verb} needed{about}"


def expert_reading(evidence: LabelEvidence, judge: str) -> str:
    """Return why a judge has its verdict, in a sentence or two."""
    passing, reason = evidence.passing, expert_caution(evidence, is_alone=False)
    if evidence.is_constant or any(side.figure.estimate.value is None for side in evidence.sides):
        return reason
    if passing is None:
        numbers = f"{judge} agrees with the expert with weighted kappa {_kappa(evidence)}"
    else:
        numbers = f"{judge} {found_and_kept(passing)}"
        if passing.is_mark_chosen:
            numbers += f", with scores from {passing.threshold:.3g} as passes"
    besides = [side.beside for side in evidence.sides if side.beside]
    if besides and all(each.estimate.value is not None for each in besides):
        numbers += f". {_beside_raters(evidence)}"
    if evidence.verdict == Verdict.AGREES:
        reason = f"{_required(evidence)} is shown."
    if evidence.verdict == Verdict.STANDS_IN:
        reason = f"Both are shown to be less than {VERDICT_MARGIN:.2f} behind."
    chosen = evidence.evidence.compared
    of = f" It was chosen of {chosen} judges on these labels." if chosen > 1 else ""
    return f"{numbers}. {reason}{of}"


def _beside_raters(evidence: LabelEvidence) -> str:
    """Return what the judge finds and keeps in a rater's place, and what the rater does."""
    shares = [
        f"{share:.2f}"
        for side in evidence.sides
        if side.beside
        for share in (side.beside.judge, side.beside.rater)
    ]
    return (
        "In a rater's place, where the others agree, it finds {} (the rater {}) and keeps {} (the"
        " rater {})".format(*shares)
    )


def _kappa(evidence: LabelEvidence) -> str:
    return with_brackets(evidence.kappa)


def _required(evidence: LabelEvidence) -> str:
    leasts = [f"{side.least:.2f}" for side in evidence.sides]
    if evidence.passing is None:
        return f"At least {leasts[0]}"
    if len(set(leasts)) == 1:
        return f"At least {leasts[0]} of both"
    kinds = [_PLURALS[side.kind] for side in evidence.sides]
    return f"At least {leasts[0]} of the {kinds[0]} and {leasts[1]} of the {kinds[1]}"


def expert_caution(evidence: LabelEvidence, *, is_alone: bool = True) -> str:
    """Return what qualifies the verdict and what to do about it, or why the expert goes on; empty
    where nothing does.

    Args:
        is_alone: whether nothing else states what the judge does beside raters.
    """
    passing, verdict = evidence.passing, evidence.verdict
    if verdict in (Verdict.AGREES, Verdict.STANDS_IN):
        return ""
    if verdict == Verdict.NO_MEASURE:
        alpha = shown(evidence.evidence.alpha)
        who = "Raters" if evidence.is_by_people else "The experts"
        return (
            f"{who} do not agree enough to measure a judge by them (Krippendorff's alpha"
            f" {alpha}). Make the criterion's definition clearer, and label again."
        )
    if not evidence.evidence.on_scale and passing is None:
        return f"{OFF_SCALE[:1].upper()}{OFF_SCALE[1:]}."
    if evidence.is_held_back and evidence.filled is not None:
        missing = evidence.evidence.rated - evidence.evidence.outputs
        left_out = f"Let it score the {counted(missing, 'rated output')} that it left out"
        if passing is None and evidence.filled.verdict == evidence.own_verdict:
            share = whole_percent(SCORED_SHARE)
            return f"{left_out}: to agree as required, it has to score {share} of them all."
        return (
            f"{left_out}: counted as {'wrong' if passing else 'the middle rating'}, less is shown."
        )
    if evidence.is_constant:
        return "It gives every output the same score."
    if verdict == Verdict.TOO_EARLY:
        needed = labels_needed(evidence) or evidence.missing
        weak = "" if evidence.is_shown or not evidence.beats_chance else f" {_unread(evidence)}"
        return f"{needed[:1].upper()}{needed[1:]}.{weak}"
    shown_kinds = [side.kind for side in evidence.sides if side.is_shown]
    if passing is not None and verdict == Verdict.SPOT_CHECKS:
        instead = "".join(
            f" Or label {thin(more)} more {_PLURALS[kind]}." for more, kind in evidence.more
        )
        who = "people" if evidence.is_by_people else "the expert"
        beside = f"{_beside_raters(evidence)}. " if evidence.is_by_people and is_alone else ""
        return beside + _spot_check(passing, shown_kinds[0], who) + instead
    if not evidence.beats_chance:
        return "It is not shown to do better than chance."
    by_chance = [side.kind for side in evidence.sides if not side.beats_chance]
    if by_chance and shown_kinds:
        return f"It is not shown to get half of the {_PLURALS[by_chance[0]]} right."
    if not shown_kinds and evidence.is_by_people:
        return (
            f"{_beside_raters(evidence)}. Neither is shown to be less than {VERDICT_MARGIN:.2f}"
            " behind."
        )
    if not shown_kinds:
        return f"{_required(evidence)} is required."
    return _unread(evidence)


def _unread(evidence: LabelEvidence) -> str:
    """Return why the judge is not shown to be better than whoever reads nothing."""
    if evidence.rivals:
        titles = listed(list(evidence.rivals))
        return f"{titles[:1].upper()}{titles[1:]} may do as well."
    knows = "who wrote a text and its length" if evidence.evidence.within else "its length"
    return f"Among like texts it is not shown to follow the labels: it may know only {knows}."


def _spot_check(passing: PassFail, kind: str, who: str) -> str:
    """Return what people or the expert check: what the judge fails, or what it passes, by the kind
    of which it is shown to get enough right."""
    fails = kind == "fail"
    does, other = ("fails", "pass") if fails else ("passes", "fail")
    if who != "people":
        other = _PLURALS[other]
    wrong = passing.false_fail if fails else passing.false_pass
    own = wrong + (passing.both_fail if fails else passing.both_pass)
    errs = f"The judge {does} {thin(wrong)} that {who} {other}. " if wrong else ""
    return f"{errs}Let {who} check what it {does}: {thin(own)} of {thin(passing.outputs)}."
