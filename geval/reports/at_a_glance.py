"""The head of the report: a verdict for each criterion, and all judges on one axis."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from geval.reports.drawings.forest import (
    Axis,
    AxisSpan,
    Tick,
    forest_lines,
    lowest_near_one_rater,
    shared_axis,
)
from geval.reports.drawings.numbers import ForestLine
from geval.reports.expert_words import with_brackets
from geval.reports.label_results import LabelJudge, LabelsResult
from geval.reports.report import CriterionResult, JudgeResult, Report
from geval.reports.verdicts.expert import FOUND_AND_KEPT, LabelEvidence, Required
from geval.reports.verdicts.verdict import Evidence, Verdict
from geval.reports.words import caution, reading, spot_check_size
from geval.statistics.correlation import Level
from geval.statistics.pass_fail import PassFail
from geval.statistics.resampling import Interval
from geval.statistics.shares import ShareEstimate
from geval.statistics.thresholds import (
    CALIBRATION_GAIN,
    INTERVAL_OUTPUTS,
    VERDICT_MARGIN,
    VERDICT_OUTPUTS,
)
from geval.statistics.types import Estimate
from geval.texts.numbers import (
    counted,
    in_brackets,
    shown,
    signed,
    thin,
    two_decimals,
    whole_percent,
)
from geval.texts.sentences import listed

# The axis of shares.
SHARES = Axis(0.0, 1.0)


@dataclass(frozen=True)
class ForestRow:
    """A judge, or one rater, in the drawing. `kind` is "rater", "judge", "baseline" (scores on
    another scale) or "null" (reads nothing); `running` says that scores still arrive, and `outputs`
    how many count; `is_seen` says that the judge's search has seen documents behind its numbers,
    which its name also shows."""

    name: str
    pk: int
    kind: str
    value: str
    interval: str
    reason: str
    dot: str
    span: AxisSpan | None
    outputs: int = 0
    is_best: bool = False
    running: bool = False
    is_seen: bool = False


@dataclass(frozen=True)
class Check:
    """One of the two checks of the best judge, with the number on which it is based."""

    passes: bool
    name: str
    about: str
    term: str


@dataclass(frozen=True)
class ShareLine:
    """A share, or kappa, that is required of a judge by labels: what it is of, its
    value and interval, where they are drawn, what the best null judge reaches, and what is
    required."""

    name: str
    value: str
    interval: str
    dot: str
    span: AxisSpan | None
    null: str
    required: str
    ticks: tuple[Tick, ...]


@dataclass(frozen=True)
class RowBackground:
    """The background of a criterion's rows: the band from the bar to the upper end of one rater's
    interval, the bar, and one rater."""

    band: AxisSpan
    bar: str
    ceiling: str


@dataclass(frozen=True)
class VerdictRow:
    """A criterion's verdict with its evidence.

    `judge` is the best judge, or the highest where none is called best, `rater` one rater, and
    `share` the judge's share of what one rater reaches, as text, and `pair` the two numbers of
    which it is, both with the mean of the other raters. `caution` qualifies the verdict;
    `missing_outputs` is how many more rated outputs a verdict needs, `spot_checks` how many new
    outputs people should check. `instructed` has the judges that a text can instruct, with the
    effect of an instruction, in words; `level_to_try` is a level with a verdict where this view's
    cannot have one, and `other_view` is that view's query string. Where the verdict is by
    labels, `shares` are what the judge finds and keeps with the counts `passing`, or its
    weighted kappa, and it `is_held_back` if missing scores alone make it weaker. With a
    `has_reversed_rater` somebody's scale may be reversed.
    """

    pk: int
    criterion: str
    verdict: Verdict
    reading: str
    caution: str
    missing_outputs: int
    spot_checks: int
    share: str
    pair: str
    checks: tuple[Check, ...]
    hints: tuple[str, ...]
    best: JudgeResult | None
    forest: tuple[ForestRow, ...]
    ground: RowBackground | None
    documents: int
    outputs: int
    ratings: int
    instructed: tuple[tuple[str, str], ...]
    level_to_try: Level | None = None
    other_view: str = ""
    shares: tuple[ShareLine, ...] = ()
    passing: PassFail | None = None
    items: int = 0
    is_held_back: bool = False
    has_reversed_rater: bool = False

    @property
    def total_of(self) -> str:
        """What a rubric's numbers are; "" for other criteria."""
        return f"total of {counted(self.items, 'item')}" if self.items else ""

    @property
    def side(self) -> str:
        """Where the judge errs more often by labels, for the list of disagreements:
        "higher" if it misses fails, "lower" if it fails passes."""
        passing = self.passing
        misses = passing is not None and passing.false_pass >= passing.false_fail
        return "higher" if misses else "lower"

    @property
    def rater(self) -> ForestRow | None:
        return next((row for row in self.forest if row.kind == "rater"), None)

    @property
    def judge(self) -> ForestRow | None:
        judges = [row for row in self.forest if row.kind in ("judge", "baseline")]
        return next((row for row in judges if row.is_best), judges[0] if judges else None)

    @property
    def others(self) -> tuple[str, ...]:
        """The positions of the other judges' dots."""
        rows = [row for row in self.forest if row.kind in ("judge", "baseline")]
        return tuple(row.dot for row in rows if row.dot and row is not self.judge)

    @property
    def nulls(self) -> tuple[str, ...]:
        """The positions of the null judges' dots."""
        return tuple(row.dot for row in self.forest if row.kind == "null" and row.dot)


@dataclass(frozen=True)
class LabelRow:
    """The verdict on a criterion of labels without an order: of the best judge, its kappa and the
    share that it finds of its weakest label."""

    pk: int
    criterion: str
    verdict: Verdict
    judge: str
    reading: str
    shares: tuple[ShareLine, ...]


@dataclass(frozen=True)
class AtAGlance:
    """The verdicts of a report, those on labels apart, and the common axis of the drawings."""

    axis: Axis
    rows: tuple[VerdictRow, ...]
    of_labels: tuple[LabelRow, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.rows and not self.of_labels

    @property
    def is_by_labels(self) -> bool:
        """Whether all verdicts are by labels."""
        return not self.is_empty and all(row.shares for row in self.rows)

    @property
    def share_names(self) -> tuple[str, ...]:
        """The heads of the columns of shares, where all verdicts are by labels."""
        names = {tuple(share.name for share in row.shares) for row in self.rows if row.passing}
        if not names:
            return ("Kappa", "Weakest label found")[: 2 if self.of_labels else 1]
        first, second = min(names)
        if len(names) > 1:
            first, second = first.split()[1], second.split()[1]
        is_mixed = not all(row.passing for row in self.rows)
        return f"{first}, or kappa" if is_mixed else first, second

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the drawn columns."""
        return (SHARES,) * len(self.share_names) if self.is_by_labels else (self.axis,)


def at_a_glance(report: Report, running: Collection[int] = ()) -> AtAGlance:
    """Return the verdicts of all criteria that have a judge, the strongest first.

    Args:
        running: the ids of judges whose scores still arrive.
    """
    criteria = [criterion for criterion in report.criteria if criterion.judges]
    axis = shared_axis(value for criterion in criteria for value in _drawn(criterion))
    lowest = _where_raters_agree_least(criteria)
    of_shares = SHARES if all(map(_by_labels, criteria)) else axis
    axes = _Axes(axis, of_shares)
    rows = [_row(criterion, axes, running, lowest == criterion.pk) for criterion in criteria]
    # The strongest verdicts come first; criteria with the same verdict keep their order.
    return AtAGlance(
        axis,
        tuple(sorted(rows, key=lambda row: row.verdict.place)),
        tuple(
            _label_row(result, result.best, of_shares) for result in report.labels if result.best
        ),
    )


class _Axes(NamedTuple):
    """The axes of correlations and of shares."""

    all: Axis
    of_shares: Axis


def _by_labels(criterion: CriterionResult) -> LabelEvidence | None:
    return criterion.by_labels(criterion.best) if criterion.best else None


def _label_row(result: LabelsResult, best: LabelJudge, axis: Axis) -> LabelRow:
    sides = [("kappa", best.kappa)]
    if best.weakest:
        sides.append((f"{best.weakest.kind} found", best.weakest))
    shares = tuple(
        share_line(name, side.figure.estimate, side.figure.interval, required=side.least, axis=axis)
        for name, side in sides
    )
    return LabelRow(result.pk, result.criterion, best.verdict, best.judge, best.reading, shares)


def _where_raters_agree_least(criteria: Sequence[CriterionResult]) -> int | None:
    """Return the criterion with the lowest bar, if there are several."""
    ceilings = {
        criterion.pk: criterion.ceiling.value
        for criterion in criteria
        if criterion.ceiling.value is not None
    }
    return min(ceilings, key=lambda pk: ceilings[pk]) if len(ceilings) > 1 else None


def _drawn(criterion: CriterionResult) -> Iterator[float]:
    sides = [(criterion.ceiling, criterion.ceiling_interval)]
    sides += [
        (judge.shown(criterion.options), criterion.interval_of(judge)) for judge in criterion.judges
    ]
    sides += [(null.correlation, null.interval) for null in criterion.shown_nulls]
    by_labels = _by_labels(criterion)
    for side in by_labels.sides if by_labels else ():
        yield side.least
        sides.append((side.figure.estimate, side.figure.interval))
    for estimate, interval in sides:
        if estimate.value is not None:
            yield from (estimate.value, *(interval.ends or ()))


def _row(
    criterion: CriterionResult, axes: _Axes, running: Collection[int], is_lowest_bar: bool
) -> VerdictRow:
    axis, of_shares = axes
    best, verdict = criterion.best, criterion.verdict
    evidence = criterion.evidence(best) if best else None
    share = evidence.share if evidence else None
    by_labels = _by_labels(criterion)
    has_checks = evidence is not None and verdict != Verdict.TOO_EARLY and not by_labels
    return VerdictRow(
        pk=criterion.pk,
        criterion=criterion.criterion,
        verdict=verdict,
        reading=reading(criterion),
        caution=caution(criterion, is_lowest_bar=is_lowest_bar),
        missing_outputs=_missing_outputs(criterion, evidence, by_labels, verdict),
        spot_checks=(
            spot_check_size(evidence.far_off.value)
            if evidence
            and not by_labels
            and verdict == Verdict.SPOT_CHECKS
            and evidence.far_off.value is not None
            else 0
        ),
        share="–" if share is None or share < 0 else whole_percent(share),
        pair=(
            ""
            if share is None or evidence is None
            else f"{shown(evidence.in_place)} of {shown(evidence.ceiling)}"
        ),
        checks=(
            _checks(best, evidence)
            if best and evidence and has_checks
            else _label_checks(by_labels)
        ),
        hints=_hints(criterion, best, evidence) if best and evidence and has_checks else (),
        best=best,
        forest=_forest(criterion, axis, running),
        ground=_ground(criterion, axis),
        has_reversed_rater=bool(criterion.agreement.against_others),
        is_held_back=by_labels is not None and by_labels.is_held_back,
        items=criterion.items,
        documents=criterion.documents,
        outputs=criterion.rated_outputs,
        ratings=criterion.ratings,
        instructed=tuple(
            (judge.named, judge.instructed.in_words)
            for judge in sorted(criterion.judges, key=criterion.compared_by, reverse=True)
            if judge.instructed
        ),
        level_to_try=criterion.level_to_try,
        other_view=(
            replace(criterion.options, level=criterion.level_to_try).query
            if criterion.level_to_try
            else ""
        ),
        shares=_shares(by_labels, of_shares) if by_labels else (),
        passing=by_labels.passing if by_labels else None,
    )


def _shares(evidence: LabelEvidence, axis: Axis) -> tuple[ShareLine, ...]:
    passing = evidence.passing
    if passing is None:
        (side,) = evidence.sides
        kappa = (side.figure.estimate, side.figure.interval)
        return (share_line("weighted kappa", *kappa, required=side.least, axis=axis),)
    nulls = [null.passing for null in evidence.evidence.nulls if null.passing]
    sides = zip(evidence.sides, FOUND_AND_KEPT[passing.finds_passes], strict=True)
    rows = [
        (name, side, [null.sides[at][0] for null in nulls]) for at, (side, name) in enumerate(sides)
    ]
    return tuple(
        share_line(
            name,
            side.figure.estimate,
            side.figure.interval,
            best_null=max(_values(of_nulls), default=None),
            required=side.least_beside,
            axis=axis,
        )
        for name, side, of_nulls in rows
    )


def share_line(
    name: str,
    estimate: Estimate,
    interval: Interval,
    *,
    best_null: float | None = None,
    required: float | None = None,
    axis: Axis = SHARES,
) -> ShareLine:
    """Return a share, or a coefficient, on an axis; positions are empty for none."""
    value, null, least = (
        "" if number is None else axis.at(number)
        for number in (estimate.value, best_null, required)
    )
    span = axis.span(*interval.ends) if interval.ends else None
    return ShareLine(
        name, shown(estimate), in_brackets(interval), value, span, null, least, axis.ticks
    )


def _values(shares: Sequence[ShareEstimate]) -> list[float]:
    return [share.estimate.value for share in shares if share.estimate.value is not None]


def _missing_outputs(
    criterion: CriterionResult,
    evidence: Evidence | None,
    by_labels: LabelEvidence | None,
    verdict: Verdict,
) -> int:
    """Return how many more rated outputs a verdict needs."""
    if by_labels:
        needed = sum(more for more, _kind in by_labels.more)
        return needed if verdict == Verdict.TOO_EARLY else 0
    if evidence is None or verdict != Verdict.TOO_EARLY:
        return 0
    needed = VERDICT_OUTPUTS
    if criterion.options.level == "summary" and evidence.interval.low is None:
        needed = INTERVAL_OUTPUTS
    return max(0, needed - evidence.outputs)


def _label_checks(evidence: LabelEvidence | None) -> tuple[Check, ...]:
    """Return the checks by labels, each with its number; none without them."""
    if evidence is None:
        return ()
    if evidence.passing is None:
        named = [("Agrees with the expert", "weighted_kappa")]
        beats = ""
    else:
        words = ("Finds the passes", "Keeps the fails")
        if not evidence.passing.finds_passes:
            words = ("Finds the fails", "Keeps the passes")
        named = [(name, "sensitivity") for name in words]
        beats = f"balanced accuracy {with_brackets(evidence.passing.balanced)}"
    checks = [
        Check(
            side.is_shown,
            name,
            f"{with_brackets(side.figure)} of {thin(side.count)}; {_required(side)}",
            term,
        )
        for side, (name, term) in zip(evidence.sides, named, strict=True)
    ]
    also = f"{listed(evidence.rivals)} may do as well" if evidence.rivals else ""
    about = "; ".join(filter(None, (beats, also)))
    reads = Check(evidence.is_shown, "Better than reading nothing", about, "null_judges")
    return (*checks, reads)


def _required(side: Required) -> str:
    """Return what is required: of a judge in a rater's place, how much it may be behind."""
    if side.beside is None:
        return f"{side.least:.2f} is required"
    value, interval = side.beside.estimate.value, in_brackets(side.beside.interval)
    apart = f"{'–' if value is None else signed(value)} {interval}".rstrip()
    return f"beside a rater {apart}, more than {signed(-VERDICT_MARGIN)} is required"


def _forest(
    criterion: CriterionResult, axis: Axis, running: Collection[int]
) -> tuple[ForestRow, ...]:
    best = criterion.best
    seen = {judge.pk for judge in criterion.judges if judge.seen is not None}
    return tuple(
        _forest_row(
            axis,
            line,
            is_best=best is not None and line.pk == best.pk,
            running=line.pk in running,
            is_seen=line.pk in seen,
        )
        for line in forest_lines(criterion)
    )


def _forest_row(
    axis: Axis, line: ForestLine, *, is_best: bool, running: bool, is_seen: bool
) -> ForestRow:
    interval = Interval(line.low, line.high)
    return ForestRow(
        name=line.name,
        pk=line.pk,
        kind=line.kind,
        value="–" if line.value is None else two_decimals(line.value),
        interval=in_brackets(interval),
        reason=line.reason,
        dot="" if line.value is None else axis.at(line.value),
        span=axis.span(*interval.ends) if interval.ends else None,
        outputs=line.outputs,
        is_best=is_best,
        running=running,
        is_seen=is_seen,
    )


def _ground(criterion: CriterionResult, axis: Axis) -> RowBackground | None:
    ceiling, bar = criterion.ceiling.value, lowest_near_one_rater(criterion)
    if ceiling is None or bar is None:
        return None
    high = criterion.ceiling_interval.high
    return RowBackground(
        axis.span(bar, ceiling if high is None else high), axis.at(bar), axis.at(ceiling)
    )


def _checks(best: JudgeResult, evidence: Evidence) -> tuple[Check, ...]:
    test, share = best.alt_test, evidence.share
    if evidence.on_scale:
        won, all_of_them = (test.winning_rate.value or 0) * len(test.annotators), test.annotators
        about = f"wins against {won:.0f} of {len(all_of_them)} raters, epsilon {test.epsilon:g}"
        about += _beside_nulls(evidence)
    else:
        about = "its scores are on another scale"
    return (
        Check(evidence.scores_like_a_rater, "Scores like a rater", about, "scores_like_a_rater"),
        Check(
            evidence.ranks_like_a_rater,
            "Ranks like a rater",
            "" if share is None else _of_one_rater(evidence, share),
            "ranks_like_a_rater",
        ),
    )


def _beside_nulls(evidence: Evidence) -> str:
    """Return in words whether null judges pass the test as well, and are as close."""
    if not evidence.passes:
        return ""
    nearer = "" if evidence.beats_a_constant else "not shown to be "
    titles = [null.title for null in evidence.nulls_that_pass if null.is_shown]
    also = f"; so {'does' if len(titles) == 1 else 'do'} {', '.join(titles)}" if titles else ""
    near = ", ".join(null.title for null in evidence.nulls_that_score_like_a_rater)
    near = f"; so is {near}" if near and evidence.beats_a_constant else ""
    return f"{also}; {nearer}closer to raters than the best constant{near}"


def _of_one_rater(evidence: Evidence, share: float) -> str:
    """Return a share with its two numbers: the judge's correlation in a rater's place is lower than
    the drawn one, which is with the mean of all raters."""
    judge, rater = shown(evidence.in_place), shown(evidence.ceiling)
    return (
        f"{judge} with the other raters; one rater reaches {rater} ({100 * share:.0f} %)"
        f"{_behind(evidence)}"
    )


def _behind(evidence: Evidence) -> str:
    """Return how far the judge may be behind a rater, and who may rank as well without reading."""
    low = evidence.behind_low
    sentence = "" if low is None else f"; at most {two_decimals(max(0.0, -low))} behind"
    rivals = ", ".join(null.title for null in evidence.nulls_that_may_rank_as_well)
    return sentence + (f"; {rivals} may rank as well" if rivals else "") + _within(evidence)


def _within(evidence: Evidence) -> str:
    """Return the judge's correlation within systems beside one rater's."""
    within = evidence.within
    if within is None or within.correlation.value is None:
        return ""
    return (
        f"; within systems {shown(within.correlation)} {in_brackets(within.interval)}".rstrip()
        + f", one rater {shown(within.ceiling)}"
    )


def _hints(criterion: CriterionResult, best: JudgeResult, evidence: Evidence) -> tuple[str, ...]:
    """Return what would improve the judge, as far as the numbers tell."""
    hints = []
    error, bar, value = best.analysis.calibration, evidence.bar, evidence.correlation.value
    is_off = evidence.on_scale and not evidence.scores_like_a_rater
    is_mapped = error is not None and error.is_worth_a_map
    if is_off and error and is_mapped and error.after < CALIBRATION_GAIN * error.before:
        hints.append(
            f"a calibration map would bring the error of its scores from {error.before:.2f} to"
            f" {error.after:.2f}"
        )
    # More ratings help where the estimate is above the bar, but not its whole interval.
    is_unsure = not evidence.ranks_like_a_rater and (value or -1.0) > (bar or 1.0)
    options = criterion.options
    if is_unsure and (options.level, options.over) == ("summary", "documents"):
        hints += _more_ratings(criterion)
    return tuple(hints)


def _more_ratings(criterion: CriterionResult) -> list[str]:
    if not criterion.projections:
        return []
    first = criterion.projections[0]
    return [
        f"{thin(first.ratings)} to {thin(first.promised_ratings)} more ratings would narrow its"
        " interval, which is too wide to tell"
    ]
