"""Cautions shown next to statistics that seem to contradict each other or to promise too much."""

from geval.reports.report import CriterionResult, JudgeResult
from geval.reports.verdicts.analysis import RATERS_MEAN
from geval.reports.verdicts.verdict import USABLE, Verdict
from geval.reports.words import against_others
from geval.statistics.thresholds import BAR_SHARE, LOW_RHO, MODAL_SHARE, USED_DOCUMENTS
from geval.texts.numbers import two_decimals
from geval.texts.sentences import listed


def cautions(result: JudgeResult) -> list[str]:
    """Return what a reader must know about a judge's numbers on a criterion."""
    # What is read of pass or fail are shares.
    cautions = [] if result.analysis.passing else _about_ranks(result)
    if not result.analysis.ppi.is_random:
        cautions.append(
            "Its scores of rated and unrated outputs differ, so the rated ones are not a random "
            "sample and the prediction-powered intervals are not valid."
        )
    return cautions


def _about_ranks(result: JudgeResult) -> list[str]:
    """Return what a reader must know about a judge's correlations."""
    cautions: list[str] = []
    rho = result.correlations.estimates["spearman"]["summary"].value
    spread, test = result.analysis.spread, result.alt_test
    if test.passes and rho is None and result.analysis.is_constant:
        cautions.append(
            "It passes the annotator test although it gives every output the same score: it says "
            "nothing about which output is better."
        )
    if test.passes and rho is not None and rho < LOW_RHO:
        reason = "because its scores are close to people's overall"
        if spread and spread.modal_share >= MODAL_SHARE:
            reason = (
                f"because it gives the same score to {spread.modal_share:.0%} of the outputs, like "
                "most people"
            )
        cautions.append(
            f"It passes the annotator test {reason}; with rho {two_decimals(rho)} it hardly"
            " distinguishes good from bad outputs."
        )
    used, documents = result.correlations.documents_used, result.correlations.documents
    # Documents with one output each rank nothing; which level to look at is said elsewhere.
    has_several = result.correlations.pairs > documents
    if has_several and used < USED_DOCUMENTS * documents:
        cautions.append(
            f"Only {used} of {documents} documents count: in the rest there is one output, or "
            "people or the judge gave every output the same score."
        )
    return cautions


def all_cautions(criterion: CriterionResult) -> list[tuple[str, str]]:
    """Return (judge, caution) pairs of a criterion."""
    return [
        *_against_others(criterion),
        *_careless(criterion),
        *_below_the_bar(criterion),
        *_copies(criterion),
        *_of_the_source(criterion),
        *((result.judge, text) for result in criterion.judges for text in cautions(result)),
    ]


def _copies(criterion: CriterionResult) -> list[tuple[str, str]]:
    """Return (judge, caution) pairs for judges whose scores are people's ratings."""
    pairs = []
    for result in criterion.judges:
        copied = result.analysis.copied
        if copied is not None:
            whose = (
                "people's mean ratings"
                if copied == RATERS_MEAN
                else f"the ratings of {criterion.annotators[copied]}"
            )
            text = f"Its scores are {whose} on every output. If they were copied, leave it out."
            pairs.append((result.judge, text))
    return pairs


def _of_the_source(criterion: CriterionResult) -> list[tuple[str, str]]:
    """Return a (judge, caution) pair where a usable judge may know only what was asked."""
    best = criterion.best
    if best is None or criterion.verdict not in USABLE:
        return []
    if best.correlations.pairs > best.correlations.documents:
        return []
    text = (
        "With one output for each document, a judge that reads only the source looks the same as"
        " one that reads the output. Let it rate a few wrong outputs."
    )
    return [(best.judge, text)]


def _below_the_bar(criterion: CriterionResult) -> list[tuple[str, str]]:
    """Return a (raters, caution) pair if the bar leaves somebody out, whom it does not name."""
    below, raters = len(criterion.agreement.below_the_bar), len(criterion.annotators)
    if not below:
        return []
    return [
        (
            "one rater",
            f"What one rater reaches is the mean of {raters - below} of {raters} raters: the rest"
            f" agree less than {BAR_SHARE:.0%} as well with the others as the middle one.",
        )
    ]


def _against_others(criterion: CriterionResult) -> list[tuple[str, str]]:
    """Return a (raters, caution) pair for raters whose scale may be reversed."""
    against = against_others(criterion)
    # Where raters do not agree enough, this is the reason of the verdict.
    if not against or criterion.verdict == Verdict.NO_MEASURE:
        return []
    text = f"{against}. If the scale is reversed there, turn these ratings around."
    return [(", ".join(criterion.agreement.against_others), text)]


def _careless(criterion: CriterionResult) -> list[tuple[str, str]]:
    """Return (raters, caution) pairs: who is left out of the annotator test."""
    left_out = sorted({index for result in criterion.judges for index in result.alt_test.left_out})
    if not left_out:
        return []
    names = [criterion.annotators[index] for index in left_out]
    are = (
        "is not shown to agree with the others and is"
        if len(names) == 1
        else ("are not shown to agree with the others and are")
    )
    return [
        (
            ", ".join(names),
            f"{listed(names)} {are} left out of the annotator test. Look at these ratings before"
            " you trust means that contain them.",
        )
    ]


def many_ties(criterion: CriterionResult) -> list[tuple[str, float]]:
    """Return (judge, share of tied pairs) where so many are tied that tau should be read together
    with pairwise accuracy."""
    if criterion.has_pass_fail:
        return []
    spreads = [(result.judge, result.analysis.spread) for result in criterion.judges]
    return [(judge, spread.tie_rate) for judge, spread in spreads if spread and spread.ties_mislead]
