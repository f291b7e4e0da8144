"""The verdict on a judge by labels: of pass or fail, and of an expert, where too few people rated
for people to be the bar. Numbers in, a verdict with reasons out.

On pass or fail, a judge *agrees as required* if it is shown to find as many of the fails, and to
keep as many of the passes, as the criterion's bar requires; with one of the two, and more than half
of the other, the expert checks what it fails, or what it passes. Where people are the bar, it
*stands in for a rater* if both are shown to be less than VERDICT_MARGIN behind a rater in whose
place it is. On other scales of an expert its weighted kappa is shown to be as high as the bar. All
take a judge that reads: it is better than chance and than length alone (in balanced accuracy, or
weighted kappa), and it follows people within systems, and beyond what length tells. Each end errs
in half of 5 %, as a 95 % interval's does, and less where the best of more than two judges is chosen
(Bonferroni).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from geval.reports.verdicts.verdict import BLIND, Evidence, Verdict, weakest
from geval.statistics.beside_raters import BesideRater
from geval.statistics.expert_bar import USUAL_BAR, ExpertBar
from geval.statistics.pass_fail import PassFail
from geval.statistics.resampling import Interval
from geval.statistics.shares import ShareEstimate
from geval.statistics.thresholds import (
    AFFORDABLE_DOCUMENTS,
    EXPERT_LABELS,
    PASS_FAIL_OUTPUTS,
    VERDICT_ERROR,
    VERDICT_MARGIN,
)
from geval.statistics.weighted_kappa import KappaEstimate

# What a judge that knows nothing reaches: always the same, or its own answers shuffled.
CHANCE = 0.5
# What a judge finds and keeps, by whether the class to find is "pass".
FOUND_AND_KEPT = (("fails found", "passes kept"), ("passes found", "fails kept"))
OFF_SCALE = "its scores are on another scale than the expert's ratings"


@dataclass(frozen=True)
class Required:
    """A figure that is required of a judge to be at least `least`. `kind` is what it is of, in
    words, `count` how many of them there are, and `fewest` how many it takes; by chance it is
    `chance`. Where people are the bar, `beside` compares it with a rater, and `least` is in words
    only: it lies VERDICT_MARGIN below the rater."""

    figure: ShareEstimate | KappaEstimate
    kind: str
    count: int
    error: float
    least: float
    fewest: int
    chance: float
    beside: BesideRater | None = None

    @property
    def is_shown(self) -> bool:
        if self.beside is None:
            return self._is_at_least(self.least)
        low = self.beside.low(self.error)
        return low is not None and low > -VERDICT_MARGIN

    @property
    def beats_chance(self) -> bool:
        return self._is_at_least(self.chance)

    def _is_at_least(self, least: float) -> bool:
        low = self.figure.low(self.error)
        return low is not None and low >= least

    @property
    def more(self) -> int | None:
        """How many more labels of the kind would show it; None if no affordable number does."""
        if self.beside is not None:
            return self.beside.more_for(-VERDICT_MARGIN, self.error)
        return self.figure.more_for(self.least, self.error)

    @property
    def more_than_chance(self) -> int | None:
        """How many more labels of the kind would show more than chance."""
        return self.figure.more_for(self.chance, self.error)

    @property
    def least_beside(self) -> float:
        """The least for the figure: beside a rater it is compared on other outputs, those on which
        the others agree."""
        value = self.figure.estimate.value
        apart = self.beside.estimate.value if self.beside else None
        if value is None or apart is None:
            return self.least
        return max(0.0, value - apart - VERDICT_MARGIN)


@dataclass(frozen=True)
class LabelEvidence:
    """The evidence for the verdict on a judge by labels.

    `kappa` is the weighted kappa, and `passing` what the judge finds and keeps on pass or fail.
    `ahead` are the intervals of how much better it is than null judges that can order outputs, by
    title. `evidence` has what it knows within systems, and beyond length. `filled` is the same with
    missing scores as wrong, or as the middle rating. A judge `is_constant` if it gives every output
    the same score.
    """

    kappa: KappaEstimate
    passing: PassFail | None
    ahead: Mapping[str, Interval]
    evidence: Evidence
    bar: ExpertBar = USUAL_BAR
    filled: "LabelEvidence | None" = None
    is_constant: bool = False

    @property
    def error(self) -> float:
        """The error of one end."""
        return VERDICT_ERROR / max(2, self.evidence.compared)

    @property
    def sides(self) -> tuple[Required, ...]:
        """What is required: of pass or fail the share of fails that the judge finds, and that of
        passes that it keeps; otherwise weighted kappa."""
        passing, bar, error = self.passing, self.bar, self.error
        if passing is None:
            count = self.kappa.outputs
            return (Required(self.kappa, "label", count, error, bar.kappa, EXPERT_LABELS, 0.0),)
        if passing.beside is not None:
            return tuple(
                Required(*side, error, least, PASS_FAIL_OUTPUTS, CHANCE, beside)
                for side, beside in zip(passing.sides, passing.beside, strict=True)
                for least in (max(0.0, beside.rater - VERDICT_MARGIN),)
            )
        leasts = (bar.sensitivity, bar.specificity)
        return tuple(
            Required(*side, error, least, PASS_FAIL_OUTPUTS, CHANCE)
            for side, least in zip(passing.sides, leasts, strict=True)
        )

    @property
    def is_by_people(self) -> bool:
        """Whether people are the bar, and not what is required of an expert's labels."""
        return self.passing is not None and self.passing.beside is not None

    @property
    def beats_chance(self) -> bool:
        if self.passing is None:
            return self.sides[0].beats_chance
        low = self.passing.balanced.interval.low
        return low is not None and low > CHANCE

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

    @cached_property
    def more(self) -> tuple[tuple[int, str], ...]:
        """How many more labels of each kind a verdict needs: for all that is required, or if that
        is out of reach, for spot checks; none where it needs none, or no affordable number gives
        one."""
        few = [side for side in self.sides if side.count < side.fewest]
        if few:
            return tuple((side.fewest - side.count, side.kind) for side in few)
        if self.missing:
            return ()
        needed = [side.more for side in self.sides]
        if None in needed and any(more is not None for more in needed):
            # One side may still reach what is required, and the other more than chance.
            needed = [
                side.more_than_chance if more is None else more
                for side, more in zip(self.sides, needed, strict=True)
            ]
        if None in needed or self._labels_for(needed) > AFFORDABLE_DOCUMENTS:
            return ()
        return tuple(
            (more, side.kind) for more, side in zip(needed, self.sides, strict=True) if more
        )

    @property
    def labels_needed(self) -> int:
        """About how many labels bring as many of each kind, at the present shares; 0 where a kind
        has none yet, so that nothing is known of its share."""
        if not all(side.count for side in self.sides):
            return 0
        wanted = {kind: more for more, kind in self.more}
        return self._labels_for([wanted.get(side.kind, 0) for side in self.sides])

    def _labels_for(self, more: Sequence[int | None]) -> int:
        total = sum(side.count for side in self.sides)
        counts = [
            math.ceil((each or 0) * total / max(1, side.count))
            for each, side in zip(more, self.sides, strict=True)
        ]
        return max(counts)

    @property
    def missing(self) -> str:
        """What a verdict still needs, in words; empty if nothing is missing."""
        for side in self.sides:
            for figure in filter(None, (side.figure, side.beside)):
                if figure.interval.low is None:
                    return figure.interval.reason
        return BLIND if self.evidence.is_blind else ""

    @property
    def verdict(self) -> Verdict:
        """The verdict; in doubt, people label."""
        own = self.own_verdict
        if self.filled is None:
            return own
        # Wrong is the worst that an answer of two can be; the middle rating is not.
        most = Verdict.SPOT_CHECKS if self.passing is None else own
        return weakest(own, self.filled.verdict, most)

    @property
    def is_held_back(self) -> bool:
        """Whether missing scores alone make the verdict weaker."""
        return self.verdict != self.own_verdict

    @property
    def own_verdict(self) -> Verdict:
        """The verdict by the scores that are there."""
        # Of few fails, or passes, alpha tells nothing either.
        if self.is_by_people and any(side.count < side.fewest for side in self.sides):
            return Verdict.TOO_EARLY
        if not self.evidence.is_measurable:
            return Verdict.NO_MEASURE
        # Of pass or fail the threshold is chosen, on whatever scale scores are.
        keep = Verdict.KEEP_PEOPLE if self.is_by_people else Verdict.KEEP_EXPERT
        if (not self.evidence.on_scale and self.passing is None) or self.is_constant:
            return keep
        if self.missing:
            return Verdict.TOO_EARLY
        shown = sum(side.is_shown for side in self.sides)
        if not shown and self.more and self.beats_chance:
            return Verdict.TOO_EARLY
        if not shown or not self.is_shown or not all(side.beats_chance for side in self.sides):
            return keep
        if shown < len(self.sides):
            return Verdict.SPOT_CHECKS
        return Verdict.STANDS_IN if self.is_by_people else Verdict.AGREES
