"""Two judges by criterion: the difference of their correlations with people as a row, and a summary
of one to three sentences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from geval.reports.costs import AgreementGap, PricedJudge, compare_prices
from geval.reports.drawings.forest import Axis, AxisSpan
from geval.reports.pair_numbers import PairOnCriterion
from geval.reports.report import Report
from geval.reports.samples import marked
from geval.reports.verdicts.analysis import Significance
from geval.statistics.jackknife import no_interval
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import SIGNIFICANCE
from geval.texts.numbers import p_value, signed, two_decimals
from geval.texts.sentences import listed


@dataclass(frozen=True)
class Difference:
    """A criterion's row: both correlations on the same documents, in how many of the `documents`
    that people rank each judge ranks outputs, their difference (`gap`) with its interval (`ends`),
    both also formatted, the p-value adjusted as on the report, and the conclusion; `ahead` is 1, 2,
    or 0 where it is undecided. `seen` says which judge's search has seen documents behind these
    numbers."""

    pk: int
    criterion: str
    first: str
    second: str
    documents: int
    ranks: tuple[int, int]
    gap: float
    ends: tuple[float, float] | None
    difference: str
    interval: str
    p: str
    ahead: int
    reason: str
    dot: str
    span: AxisSpan | None
    leaves_out_zero: bool
    seen: tuple[bool, bool]


def differences(
    pairs: list[PairOnCriterion],
    criteria: Mapping[int, str],
    names: tuple[str, str],
    report: Report,
    seen: Callable[[int], tuple[bool, bool]],
) -> tuple[tuple[Difference, ...], Axis, list[float]]:
    """Return the rows, the axis on which they are drawn, and the ends of its values. Tests,
    intervals and adjusted p-values are the report's own, over all its pairs of judges, so that its
    letters and this page say the same.

    Args:
        criteria: names by id.
        names: the labels of the two judges.
        seen: by a criterion's id, which judge's search has seen documents behind these numbers.
    """
    significance = {result.pk: result.significance for result in report.criteria}
    compared = [_compared_in(significance[pair.criterion], names) for pair in pairs]
    values = [pair.correlations for pair in pairs]
    ends = [value[0] - value[1] for value in values if not np.isnan(value).any()]
    ends += [end for interval, _p, _reason in compared for end in (interval.ends or ())]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    width = (high - low) or 0.2
    axis = Axis(low - 0.05 * width, high + 0.05 * width)
    rows = tuple(
        _difference(
            pair,
            criteria[pair.criterion],
            seen(pair.criterion),
            (interval, p, reason),
            axis,
        )
        for pair, (interval, p, reason) in zip(pairs, compared, strict=True)
    )
    return rows, axis, ends


def _compared_in(
    significance: Significance, names: tuple[str, str]
) -> tuple[Interval, float | None, str]:
    """Return the interval of the first judge's correlation minus the second's, the adjusted p, and
    the reason if there is none."""
    pair = names if names in significance.tests else (names[1], names[0])
    if pair not in significance.tests:
        missing = "the report's view leaves one of them out"
        return no_interval(missing), None, missing
    interval = significance.intervals[pair]
    if pair != names and interval.ends:
        low, high = interval.ends
        interval = replace(interval, low=-high, high=-low)
    return interval, significance.adjusted.get(pair), significance.tests[pair].reason


def _difference(
    pair: PairOnCriterion,
    criterion: str,
    seen: tuple[bool, bool],
    compared: tuple[Interval, float | None, str],
    axis: Axis,
) -> Difference:
    interval, p, reason = compared
    first, second = pair.correlations
    gap = first - second
    ahead = 0 if p is None or p > SIGNIFICANCE or np.isnan(gap) else 1 if gap > 0 else 2
    ends = interval.ends
    return Difference(
        pk=pair.criterion,
        criterion=criterion,
        first="–" if np.isnan(first) else two_decimals(first),
        second="–" if np.isnan(second) else two_decimals(second),
        documents=pair.ranked.documents,
        ranks=(pair.ranked.first, pair.ranked.second),
        gap=gap,
        ends=ends,
        difference="–" if np.isnan(gap) else signed(gap),
        interval=f"[{signed(ends[0])}, {signed(ends[1])}]" if ends else "",
        p="–" if p is None else p_value(p),
        ahead=ahead,
        reason=reason or interval.reason,
        dot="" if np.isnan(gap) else axis.at(gap),
        span=axis.span(*ends) if ends else None,
        leaves_out_zero=not ahead and interval.leaves_out_zero,
        seen=seen,
    )


def difference_json(row: Difference, seen: tuple[str, ...]) -> dict[str, Any]:
    """Return a criterion's row for the API; `seen` are labels of judges whose search has seen
    documents behind its numbers."""
    return {
        "difference": None if np.isnan(row.gap) else row.gap,
        "interval": row.ends,
        "documents": row.documents,
        "ahead": (None, "first", "second")[row.ahead],
        "reason": row.reason,
        **({"seen_by_search": [*seen]} if seen else {}),
    }


def seen_in_words(labels: tuple[str, str], report: Report) -> tuple[str, ...]:
    """Return what two judges' searches have seen of the compared documents."""
    return tuple(
        f"{result.judge} on {criterion.criterion}: {result.seen}."
        for criterion in report.criteria
        for result in criterion.judges
        if result.seen and result.judge in labels
    )


def lead_in_words(
    names: tuple[str, str],
    rows: tuple[Difference, ...],
    priced: tuple[PricedJudge, PricedJudge],
    symbol: str,
) -> str:
    """Return a summary of one to three sentences; the consequence comes first."""
    sentences = []
    for ahead, judge in enumerate(names, start=1):
        ranked = [
            marked(row.criterion, is_seen=row.seen[ahead - 1]) for row in rows if row.ahead == ahead
        ]
        if ranked:
            sentences.append(f"{judge} ranks outputs more like people on {listed(ranked)}.")
    undecided = [row.criterion for row in rows if not row.ahead]
    if len(undecided) == len(rows):
        sentences.append("No difference in agreement with people is shown on any criterion.")
    elif undecided:
        sentences.append(f"On {listed(undecided)} it is undecided.")
    gaps = [
        AgreementGap(marked(row.criterion, is_seen=any(row.seen)), row.gap, row.ends)
        for row in rows
    ]
    dearer = compare_prices(*priced, gaps, symbol)
    return " ".join(filter(None, [*sentences, dearer]))
