"""A report in words: its sentences and notes, and numbers as they are shown."""

from evaluations.reports.report import CriterionResult, Report
from evaluations.standin import HONEST_NAME
from evaluations.statistics.alt_test import LEAST_OUTPUTS
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
        return ""
    estimate = best.correlations.estimates["spearman"]["summary"]
    ceiling, share = result.agreement.ceiling["spearman"], result.share_of_ceiling(best)
    interval = f" {in_brackets(best.intervals['spearman'])}".rstrip()
    said = (
        f"{best.judge} agrees with people on how to rank a document's outputs"
        f" (rho = {shown(estimate)}{interval})"
    )
    if share is not None:
        said += f", {share:.0%} of what one annotator reaches ({shown(ceiling)})"
    if best.alt_test.outputs < LEAST_OUTPUTS:
        return f"{said}."
    can = "can" if best.alt_test.passes else "cannot yet"
    return (
        f"{said}; by the alternative annotator test it {can} replace an annotator at epsilon"
        f" {best.alt_test.epsilon:g}."
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
