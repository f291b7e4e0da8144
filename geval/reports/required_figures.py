"""Take the figures that requirements are about from the results of a report."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from geval.reports.expert_words import expert_caution
from geval.reports.label_results import LabelJudge, LabelsResult
from geval.reports.report import CriterionResult, JudgeResult
from geval.reports.requirements import CLAIMS, COUNTS, RequiredFigure
from geval.reports.verdicts.expert import CHANCE
from geval.reports.verdicts.null_judges import NullDraw
from geval.reports.verdicts.verdict import Verdict, verdict_of
from geval.statistics.correlation import COEFFICIENTS, LEVELS, Coefficient, Level
from geval.statistics.shares import WithLowerEnd
from geval.statistics.thresholds import INTERVAL_DOCUMENTS
from geval.statistics.types import Estimate
from geval.texts.sentences import listed

DOUBT = (
    "within systems its scores are not shown to follow people's ratings, so it may know only who"
    " wrote a text"
)
NOT_BEYOND_CHANCE = (
    "its balanced accuracy is not shown to be above 0.5, which always the same verdict has"
)
_VERDICTS = {
    "verdict.stands_in": (Verdict.STANDS_IN,),
    "verdict.agrees": (Verdict.STANDS_IN, Verdict.AGREES),
    "verdict.spot_checks": (Verdict.STANDS_IN, Verdict.AGREES, Verdict.SPOT_CHECKS),
}


# What figures of pass or fail are called in reports.
OF_PASSING = {
    "tpr": "sensitivity", "tnr": "specificity",
    **{name: name for name in (
        "sensitivity", "specificity", "precision", "accuracy", "balanced_accuracy", "kappa", "ac1"
    )},
}  # fmt: skip


# A criterion's result in a view, and the judge's on it; None where it has no scores.
InView = tuple[CriterionResult, JudgeResult | None]


def figures_in(
    names: Collection[str], in_view: Callable[[Level, Coefficient], InView]
) -> dict[str, RequiredFigure]:
    """Return each named figure; results are computed once per view."""
    views: dict[tuple[Level, Coefficient], InView] = {}
    figures = {}
    for name in names:
        view = _view_of(name)
        if view not in views:
            views[view] = in_view(*view)
        figures[name] = figure_of(name, *views[view])
    return figures


def _view_of(name: str) -> tuple[Level, Coefficient]:
    """Return the level and coefficient of a figure; those of the report's default view for
    others."""
    first, _, rest = name.partition(".")
    if first in COEFFICIENTS:
        level = rest.partition(".")[0]
        assert level in LEVELS
        return level, first
    return "summary", "spearman"


def figure_of(name: str, criterion: CriterionResult, judge: JudgeResult | None) -> RequiredFigure:
    if judge is None:
        return RequiredFigure(None, "the judge has no scores on this criterion")
    figure = _figure_of(name, criterion, judge)
    within = criterion.evidence(judge).within
    if name in COUNTS or within is None or within.is_related:
        return figure
    return replace(figure, doubt=DOUBT)


def _figure_of(name: str, criterion: CriterionResult, judge: JudgeResult) -> RequiredFigure:
    if name in CLAIMS:
        return (
            _alt_test_passed(criterion, judge)
            if name == "alt_test.passed"
            else _verdict(criterion, judge, _VERDICTS[name])
        )
    if name in _PLAIN:
        return _PLAIN[name](criterion, judge)
    if (share := name.removesuffix(".low")) in OF_PASSING:
        return _share(criterion, judge, OF_PASSING[share])
    return _correlation(criterion, judge, is_low=name.endswith(".low"))


def _share(criterion: CriterionResult, judge: JudgeResult, name: str) -> RequiredFigure:
    """Return the lower end of a share or an index of pass or fail."""
    passing = judge.analysis.passing
    if passing is None and name == "kappa":
        return _weighted_kappa(criterion, judge)
    if passing is None:
        return RequiredFigure(None, "the criterion is not pass or fail")
    share = passing.by_name[name]
    if share.estimate.value is None or share.interval.low is None:
        return RequiredFigure(None, share.estimate.reason or share.interval.reason)
    majority = {"accuracy": passing.majority.share, "ac1": passing.majority.ac1}
    of_nulls = {
        null.title: [null.passing.by_name[name].interval.low]
        for null in criterion.evidence(judge).rivals
        if null.passing
    }
    low = passing.balanced.interval.low
    return RequiredFigure(
        share.interval.low,
        estimate=share.estimate.value,
        units=judge.correlations.documents,
        nulls=of_nulls | {"the majority": [majority.get(name)]},
        # Always the same verdict finds all fails, or keeps all passes.
        doubt="" if low is not None and low > CHANCE else NOT_BEYOND_CHANCE,
    )


def _weighted_kappa(criterion: CriterionResult, judge: JudgeResult) -> RequiredFigure:
    """Return the lower end of weighted kappa, on scales of more than two points."""
    kappa = judge.analysis.kappa
    if kappa.estimate.value is None or kappa.interval.low is None:
        return RequiredFigure(None, kappa.estimate.reason or kappa.interval.reason)
    rivals = [
        null.title
        for null in criterion.evidence(judge).rivals
        if null.kappa_behind and (null.kappa_behind.low or 0.0) <= 0
    ]
    return RequiredFigure(
        kappa.interval.low,
        estimate=kappa.estimate.value,
        units=judge.correlations.documents,
        doubt=f"{listed(rivals)} may do as well" if rivals else "",
    )


def _alt_test_passed(criterion: CriterionResult, judge: JudgeResult) -> RequiredFigure:
    rate = judge.alt_test.winning_rate
    if rate.value is None:
        return RequiredFigure(None, rate.reason)
    reason = f"it wins against {rate.value:.0%} of annotators at epsilon {judge.alt_test.epsilon:g}"
    return RequiredFigure(
        float(judge.alt_test.passes),
        reason,
        nulls=_of_nulls(criterion, judge, lambda null: float(null.passes)),
    )


def _of_nulls(
    criterion: CriterionResult, judge: JudgeResult, figure: Callable[[NullDraw], float | None]
) -> dict[str, list[float | None]]:
    """Return a figure for each null judge that a claim is held against, by title and draw."""
    rivals = criterion.evidence(judge).rivals
    return {null.title: [figure(draw) for draw in null.draws] for null in rivals}


def _verdict(
    criterion: CriterionResult, judge: JudgeResult, enough: tuple[Verdict, ...]
) -> RequiredFigure:
    evidence, by_labels = criterion.evidence(judge), criterion.by_labels(judge)
    verdict = by_labels.verdict if by_labels else verdict_of(evidence)
    if verdict == Verdict.TOO_EARLY:
        missing = expert_caution(by_labels) if by_labels else evidence.missing
        return RequiredFigure(None, missing, more=_to_the_least(judge))
    return RequiredFigure(float(verdict in enough), f"the verdict is “{verdict.label}”")


def _correlation(criterion: CriterionResult, judge: JudgeResult, *, is_low: bool) -> RequiredFigure:
    evidence, documents = criterion.evidence(judge), judge.correlations.documents
    estimate = evidence.correlation
    if estimate.value is None or not is_low:
        of_nulls = _of_nulls(criterion, judge, lambda null: null.correlation.value)
        return _known(estimate, more=_to_the_least(judge), nulls=of_nulls)
    if evidence.low is None:
        return RequiredFigure(None, evidence.interval.reason, more=_to_the_least(judge))
    return RequiredFigure(
        evidence.low,
        estimate=estimate.value,
        units=documents,
        nulls=_of_nulls(criterion, judge, lambda null: null.interval.low),
    )


def _known(
    estimate: Estimate,
    *,
    more: int | None = None,
    nulls: Mapping[str, Sequence[float | None]] | None = None,
) -> RequiredFigure:
    return RequiredFigure(
        estimate.value,
        estimate.reason,
        more=None if estimate.value is not None else more,
        nulls=nulls or {},
    )


def _to_the_least(judge: JudgeResult) -> int | None:
    """Return how many more documents are needed for intervals; None if there are enough."""
    return max(0, INTERVAL_DOCUMENTS - judge.correlations.documents) or None


def _behind(criterion: CriterionResult, judge: JudgeResult) -> RequiredFigure:
    evidence = criterion.evidence(judge)
    if evidence.behind_low is None:
        return RequiredFigure(None, evidence.behind.reason, more=_to_the_least(judge))
    if rivals := evidence.nulls_that_may_rank_as_well:
        titles = ", ".join(null.title for null in rivals)
        return RequiredFigure(None, f"a judge that reads nothing may rank as well: {titles}")
    return RequiredFigure(
        evidence.behind_low,
        estimate=evidence.behind.value,
        units=judge.correlations.documents,
    )


def _instruction(criterion: CriterionResult, judge: JudgeResult) -> RequiredFigure:
    """Return the effect of an instruction on the scores, only for judges that agree with people, as
    a judge that reads nothing cannot be instructed either."""
    instructed, low = judge.instructed, criterion.evidence(judge).low
    if instructed is None:
        return RequiredFigure(None, "no text can address this judge")
    if instructed.finding is None:
        return RequiredFigure(None, "the judge was not probed on this criterion; start its probes")
    if instructed.most is None:
        return RequiredFigure(None, instructed.finding.reason)
    if not instructed.is_whole:
        return RequiredFigure(
            None,
            f"the probes have scores of {instructed.finding.outputs} of {instructed.asked} outputs"
            " with and without an instruction; those that are missing may be moved by one",
        )
    if low is None or low <= 0:
        return RequiredFigure(
            None,
            "its scores are not shown to follow people's ratings (the 95 % interval of its"
            " correlation is not above 0), and what follows nothing is not moved by instructions",
        )
    return RequiredFigure(
        instructed.most, estimate=instructed.estimate, units=instructed.finding.documents
    )


def figure_of_labels(name: str, label: str, result: LabelsResult, judge: str) -> RequiredFigure:
    """Return a figure of a judge on a criterion of labels.

    Args:
        label: of which it is, one of the criterion's; "" for all.
    """
    own = next((each for each in result.judges if each.judge == judge), None)
    if own is None:
        return RequiredFigure(None, "the judge has no labels on this criterion")
    figures = own.figures
    if label:
        place = [each.lower() for each in result.labels].index(label.lower())
        shares = figures.recall if name == "recall.low" else figures.precision
        return _end_of(own, shares[place])
    if (figure := name.removesuffix(".low")) in figures.by_name:
        return _end_of(own, figures.by_name[figure])
    if name in _VERDICTS:
        if own.verdict == Verdict.TOO_EARLY:
            return RequiredFigure(None, own.reading)
        reason = f"the verdict is “{own.verdict.label}”"
        return RequiredFigure(float(own.verdict in _VERDICTS[name]), reason)
    counts = {
        "scores.share": figures.outputs / max(1, figures.outputs + own.missing),
        "raters": float(result.raters),
        "documents": float(own.documents),
    }
    if name in counts:
        return RequiredFigure(counts[name])
    return RequiredFigure(None, "the criterion has labels without an order")


def _end_of(judge: LabelJudge, figure: WithLowerEnd) -> RequiredFigure:
    """Return a lower end; a judge that may read nothing is held against it."""
    if figure.estimate.value is None or figure.interval.low is None:
        return RequiredFigure(None, figure.estimate.reason or figure.interval.reason)
    rivals = f"{listed(list(judge.rivals))} may do as well" if judge.rivals else ""
    doubt = rivals or ("" if judge.kappa.beats_chance else "its kappa is not shown to be above 0")
    return RequiredFigure(
        figure.interval.low, estimate=figure.estimate.value, units=judge.documents, doubt=doubt
    )


def _repeats(_criterion: CriterionResult, judge: JudgeResult) -> RequiredFigure:
    repeats = judge.repeats
    if repeats is None:
        reason = (
            "the judge scored no output twice; name the column that tells its scores apart repeat"
        )
        return RequiredFigure(None, reason)
    if repeats.interval.low is None:
        return RequiredFigure(None, repeats.interval.reason or repeats.estimate.reason)
    return RequiredFigure(
        repeats.interval.low,
        estimate=repeats.estimate.value,
        units=judge.correlations.documents,
    )


def _rate_error(_criterion: CriterionResult, judge: JudgeResult) -> RequiredFigure:
    passing = judge.analysis.passing
    if passing is None:
        return RequiredFigure(None, "the criterion is not pass or fail")
    error = passing.rate_error
    ends = error.interval.ends
    if error.estimate.value is None or ends is None:
        return RequiredFigure(None, error.estimate.reason or error.interval.reason)
    return RequiredFigure(
        max(map(abs, ends)),
        estimate=abs(error.estimate.value),
        units=judge.correlations.documents,
    )


def _no_policy(_criterion: CriterionResult, _judge: JudgeResult) -> RequiredFigure:
    return RequiredFigure(None, "no policy of the judge on this criterion is in use")


def _scored(criterion: CriterionResult, judge: JudgeResult) -> RequiredFigure:
    if not criterion.rated_outputs:
        return RequiredFigure(None, "no output is rated")
    return RequiredFigure(judge.correlations.pairs / criterion.rated_outputs)


_PLAIN: dict[str, Callable[[CriterionResult, JudgeResult], RequiredFigure]] = {
    "alt_test.winning_rate": lambda criterion, judge: _known(
        judge.alt_test.winning_rate,
        nulls=_of_nulls(criterion, judge, lambda null: null.winning_rate),
    ),
    "behind.low": _behind,
    "repeat.agreement.low": _repeats,
    "instruction.most": _instruction,
    "rate.error.high": _rate_error,
    "policy.error.high": _no_policy,
    "policy.coverage.low": _no_policy,
    "scores.share": _scored,
    "documents": lambda _criterion, judge: RequiredFigure(float(judge.correlations.documents)),
    "raters": lambda criterion, _judge: RequiredFigure(float(len(criterion.annotators))),
}
