"""Words for the results of searches and looks, for a site's pages, its commands and the library."""

from collections.abc import Mapping
from typing import Any, Protocol

from geval.improving.changes import MEASURE_LABELS, Measure
from geval.reports.words import ranked_in_words
from geval.statistics.held_out_test import ProofOutcome
from geval.statistics.same_documents import Ranked
from geval.texts.numbers import or_dash, signed, two_decimals

# Gains below 0.01 may count; with two digits they would be shown as 0.
_DIGITS = 3
MAP_CLAIM = "its numbers fit people's scale better; it ranks as before"


class LookLike(Protocol):
    """The result of a look: a site's row or `LookResult`, which describes the fields."""

    @property
    def measure(self) -> str: ...

    @property
    def outcome(self) -> str: ...

    @property
    def documents(self) -> int: ...

    @property
    def value(self) -> float | None: ...

    @property
    def today(self) -> float | None: ...

    @property
    def gain(self) -> float | None: ...

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...

    @property
    def confidence(self) -> float: ...

    @property
    def reason(self) -> str: ...

    @property
    def ranked(self) -> Any: ...

    @property
    def constant(self) -> Any: ...


def sentence(title: str, measure: str, training: Mapping[str, Any], look: LookLike | None) -> str:
    """Return a change's result on training documents, and its look's, in one sentence."""
    distance = training.get("constant")
    always = "" if distance is None else f" (always the same score: {two_decimals(distance)})"
    tried = (
        f"{title}: {MEASURE_LABELS[measure]} {two_decimals(training['today'])} →"
        f" {two_decimals(training['candidate'])} on {training['documents']} training"
        f" documents{always}"
    )
    if look is None:
        return f"{tried}; not looked at."
    return f"{tried}; {outcome_in_words(look)}."


def outcome_in_words(look: LookLike) -> str:
    """Return a look's outcome, such as "proven: gain +0.05 [+0.01, +0.09] on 40 locked documents";
    for a map also the claim and the best constant."""
    if look.gain is None:
        return f"{look.outcome}: {look.reason}"
    is_map = look.measure == Measure.DISTANCE
    claim = f"{MAP_CLAIM}; " if is_map and look.outcome == ProofOutcome.PROVEN else ""
    distance = f" ({or_dash(look.today)} → {or_dash(look.value)} from people)" if is_map else ""
    clauses = (ranks_of(look), constant_of(look))
    following = "".join(f"; {clause}" for clause in clauses if clause)
    return (
        f"{look.outcome}: {claim}gain {signed(look.gain, _DIGITS)}"
        f"{_ends(look.low, look.high, look.reason)}{distance} on {look.documents} locked"
        f" documents, {look.confidence:.1%} interval{following}"
    )


def _ends(low: float | None, high: float | None, reason: str = "") -> str:
    """Return an interval to append to a gain."""
    if low is None or high is None:
        return f" (no interval: {reason})" if reason else ""
    return f" [{signed(low, _DIGITS)}, {signed(high, _DIGITS)}]"


def constant_of(look: LookLike) -> str:
    """Return how the best constant does on the locked documents, and the candidate compared with
    it, such as "always 4: 0.62 from people, against which it gains +0.06 [+0.02, +0.10]"; empty
    where ranks are compared."""
    if look.measure != Measure.DISTANCE or look.gain is None:
        return ""
    constant = look.constant
    if constant is None:
        return "not compared with the best constant"
    is_beaten = constant["low"] is not None and constant["low"] > 0
    against = "against which it gains" if is_beaten else "which it is not shown to beat:"
    return (
        f"always {constant['value']:g}: {two_decimals(constant['distance'])} from people, {against}"
        f" {signed(constant['gain'], _DIGITS)}{_ends(constant['low'], constant['high'])}"
    )


def ranks_of(look: LookLike) -> str:
    """Return in how many documents each of the two judges ranks outputs; empty where it is not
    known."""
    if not look.ranked:
        return ""
    ranked = Ranked(look.ranked["documents"], look.ranked["candidate"], look.ranked["today"])
    return ranked_in_words(ranked, "the candidate", "today’s judge")
