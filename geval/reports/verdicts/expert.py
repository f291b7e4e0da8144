"""The verdict on a judge by the pass/fail labels of an expert, where too few people rated for
people to be the bar. Numbers in, a verdict with reasons out.

A judge *agrees as required* if it is shown to find EXPERT_SHARE of the fails and to keep as many of
the passes; with one of the two, and more than half of the other, the expert checks what it fails,
or what it passes. Both take a judge that reads: it is better than chance and than length alone in
balanced accuracy, and it follows the expert within systems, and beyond what length tells. Each end
errs in half of 5 %, as a 95 % interval's does, and less where the best of more than two judges is
chosen (Bonferroni).
"""

import math
from dataclasses import dataclass

from geval.reports.verdicts.verdict import BLIND, Evidence, Verdict
from geval.statistics.pass_fail import PassFail, ShareEstimate
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import EXPERT_SHARE, PASS_FAIL_OUTPUTS, VERDICT_ERROR

# What a judge that knows nothing reaches: always the same, or its own answers shuffled.
CHANCE = 0.5


@dataclass(frozen=True)
class Required:
    """A share that is required of a judge: what it is of, in words, and how many there are."""

    share: ShareEstimate
    kind: str
    count: int
    error: float

    @property
    def is_shown(self) -> bool:
        return self._is_least(EXPERT_SHARE)

    @property
    def beats_a_coin(self) -> bool:
        return self._is_least(CHANCE)

    def _is_least(self, least: float) -> bool:
        low = self.share.low(self.error)
        return low is not None and low >= least

    @property
    def more(self) -> int | None:
        """How many more labels of the kind would show it; None if no affordable number does."""
        if self.count < PASS_FAIL_OUTPUTS:
            return PASS_FAIL_OUTPUTS - self.count
        return self.share.more_for(EXPERT_SHARE, self.error)


@dataclass(frozen=True)
class ExpertEvidence:
    """The evidence for the verdict on a judge by an expert's labels.

    `ahead` are the intervals of how much better its balanced accuracy is than that of null judges
    that can order outputs without a label, by title. `evidence` has what it knows within systems,
    and beyond length. `filled` is the same with missing scores as the most common verdict.
    """

    passing: PassFail
    ahead: dict[str, Interval]
    evidence: Evidence
    filled: "ExpertEvidence | None" = None

    @property
    def error(self) -> float:
        """The error of one end."""
        return VERDICT_ERROR / max(2, self.evidence.compared)

    @property
    def found(self) -> Required:
        """The share of fails that the judge finds."""
        return Required(self.passing.sensitivity, "fail", self.passing.fails, self.error)

    @property
    def kept(self) -> Required:
        """The share of passes that the judge keeps."""
        return Required(self.passing.specificity, "pass", self.passing.passes, self.error)

    @property
    def beats_chance(self) -> bool:
        low = self.passing.balanced.interval.low
        return low is not None and low > CHANCE

    @property
    def worse_than_a_coin(self) -> tuple[str, ...]:
        """The kinds of labels of which it is not shown to get half right, as a coin does."""
        return tuple(side.kind for side in (self.found, self.kept) if not side.beats_a_coin)

    @property
    def rivals(self) -> tuple[str, ...]:
        """The null judges that the judge is not shown to be better than."""
        return tuple(
            title for title, lead in self.ahead.items() if lead.low is None or lead.low <= 0
        )

    @property
    def reads(self) -> bool:
        """Whether it is shown to follow the expert within systems and beyond length."""
        evidence = self.evidence
        follows_within = evidence.within is None or evidence.within.is_related
        return follows_within and evidence.adds_to_length

    @property
    def is_shown(self) -> bool:
        """Whether it is shown to be better than whoever reads nothing."""
        return self.beats_chance and not self.rivals and self.reads

    @property
    def more(self) -> tuple[tuple[int, str], ...]:
        """How many more labels of each kind a verdict needs; none where it needs none, or no
        affordable number gives one."""
        sides = (self.found, self.kept)
        few = [side for side in sides if side.count < PASS_FAIL_OUTPUTS]
        if self.missing and not few:
            return ()
        return tuple((side.more, side.kind) for side in few or sides if side.more)

    @property
    def labels_needed(self) -> int:
        """About how many labels bring as many of each kind, at the present shares."""
        counts = {side.kind: max(1, side.count) for side in (self.found, self.kept)}
        total = sum(counts.values())
        return max((math.ceil(more * total / counts[kind]) for more, kind in self.more), default=0)

    @property
    def missing(self) -> str:
        """What a verdict still needs, in words; empty if nothing is missing."""
        few = [side for side in (self.found, self.kept) if side.share.interval.low is None]
        if few:
            return few[0].share.interval.reason
        return BLIND if self.evidence.is_blind else ""

    @property
    def verdict(self) -> Verdict:
        """The verdict; in doubt, the expert labels."""
        own = self.own_verdict
        return own if self.filled is None else max((own, self.filled.verdict), key=_place)

    @property
    def own_verdict(self) -> Verdict:
        """The verdict by the scores that are there."""
        if self.missing:
            return Verdict.TOO_EARLY
        shown = self.found.is_shown + self.kept.is_shown
        if not shown and self.more and self.beats_chance:
            return Verdict.TOO_EARLY
        if not shown or not self.is_shown or self.worse_than_a_coin:
            return Verdict.KEEP_EXPERT
        return Verdict.AGREES if shown == 2 else Verdict.SPOT_CHECKS


def _place(verdict: Verdict) -> int:
    return verdict.place
