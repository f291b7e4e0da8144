"""The verdict by an expert's pass/fail labels in words."""

from geval.reports.verdicts.expert import ExpertEvidence
from geval.reports.verdicts.verdict import Verdict
from geval.statistics.pass_fail import ShareEstimate
from geval.statistics.thresholds import EXPERT_SHARE
from geval.texts.numbers import in_brackets, shown, thin
from geval.texts.sentences import listed

ONE_EXPERT = "One expert's labels cannot show how far experts agree."


def with_brackets(share: ShareEstimate) -> str:
    """Return a share with its interval."""
    return f"{shown(share.estimate)} {in_brackets(share.interval)}".rstrip()


def found_and_kept(evidence: ExpertEvidence) -> str:
    """Return what a judge finds and keeps, for a sentence about it."""
    passing = evidence.passing
    return (
        f"finds {with_brackets(passing.sensitivity)} of the fails and keeps"
        f" {with_brackets(passing.specificity)} of the passes"
    )


def labels_needed(evidence: ExpertEvidence) -> str:
    """Return how many more labels a verdict needs; empty if none, or no affordable number."""
    kinds = [f"{thin(count)} more {_plural(kind, count)}" for count, kind in evidence.more if count]
    if not kinds:
        return ""
    verb = "is" if len(kinds) == 1 and evidence.more[0][0] == 1 else "are"
    about = thin(evidence.labels_needed)
    return f"{listed(kinds)} {verb} needed, about {about} labels"


def _plural(kind: str, count: int) -> str:
    return kind if count == 1 else {"fail": "fails", "pass": "passes"}[kind]


def expert_reading(evidence: ExpertEvidence, judge: str) -> str:
    """Return why a judge has its verdict, in a sentence or two."""
    reason, numbers = expert_caution(evidence), f"{judge} {found_and_kept(evidence)}"
    chosen = evidence.evidence.compared
    of = f" It is the best of {chosen} judges on these labels." if chosen > 1 else ""
    if evidence.verdict == Verdict.AGREES:
        return f"{numbers}; at least {EXPERT_SHARE:.2f} of both is shown.{of}"
    if evidence.passing.sensitivity.estimate.value is None:
        return reason
    return f"{numbers}. {reason}{of}"


def expert_caution(evidence: ExpertEvidence) -> str:
    """Return what qualifies the verdict and what to do about it, or why the expert goes on; empty
    where nothing does."""
    passing, verdict = evidence.passing, evidence.verdict
    if verdict == Verdict.AGREES:
        return ""
    if verdict != evidence.own_verdict and evidence.filled is not None:
        missing = evidence.evidence.rated - evidence.evidence.outputs
        return f"With its {thin(missing)} missing scores as the most common label, less is shown."
    if verdict == Verdict.TOO_EARLY:
        needed = labels_needed(evidence) or evidence.missing
        return f"{needed[:1].upper()}{needed[1:]}."
    if verdict == Verdict.SPOT_CHECKS:
        if evidence.found.is_shown:
            return _checks("fails", passing.false_fail, "passes", _judged(evidence, fails=True))
        return _checks("passes", passing.false_pass, "fails", _judged(evidence, fails=False))
    if not evidence.beats_chance:
        return "It is not shown to do better than chance."
    if evidence.rivals:
        titles = listed(list(evidence.rivals))
        return f"{titles[:1].upper()}{titles[1:]} may do as well."
    if not evidence.reads:
        knows = "who wrote a text and its length" if evidence.evidence.within else "its length"
        return f"Among like texts it is not shown to follow the labels: it may know only {knows}."
    if (found := evidence.found.is_shown) or evidence.kept.is_shown:
        return f"It is not shown to get half of the {'passes' if found else 'fails'} right."
    return f"At least {EXPERT_SHARE:.2f} of the fails and of the passes is required."


def _judged(evidence: ExpertEvidence, *, fails: bool) -> str:
    passing = evidence.passing
    own = (
        passing.false_fail + passing.both_fail if fails else passing.both_pass + passing.false_pass
    )
    return f"{thin(own)} of {thin(passing.outputs)}"


def _checks(does: str, wrong: int, expert: str, share: str) -> str:
    return (
        f"It {does} {thin(wrong)} that the expert {expert}. Let the expert check what it {does}:"
        f" {share}."
    )
