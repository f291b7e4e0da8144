"""The forest plot of a criterion: one rater, its judges and null judges, on one axis."""

from geval.reports.drawings.numbers import ForestLine
from geval.reports.report import CriterionResult
from geval.statistics.resampling import Interval
from geval.statistics.types import Estimate

ONE_RATER = "one rater"


def forest_lines(criterion: CriterionResult) -> tuple[ForestLine, ...]:
    """Return one rater, then judges, the best first; those without a correlation are last."""
    lines = []
    if criterion.ceiling.value is not None:
        lines.append(_line(ONE_RATER, "rater", criterion.ceiling, criterion.ceiling_interval))
    lines += [
        _line(
            judge.named,
            "judge" if judge.analysis.on_scale else "baseline",
            judge.shown(criterion.options),
            judge.analysis.shown,
            pk=judge.pk,
            outputs=judge.correlations.pairs,
        )
        for judge in sorted(criterion.judges, key=criterion.compared_by, reverse=True)
    ]
    lines += [
        _line(null.title, "null", null.correlation, null.interval)
        for null in criterion.nulls
        if null.correlation.value is not None
    ]
    return tuple(lines)


def lowest_near_one_rater(criterion: CriterionResult) -> float | None:
    """Return where the shaded band begins; None where there is nothing to compare with."""
    if criterion.ceiling.value is None or not criterion.judges:
        return None
    return criterion.evidence(criterion.judges[0]).bar


def _line(
    name: str, kind: str, estimate: Estimate, interval: Interval, *, pk: int = 0, outputs: int = 0
) -> ForestLine:
    return ForestLine(
        name=name,
        pk=pk,
        kind=kind,
        value=estimate.value,
        low=interval.low,
        high=interval.high,
        reason=estimate.reason or interval.reason,
        outputs=outputs,
    )
