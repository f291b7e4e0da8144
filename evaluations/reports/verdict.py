"""The verdict on a criterion: what the best judge may do. Numbers in, a verdict with reasons out.

Two checks are made of the best judge. It *scores like a rater* if it passes the alternative
annotator test. It *ranks like a rater* if its whole 95 % interval lies above what one rater reaches
less MARGIN and above 0, and if the judge, put in each rater's place, reaches that bar as well. Wide
intervals fail: in doubt, people go on rating.
"""

from dataclasses import dataclass
from enum import StrEnum

from evaluations.statistics.resampling import Interval
from evaluations.statistics.results import Estimate

# How far below one rater a judge may rank and still rank like one.
MARGIN = 0.10
# Of what one rater reaches; a judge that always gives the top score can pass the first check alone.
LEAST_SHARE = 0.5
LEAST_OUTPUTS = 30
LEAST_RATERS = 3
FLAWLESS = 1 - 1e-9


class Verdict(StrEnum):
    """What a judge may do on a criterion, the most first."""

    STANDS_IN = "stands"
    SPOT_CHECKS = "spot"
    KEEP_PEOPLE = "keep"
    TOO_EARLY = "early"

    @property
    def label(self) -> str:
        return _LABELS[self]


_LABELS = {
    Verdict.STANDS_IN: "Stands in for a rater",
    Verdict.SPOT_CHECKS: "Use with spot checks",
    Verdict.KEEP_PEOPLE: "Keep people rating",
    Verdict.TOO_EARLY: "Too early to say",
}


@dataclass(frozen=True)
class Evidence:
    """What the verdict on the best judge follows from, all of one view.

    `correlation` is with people's mean, with its interval; `in_place` is the judge's in each
    rater's place, compared with the mean of the others, as `ceiling` is one rater's.
    `passes` says whether it passes the alternative annotator test; `untested` is the reason why
    there is no test, and `on_scale` whether its scores are on the criterion's scale at all.
    """

    outputs: int
    raters: int
    correlation: Estimate
    interval: Interval
    ceiling: Estimate
    ceiling_interval: Interval
    in_place: Estimate
    passes: bool
    untested: str = ""
    on_scale: bool = True

    @property
    def bar(self) -> float | None:
        """Above it a judge ranks like a rater."""
        return None if self.ceiling.value is None else self.ceiling.value - MARGIN

    @property
    def low(self) -> float | None:
        """Where the interval begins. A judge that is never wrong has none, as nothing varies."""
        if self.interval.low is None and (self.correlation.value or 0) > FLAWLESS:
            return self.correlation.value
        return self.interval.low

    @property
    def share(self) -> float | None:
        """Of what one rater reaches, both against the mean of the same people."""
        if not self.ceiling.value or self.ceiling.value < 0 or self.in_place.value is None:
            return None
        return self.in_place.value / self.ceiling.value

    @property
    def raters_agree(self) -> bool:
        """Whether raters are shown to agree at all; else there is nothing to compare with."""
        low = self.ceiling_interval.low
        return (self.ceiling.value or 0) > 0 and (low is None or low > 0)

    @property
    def scores_like_a_rater(self) -> bool:
        return self.on_scale and self.passes

    @property
    def ranks_like_a_rater(self) -> bool:
        low, bar = self.low, self.bar
        if low is None or bar is None or self.in_place.value is None:
            return False
        return low > max(bar, 0.0) and self.in_place.value >= bar

    @property
    def is_related(self) -> bool:
        """Whether the judge is shown to agree with people more than chance would."""
        return self.low is not None and self.low > 0

    @property
    def missing(self) -> str:
        """What a verdict still needs, in words; empty if nothing is missing."""
        if self.outputs < LEAST_OUTPUTS:
            return (
                f"a verdict takes {LEAST_OUTPUTS} outputs with ratings and scores;"
                f" there are {self.outputs}"
            )
        if self.raters < LEAST_RATERS:
            return (
                f"a verdict takes {LEAST_RATERS} people who rated, each by name;"
                f" there {'is' if self.raters == 1 else 'are'} {self.raters}"
            )
        if self.ceiling.value is None:
            return self.ceiling.reason
        if self.on_scale and self.untested:
            return self.untested
        return "" if self.low is not None else self.interval.reason


def verdict_of(evidence: Evidence) -> Verdict:
    """The verdict that follows from the evidence; in doubt it goes to people."""
    if evidence.missing:
        return Verdict.TOO_EARLY
    if not evidence.raters_agree or not evidence.is_related:
        return Verdict.KEEP_PEOPLE
    checks = evidence.scores_like_a_rater + evidence.ranks_like_a_rater
    if checks == 2:
        return Verdict.STANDS_IN
    if checks == 1 and (evidence.share or 0) >= LEAST_SHARE:
        return Verdict.SPOT_CHECKS
    return Verdict.KEEP_PEOPLE
