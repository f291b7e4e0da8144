"""A report in words: its sentences and notes, and numbers as they are shown."""

from evaluations.reports.report import CriterionResult, Report
from evaluations.standin import HONEST_NAME
from evaluations.statistics.jackknife import LEAST_DOCUMENTS
from evaluations.statistics.resampling import Interval
from evaluations.statistics.results import Estimate

SYMBOLS = {"pearson": "r", "spearman": "rho", "kendall": "tau"}


def shown(estimate: Estimate) -> str:
    """Two decimals, or a dash for an undefined value."""
    return "-" if estimate.value is None else f"{estimate.value:.2f}"


def in_brackets(interval: Interval) -> str:
    """An interval as reports print it, empty where there is none."""
    return (
        ""
        if interval.low is None or interval.high is None
        else f"[{interval.low:.2f}, {interval.high:.2f}]"
    )


def in_a_sentence(result: CriterionResult) -> str:
    """A criterion's result in one sentence; empty if no judge has a correlation."""
    best = result.best
    if best is None:
        return _too_early(result)
    estimate = best.correlations.estimates["spearman"]["summary"]
    ceiling, share = result.agreement.ceiling["spearman"], result.share_of_ceiling(best)
    interval = f" {in_brackets(best.intervals['spearman'])}".rstrip()
    if (estimate.value or 0) <= 0:
        return (
            "no judge ranks a document's outputs as people do; the highest correlation is"
            f" {best.judge}'s (rho = {shown(estimate)}{interval})."
        )
    said = (
        f"{best.judge} agrees with people on how to rank a document's outputs"
        f" (rho = {shown(estimate)}{interval})"
    )
    if share is not None:
        said += f", {share:.0%} of what one annotator reaches ({shown(ceiling)})"
    if best.alt_test.winning_rate.value is None:
        return f"{said}."
    can = "can" if best.alt_test.passes else "cannot yet"
    return (
        f"{said}; by the alternative annotator test it {can} replace an annotator at epsilon"
        f" {best.alt_test.epsilon:g}."
    )


def _too_early(result: CriterionResult) -> str:
    most = max((one.correlations.documents for one in result.judges), default=0)
    if not most or most >= LEAST_DOCUMENTS:
        return ""
    return (
        f"it is too early to say how well judges agree with people: {most} document"
        f"{'s have' if most > 1 else ' has'} both ratings and scores, and at least"
        f" {LEAST_DOCUMENTS} are needed."
    )


def in_sight_note(report: Report) -> str:
    """The note about ratings made while LLM scores were visible; empty if there are none."""
    if not report.in_sight:
        return ""
    count = f"{report.in_sight:,} rating{'s were' if report.in_sight > 1 else ' was'}"
    return f"{count} made while LLM scores were visible, which may inflate agreement with judges."


def stand_in_note(report: Report) -> str:
    """The note about scores that are not from an LLM."""
    return f"{' and '.join(report.stand_ins)}: {HONEST_NAME}."
