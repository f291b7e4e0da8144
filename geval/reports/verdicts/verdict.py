"""The verdict on a criterion: what a judge may do. Numbers in, a verdict with reasons out.

First, raters have to agree: below VERDICT_ALPHA there is nothing to measure a judge by. Then two
checks are made of a judge.

- It *scores like a rater* if it passes the alternative annotator test and is shown to be closer to
  raters than the best constant, which often passes as well; a null judge that does both, such as
  length alone, must be shown to be farther from raters than the judge.
- It *ranks like a rater* if, in each rater's place, it is shown to be at most VERDICT_MARGIN behind
  the rater; its agreement with people must not be chance, and it must be shown to rank better than
  length alone.

Both take a judge that *reads*: its scores are shown to follow people's ratings, also within
systems, since whoever knows only who wrote a text orders systems well. To stand in for a rater it
passes both checks within systems, too. With missing scores the weaker verdict counts: of the scores
that are there, or of all, the missing ones as the best constant would have them; and no judge
stands in. Where people are too few to be the bar, expert.py gives the verdict.

Each check is tested at 5 %, divided by the number of compared judges (Bonferroni), since the best
of them is chosen. In doubt, people continue to rate.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum

from geval.reports.verdicts.check_figures import CheckFigures
from geval.reports.verdicts.null_judges import NullJudge
from geval.statistics.agreement import BehindARater
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import (
    VERDICT_ALPHA,
    VERDICT_ERROR,
    VERDICT_MARGIN,
    VERDICT_OUTPUTS,
    VERDICT_RATERS,
    VERDICT_SHARE,
    WITHIN_OUTPUTS,
    WITHIN_SYSTEMS,
)
from geval.statistics.types import Estimate

# A correlation of 1 is inexact as a float.
FLAWLESS = 1 - 1e-9


BLIND = (
    f"{WITHIN_SYSTEMS} systems need {WITHIN_OUTPUTS} rated and scored outputs each; otherwise a"
    " judge that knows only who wrote a text cannot be recognised"
)


class Verdict(StrEnum):
    """What a judge may do on a criterion, the strongest first."""

    STANDS_IN = "stands"
    AGREES = "agrees"
    SPOT_CHECKS = "spot"
    KEEP_PEOPLE = "keep"
    KEEP_EXPERT = "expert"
    NO_MEASURE = "unreliable"
    TOO_EARLY = "early"

    @property
    def label(self) -> str:
        return _LABELS[self]

    @property
    def look(self) -> str:
        """The verdict that it is drawn like."""
        same = {Verdict.AGREES: Verdict.STANDS_IN, Verdict.KEEP_EXPERT: Verdict.KEEP_PEOPLE}
        return same.get(self, self).value

    @property
    def place(self) -> int:
        """The verdict's rank, 0 for the strongest."""
        return list(Verdict).index(self)

    @property
    def choice(self) -> int:
        """Its rank among judges of which the best is chosen: of those that may not rate, or not
        yet, the one that agrees best is."""
        return min(self.place, Verdict.KEEP_PEOPLE.place)


# With these a judge may rate, alone or with spot checks.
USABLE = frozenset({Verdict.STANDS_IN, Verdict.AGREES, Verdict.SPOT_CHECKS})


def exit_code_of(verdicts: Collection[Verdict]) -> int:
    """Return 0 if a judge is usable on every criterion, 1 if not on some, 2 if undecided."""
    if not USABLE.issuperset(set(verdicts) - {Verdict.TOO_EARLY}):
        return 1
    return 0 if verdicts and USABLE.issuperset(verdicts) else 2


_LABELS = {
    Verdict.STANDS_IN: "Stands in for a rater",
    Verdict.AGREES: "Agrees as required",
    Verdict.SPOT_CHECKS: "Use with spot checks",
    Verdict.KEEP_PEOPLE: "Keep people rating",
    Verdict.KEEP_EXPERT: "Keep the expert labelling",
    Verdict.NO_MEASURE: "Raters do not agree enough",
    Verdict.TOO_EARLY: "Too early to say",
}


@dataclass(frozen=True)
class Evidence:
    """The evidence for the verdict on a judge, all from one view.

    `correlation` is with people's mean, with its interval; `in_place` is the judge's in each
    rater's place, compared with the mean of the others, as `ceiling` is one rater's, and `behind`
    the difference of the two. `passes` says whether it passes the alternative annotator test;
    `untested` is the reason why there is no test, `p_nearer` is the p-value of the test that it is
    no closer to raters than the best constant, and `on_scale` says whether its scores are on the
    criterion's scale. `alpha` is the raters' agreement; `compared` how many judges the best was
    chosen from. `rated` counts the rated outputs, `outputs` those of them that the judge scored.
    `is_blind` says that several systems have too few outputs to look within them. `within` is the
    evidence within systems, `filled` that with missing scores filled in, and `p_beyond` the p-value
    of the test that it follows people only by a text's length, and who wrote it; None where there
    is none.
    """

    outputs: int
    raters: int
    correlation: Estimate
    interval: Interval
    ceiling: Estimate
    ceiling_interval: Interval
    in_place: Estimate
    behind: BehindARater
    passes: bool
    p_nearer: float | None
    alpha: Estimate
    nulls: tuple[NullJudge, ...] = ()
    compared: int = 1
    untested: str = ""
    on_scale: bool = True
    far_off: Estimate = field(default_factory=lambda: Estimate.undefined("not computed"))
    rated: int = 0
    is_blind: bool = False
    within: "Evidence | None" = None
    filled: "Evidence | None" = None
    p_beyond: float | None = None

    def of(self, figures: CheckFigures) -> "Evidence":
        """Return the same evidence with other figures of the judge."""
        return replace(
            self,
            correlation=figures.correlation,
            interval=figures.interval,
            in_place=figures.in_place,
            behind=figures.behind,
            passes=figures.passes,
            p_nearer=figures.p_nearer,
        )

    @property
    def error(self) -> float:
        """The error level of each check of this judge."""
        return VERDICT_ERROR / max(1, self.compared)

    @property
    def behind_low(self) -> float | None:
        """The lower end of the judge's correlation minus a rater's; above -VERDICT_MARGIN it ranks
        like a rater."""
        return self.behind.low(1 - self.error)

    @property
    def bar(self) -> float | None:
        """One rater minus the margin: from there a judge in a rater's place ranks like one."""
        return None if self.ceiling.value is None else self.ceiling.value - VERDICT_MARGIN

    @property
    def low(self) -> float | None:
        """The interval's lower end. A perfect judge has no interval, as nothing varies."""
        if self.interval.low is None and (self.correlation.value or 0) > FLAWLESS:
            return self.correlation.value
        return self.interval.low

    @property
    def share(self) -> float | None:
        """The share of what one rater reaches, both with the mean of the same people."""
        if not self.ceiling.value or self.ceiling.value < 0 or self.in_place.value is None:
            return None
        return self.in_place.value / self.ceiling.value

    @property
    def raters_agree(self) -> bool:
        """Whether raters are shown to agree at all; otherwise there is nothing to compare with."""
        low = self.ceiling_interval.low
        return (self.ceiling.value or 0) > 0 and (low is None or low > 0)

    @property
    def is_measurable(self) -> bool:
        """Whether raters agree enough to evaluate a judge by them."""
        return self.alpha.value is None or self.alpha.value >= VERDICT_ALPHA

    @property
    def beats_a_constant(self) -> bool:
        """Whether it is shown to be closer to raters than the best constant."""
        return self.p_nearer is not None and self.p_nearer <= self.error

    @property
    def rivals(self) -> tuple[NullJudge, ...]:
        """The null judges that a claim has to be held against. What some know of people's ratings
        is taken off within systems, where a judge has to follow people as well."""
        return tuple(null for null in self.nulls if not (self.within and null.is_known_within))

    @property
    def nulls_that_may_rank_as_well(self) -> tuple[NullJudge, ...]:
        """The null judges that the judge is not shown to rank better than."""
        return tuple(null for null in self.rivals if null.may_rank_as_well)

    @property
    def nulls_that_pass(self) -> tuple[NullJudge, ...]:
        """The null judges that pass the alternative annotator test as well."""
        return tuple(null for null in self.nulls if null.passes)

    @property
    def nulls_that_score_like_a_rater(self) -> tuple[NullJudge, ...]:
        """The null judges that pass the test and are closer than the best constant, and that the
        judge is not shown to be closer than: length alone, where people's ratings follow it."""
        return tuple(null for null in self.rivals if null.scores_like_a_rater(self.error))

    @property
    def reads(self) -> bool:
        """Whether the judge is shown to follow people's ratings, also within systems and beyond
        what length tells."""
        return (
            self.is_related
            and (self.within is None or self.within.is_related)
            and self.adds_to_length
        )

    @property
    def adds_to_length(self) -> bool:
        """Whether it is shown to follow people beyond what length tells, where lengths differ."""
        # Half the error, as at the lower end of an interval.
        return self.p_beyond is None or self.p_beyond <= self.error / 2

    @property
    def scores_like_a_rater(self) -> bool:
        is_shown = self.on_scale and self.passes and self.beats_a_constant and self.reads
        return is_shown and not self.nulls_that_score_like_a_rater

    @property
    def ranks_like_a_rater(self) -> bool:
        low = self.behind_low
        if low is None or self.nulls_that_may_rank_as_well:
            return False
        return low > -VERDICT_MARGIN and self.reads and (self.in_place.value or 0.0) > 0

    @property
    def holds_within(self) -> bool:
        """Whether both checks hold within systems, or there is one system's texts to look at."""
        within = self.within
        return within is None or (within.scores_like_a_rater and within.ranks_like_a_rater)

    @property
    def is_related(self) -> bool:
        """Whether the judge is shown to agree with people more than chance would."""
        return self.low is not None and self.low > 0

    @property
    def is_reversed(self) -> bool:
        """Whether the judge is shown to rank against people."""
        return self.interval.high is not None and self.interval.high < 0

    @property
    def ranks_below_a_rater(self) -> bool:
        """Whether the judge is shown to rank less well than a rater."""
        high = self.behind.high(1 - self.error / 2)
        return high is not None and high < 0

    @property
    def too_few(self) -> str:
        """The number of outputs or raters that a verdict still needs, in words; empty if enough."""
        if self.outputs < VERDICT_OUTPUTS:
            return (
                f"a verdict takes {VERDICT_OUTPUTS} outputs with ratings and scores;"
                f" there are {self.outputs}"
            )
        if self.raters < VERDICT_RATERS:
            return (
                f"a verdict takes {VERDICT_RATERS} people who rated, each by name;"
                f" there {'is' if self.raters == 1 else 'are'} {self.raters}"
            )
        return ""

    @property
    def missing(self) -> str:
        """What a verdict still needs, in words; empty if nothing is missing."""
        if self.too_few:
            return self.too_few
        if self.ceiling.value is None:
            return self.ceiling.reason
        if self.on_scale and self.untested:
            return self.untested
        if self.low is None:
            return self.interval.reason
        if self.behind.error is None:
            return self.behind.reason
        # Without an interval because it is the same for all of a system's texts, it reads nothing.
        if self.within is not None and self.within.low is None and self.adds_to_length:
            return f"within systems {self.within.interval.reason}"
        return BLIND if self.is_blind else ""


def verdict_of(evidence: Evidence) -> Verdict:
    """Return the verdict that follows from the evidence; in doubt, people rate."""
    own = _verdict_of(evidence)
    if evidence.filled is None:
        return own
    # Of outputs on which people differ least, a constant may be nearer than the judge would be.
    return weakest(own, _verdict_of(evidence.filled), Verdict.SPOT_CHECKS)


def weakest(*verdicts: Verdict) -> Verdict:
    """Return the weakest of verdicts."""
    return max(verdicts, key=lambda verdict: verdict.place)


def _verdict_of(evidence: Evidence) -> Verdict:
    if evidence.too_few:
        return Verdict.TOO_EARLY
    if not evidence.is_measurable:
        return Verdict.NO_MEASURE
    if evidence.missing:
        return Verdict.TOO_EARLY
    if not evidence.raters_agree:
        return Verdict.KEEP_PEOPLE
    checks = evidence.scores_like_a_rater + evidence.ranks_like_a_rater
    if checks == 2 and evidence.holds_within:
        return Verdict.STANDS_IN
    if checks and (evidence.share or 0) >= VERDICT_SHARE:
        return Verdict.SPOT_CHECKS
    return Verdict.KEEP_PEOPLE
