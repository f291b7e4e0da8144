"""A report in words: its sentences and notes, and formatted numbers."""

import math
from collections.abc import Sequence

from geval.reports.expert_words import (
    ONE_EXPERT,
    expert_caution,
    expert_reading,
    with_brackets,
)
from geval.reports.label_results import LabelsResult
from geval.reports.options import MEAN, ReportOptions
from geval.reports.report import CriterionResult, JudgeResult, Report
from geval.reports.samples import WEIGHTS, marked, taken_from_the_top
from geval.reports.verdicts.null_judges import NullJudge
from geval.reports.verdicts.verdict import Evidence, Verdict
from geval.statistics.resampling import Over
from geval.statistics.same_documents import Ranked
from geval.statistics.thresholds import (
    CHECK_WIDTH,
    INTERVAL_DOCUMENTS,
    INTERVAL_GROUPS,
    SCORED_SHARE,
    VERDICT_ALPHA,
)
from geval.texts.numbers import in_brackets, shown, thin, whole_percent
from geval.texts.sentences import listed
from geval.texts.stand_in import HONEST_NAME

SYMBOLS = {"pearson": "r", "spearman": "rho", "kendall": "tau"}


# What a judge ranks at each level.
RANKED = {
    "summary": "a document's outputs",
    "session": "the sessions",
    "system": "the systems",
    "dataset": "all outputs",
}
FAR_OFF_WORDS = "off by more than a quarter of the scale"


def in_a_sentence(result: CriterionResult) -> str:
    """Return a criterion's result in its view in one sentence, or why it has none."""
    best = result.best
    if result.no_human_score:
        return _without_human_score(result)
    if best is None:
        return _without_a_best(result)
    if by_labels := result.by_labels(best):
        return expert_reading(by_labels, best.judge)
    options, evidence = result.options, result.evidence(best)
    ranked, symbol = RANKED[options.level], SYMBOLS[options.coefficient]
    estimate, share = best.shown(options), result.share_of_ceiling(best)
    value = f"{symbol} = {shown(estimate)} {in_brackets(result.interval_of(best))}".rstrip()
    if best.seen:
        value += f", {best.seen}"
    if (estimate.value or 0) <= 0:
        return (
            f"no judge ranks {ranked} as people do; the highest correlation is {best.judge}'s"
            f" ({value})."
        )
    sentence = f"{best.judge} agrees with people on how to rank {ranked} ({value})"
    if share is not None:
        sentence += (
            f"; beside the other raters {shown(evidence.in_place)}, one rater"
            f" {shown(result.ceiling)} ({share:.0%})"
        )
    if evidence.missing:
        return f"{sentence}, but {evidence.missing}."
    return f"{sentence}{_by_the_test(result, best)}."


def _by_the_test(result: CriterionResult, best: JudgeResult) -> str:
    """Return the result of the alternative annotator test for a judge, and for null judges."""
    test, evidence = best.alt_test, result.evidence(best)
    if test.winning_rate.value is None:
        return ""
    named = f"the alternative annotator test at epsilon {test.epsilon:g}"
    if not test.passes:
        return f"; it does not pass {named}"
    if evidence.nulls_that_pass:
        passing = [null.title for null in evidence.nulls_that_pass if null.is_shown]
        titles = listed(passing or [null.title for null in evidence.nulls_that_pass])
        also = f"; it passes {named}, but a judge that reads nothing does too ({titles})"
        nearer = " and it is closer to raters than the best constant"
        is_nearer = evidence.beats_a_constant and not evidence.nulls_that_score_like_a_rater
        return also + (nearer if is_nearer else "")
    return f"; it passes {named}"


def read_nothing(result: CriterionResult) -> str:
    """Return what null judges reach, in a sentence; empty without a judge."""
    parts = []
    symbol = SYMBOLS[result.options.coefficient]
    for null in result.shown_nulls:
        words = null.title
        if null.passing:
            words += f", balanced accuracy {with_brackets(null.passing.balanced)}"
        elif null.correlation.value is not None:
            words += f", {symbol} {shown(null.correlation)} {in_brackets(null.interval)}".rstrip()
        if null.passes and not result.has_pass_fail:
            words += ", passes the annotator test"
        parts.append(words)
    return f"Reading nothing would earn: {'; '.join(parts)}." if parts else ""


def _without_human_score(result: CriterionResult) -> str:
    return (
        f"There is no human score of this kind ({result.options.human_score_name}):"
        f" {result.no_human_score}. Choose another one, or collect more ratings."
    )


def _too_early(result: CriterionResult) -> str:
    most = max((judge.correlations.documents for judge in result.judges), default=0)
    if not most or most >= INTERVAL_DOCUMENTS:
        return ""
    return (
        f"how well judges agree with people cannot be said yet: {most} document"
        f"{'s have' if most > 1 else ' has'} both ratings and scores, and at least"
        f" {INTERVAL_DOCUMENTS} are needed."
    )


_HEADLINES = {
    Verdict.STANDS_IN: "{judge} can stand in for a rater",
    Verdict.AGREES: "{judge} agrees with {experts} as required",
    Verdict.SPOT_CHECKS: "{judge} with spot checks",
    Verdict.KEEP_PEOPLE: "people must keep rating",
    Verdict.KEEP_EXPERT: "{experts} must keep labelling",
    Verdict.NO_MEASURE: "raters do not agree enough",
    Verdict.TOO_EARLY: "it is too early to say",
}


def headline(
    criteria: Sequence[CriterionResult], labels: Sequence[LabelsResult] = ()
) -> tuple[str, ...]:
    """Return sentences on which judge may do what, over all criteria with a judge, the strongest
    verdict first."""
    names: dict[tuple[Verdict, str], list[str]] = {}
    is_one = all(len(criterion.annotators) < 2 for criterion in criteria)
    experts = "your expert" if is_one else "your experts"
    for verdict in Verdict:
        for criterion in criteria:
            if criterion.judges and criterion.verdict == verdict:
                best = criterion.best
                judge = best.judge if best and "{judge}" in _HEADLINES[verdict] else ""
                is_seen = best is not None and best.seen is not None
                names.setdefault((verdict, judge), []).append(
                    marked(criterion.criterion, is_seen=is_seen)
                )
    sentences = [
        f"{', '.join(criterion_names)}: {_HEADLINES[verdict].format(judge=judge, experts=experts)}."
        for (verdict, judge), criterion_names in names.items()
    ]
    of_labels = [result.sentence for result in labels if result.judges]
    return (*(sentence[:1].upper() + sentence[1:] for sentence in sentences), *of_labels)


def caution(result: CriterionResult, *, is_lowest_bar: bool) -> str:
    """Return a caution about a verdict, in a sentence or two; the reason of a verdict that needs
    more data.

    Args:
        is_lowest_bar: whether raters agree less here than on every other criterion.
    """
    best = result.best
    if reversed_scale := _reversed_scale(result):
        return reversed_scale
    if best is not None and (by_labels := result.by_labels(best)):
        return expert_caution(by_labels)
    if best is None or result.verdict in (Verdict.TOO_EARLY, Verdict.NO_MEASURE):
        return reading(result)
    evidence = result.evidence(best)
    sentence = _caution(evidence, result.verdict, is_lowest_bar=is_lowest_bar)
    return " ".join(filter(None, (sentence, scored_of_rated(evidence))))


def as_closely(result: CriterionResult) -> str:
    """Return the criterion that the best judge follows as closely as this one, in a sentence; empty
    if there is none."""
    best, other = result.best, result.as_close
    if best is None or other is None or result.by_labels(best):
        return ""
    how, than = ("more", "than") if other.is_closer else ("as", "as")
    return (
        f"Its scores of {result.criterion} follow people's ratings of {other.criterion} {how}"
        f" closely ({shown(other.correlation)}) {than} those of {result.criterion}"
        f" ({shown(best.shown(result.options))})."
    )


def _caution(evidence: Evidence, verdict: Verdict, *, is_lowest_bar: bool) -> str:
    """Return what qualifies the verdict, or the first reason why people keep rating."""
    if verdict == Verdict.STANDS_IN:
        return "Raters agree least here, so the bar is lowest." if is_lowest_bar else ""
    scores, ranks = evidence.scores_like_a_rater, evidence.ranks_like_a_rater
    if verdict == Verdict.SPOT_CHECKS:
        if scores and ranks:
            held_back = what_is_not_shown(evidence)
            return f"{held_back[:1].upper()}{held_back[1:]}."
        if ranks:
            return f"It ranks like a rater, but {_not_near(evidence)}."
        far_off = evidence.far_off.value
        off = f", but {whole_percent(far_off)} are {FAR_OFF_WORDS}" if far_off else ""
        return f"{_below(evidence)}. Its scores are as close as one rater's{off}."
    if not evidence.raters_agree:
        return "Raters are not shown to agree with each other."
    if evidence.is_reversed:
        return "It ranks against people. Is its scale reversed?"
    if not evidence.is_related:
        return "No judge is shown to rank as people do."
    if not evidence.reads:
        return f"{_unread(evidence)}."
    if rivals := evidence.nulls_that_may_rank_as_well:
        return f"{_titles(rivals)} may rank as well."
    if scores and not ranks:
        return f"{_below(evidence)}. Its scores are close, as most scores are alike."
    return f"{_below(evidence)}; {_not_near(evidence)}."


def what_is_not_shown(evidence: Evidence) -> str:
    """Return what is not shown of a judge that passes both checks over all scored outputs: a check
    within systems, or one with missing scores filled in."""
    for part, achieved, where in (
        (evidence.within, "orders these systems as a rater does", "within a system"),
        (evidence.filled, "ranks like a rater where it gave scores", "with the missing ones"),
        (
            evidence.filled and evidence.filled.within,
            "ranks like a rater where it gave scores",
            "within a system, with the missing ones,",
        ),
    ):
        if part is None:
            continue
        if not part.ranks_like_a_rater:
            return f"it {achieved}; {where} it is not shown to"
        if not part.scores_like_a_rater:
            return (
                f"it ranks like a rater; {where} its scores are not shown to be as close as one's"
            )
    if evidence.filled is None:
        return ""
    return (
        "it ranks and scores like a rater where it gave scores, but standing in takes scores of"
        f" {whole_percent(SCORED_SHARE)} of the rated outputs"
    )


def _below(evidence: Evidence) -> str:
    """Return how a judge that does not rank like a rater compares with one."""
    if evidence.ranks_below_a_rater:
        return "Ranks below one rater"
    return "Ranks like a rater" if evidence.ranks_like_a_rater else "Not shown to rank like a rater"


def _unread(evidence: Evidence) -> str:
    """Return that a judge does not follow people within systems, or beyond what length tells."""
    within = evidence.within
    if within and within.is_reversed:
        return "Within a system it ranks against people: it knows at most who wrote a text"
    if within and not within.is_related:
        return "Within a system it is not shown to follow people: it may know only who wrote a text"
    knows = "who wrote a text and its length" if within else "a text's length or group"
    return f"Among like texts it is not shown to follow people: it may know only {knows}"


def _titles(nulls: Sequence[NullJudge]) -> str:
    titles = listed([null.title for null in nulls])
    return titles[:1].upper() + titles[1:]


def count_scored(evidence: Evidence) -> str:
    """Return how many of the rated outputs the judge scored, where some are missing."""
    if evidence.outputs >= evidence.rated:
        return ""
    return f"{thin(evidence.outputs)} of {thin(evidence.rated)} rated outputs have its scores"


def scored_of_rated(evidence: Evidence) -> str:
    """Return the same in a sentence, and how the missing ones count."""
    counts = count_scored(evidence)
    if not counts or evidence.filled is None:
        return counts and f"{counts}."
    return f"{counts}; the missing ones count as the best constant would have them."


def reading(result: CriterionResult) -> str:
    """Return why a criterion has its verdict, in a sentence or two; the consequence comes first. A
    note is added to numbers over documents that a search has seen."""
    best = result.best
    if best is None:
        return _without_a_best(result)
    if reversed_scale := _reversed_scale(result):
        return reversed_scale
    by_labels = result.by_labels(best)
    sentence = expert_reading(by_labels, best.judge) if by_labels else _reading(result, best)
    return f"{sentence} {best.seen.sentence}" if best.seen else sentence


def _reversed_scale(result: CriterionResult) -> str:
    """Return whose ratings to look at where raters do not agree enough and some rate against the
    others; empty elsewhere."""
    against = against_others(result)
    if result.verdict != Verdict.NO_MEASURE or not against:
        return ""
    return (
        f"{against}, so no judge can be measured against people here (Krippendorff's alpha"
        f" {shown(result.agreement.alpha['interval'])}). Is the scale reversed? If so, turn these"
        " ratings around and load them again."
    )


def against_others(result: CriterionResult) -> str:
    """Return who rates against the others, as the beginning of a sentence; empty for nobody."""
    names = list(result.agreement.against_others)
    rate = "rate" if len(names) > 1 else "rates"
    return f"{listed(names)} {rate} high what others rate low" if names else ""


def _with_more(result: CriterionResult, best: JudgeResult) -> str:
    """Return which judge agrees more with people and has a weaker verdict; empty if none does."""
    first = max(result.ranked, key=result.compared_by)
    if result.compared_by(first) <= result.compared_by(best):
        return ""
    value, verdict = shown(first.shown(result.options)), result.verdict_on(first).label
    return f"{first.judge} agrees more ({value}), but its verdict is “{verdict}”."


def _place(evidence: Evidence) -> str:
    return " comes first with" if evidence.compared > 1 else ":"


def _reading(result: CriterionResult, best: JudgeResult) -> str:
    evidence, verdict, name = result.evidence(best), result.verdict, best.judge
    ranked = RANKED[result.options.level]
    value = f"{SYMBOLS[result.options.coefficient]} = {shown(evidence.correlation)}"
    share = "part" if evidence.share is None else f"{100 * evidence.share:.0f} %"
    of_one = f"{share} of what one rater reaches"
    if verdict == Verdict.TOO_EARLY:
        return f"{name}{_place(evidence)} {value}, but {evidence.missing}."
    if verdict == Verdict.NO_MEASURE:
        return (
            f"No judge can be measured against people here: their agreement (Krippendorff's alpha"
            f" {shown(evidence.alpha)}) is below {VERDICT_ALPHA:g}, so that one rater says little"
            " about another. Make the criterion's definition clearer, train raters, and rate again."
        )
    chosen = (
        f" It was chosen of {evidence.compared} judges on these documents."
        if evidence.compared > 1
        else ""
    )
    for sentence in (_with_more(result, best), scored_of_rated(evidence), as_closely(result)):
        chosen += f" {sentence}" if sentence else ""
    scores, ranks = evidence.scores_like_a_rater, evidence.ranks_like_a_rater
    if verdict == Verdict.STANDS_IN:
        return (
            f"{name} can rate in place of one more person: it ranks {ranked} about as a rater"
            f" would ({of_one}), and its scores are as close to theirs.{chosen}"
        )
    if verdict == Verdict.SPOT_CHECKS and scores and ranks:
        return f"Of {name}: {what_is_not_shown(evidence)}. {spot_check(evidence)}{chosen}"
    if verdict == Verdict.SPOT_CHECKS and scores:
        less = (
            "it ranks {} less well" if evidence.ranks_below_a_rater else "it may rank {} less well"
        )
        return (
            f"{name}'s scores are as close to the raters as one rater is to the others, but"
            f" {less.format(ranked)}, {of_one}. {spot_check(evidence)}{chosen}"
        )
    if verdict == Verdict.SPOT_CHECKS:
        return (
            f"Use {name}'s order and not its scores: it ranks {ranked} about as a rater would"
            f" ({of_one}), but {_not_near(evidence)}. {spot_check(evidence)}{chosen}"
        )
    if not evidence.raters_agree:
        return (
            "No judge can be measured against people here, because they are not shown to agree with"
            f" each other (one rater: {shown(result.ceiling)}"
            f" {in_brackets(result.ceiling_interval)}). Make the criterion's definition clearer."
        )
    if evidence.is_reversed:
        return (
            f"{name} ranks {ranked} against people ({value} {in_brackets(evidence.interval)})."
            " Is its scale reversed? If so, turn its scores around and load them again."
        )
    if not evidence.is_related:
        return (
            f"No judge is shown to rank {ranked} as people do; the highest correlation is"
            f" {name}'s ({value} {in_brackets(evidence.interval)})."
        )
    if not evidence.reads:
        return f"{name}{_place(evidence)} {value}. {_unread(evidence)}.{chosen}"
    if rivals := evidence.nulls_that_may_rank_as_well:
        return (
            f"No judge is shown to do more than one that reads nothing: {name} is the best with"
            f" {of_one}. {_titles(rivals)} may rank as well.{chosen}"
        )
    if scores and not ranks:
        return (
            f"No judge ranks well enough: {name} is the best with {of_one}. Its scores are close to"
            f" raters', as most scores are alike.{chosen}"
        )
    return (
        f"No judge is shown to be close enough: {name} is the best with {of_one}, and"
        f" {_not_near(evidence)}.{chosen}"
    )


def spot_check(evidence: Evidence) -> str:
    """Return the rule for spot checks: which outputs, how many, and which error remains until
    then."""
    share = evidence.far_off.value
    if share is None:
        return (
            f"Before you rely on it, have people rank the outputs of {INTERVAL_DOCUMENTS} documents"
            " drawn at random from the new ones, and compare the orders."
        )
    checked = spot_check_size(share)
    return (
        f"Have people rate {checked} of its new outputs, drawn at random: on the rated ones"
        f" {share:.0%} of its scores are {FAR_OFF_WORDS}, and so many checks show that share"
        f" within {100 * CHECK_WIDTH:.0f} points."
    )


def spot_check_size(share: float) -> int:
    """Return how many outputs give a share within plus or minus CHECK_WIDTH at 95 % (normal
    approximation)."""
    likely = min(max(share, 0.1), 0.9)
    return math.ceil(1.96**2 * likely * (1 - likely) / CHECK_WIDTH**2)


def _not_near(evidence: Evidence) -> str:
    if not evidence.on_scale:
        return "its scores are on another scale than people's ratings"
    if evidence.passes and not evidence.beats_a_constant:
        return "its scores are not shown to be closer to the raters than always the same score"
    if evidence.scores_like_a_rater:
        return "its scores are as close as one rater's"
    return "its scores are not shown to be as close as one rater's"


def _without_a_best(result: CriterionResult) -> str:
    """Return why no judge is best in a view."""
    if not result.judges:
        return "No judge has scores on this criterion yet. Run one, or load scores."
    if result.no_human_score:
        return _without_human_score(result)
    if early := _too_early(result):
        return early[0].upper() + early[1:]
    if result.verdict == Verdict.KEEP_PEOPLE:
        is_constant = all(judge.analysis.is_constant for judge in result.ranked)
        alike = "outputs" if is_constant else "outputs of a document"
        return f"Every judge gives all {alike} the same score, so it ranks none of them."
    if result.level_to_try:
        return (
            "Each document has one output with ratings, so no judge can rank a document's outputs."
            f" Look at the {result.level_to_try} level, which ranks all outputs."
        )
    reasons = [judge.shown(result.options).reason for judge in result.ranked]
    if reasons:
        return f"No judge has a correlation in this view: {reasons[0]}."
    return (
        "No correlation with people can be shown yet. It takes human ratings that differ, and a"
        " judge's scores for the same outputs."
    )


def ranked_in_words(ranked: Ranked, first: str = "the judge", second: str = "the other") -> str:
    """Return in how many documents each of two judges ranks outputs."""
    return (
        f"of {thin(ranked.documents)} documents that people rank, {first} ranks outputs in"
        f" {thin(ranked.first)} and {second} in {thin(ranked.second)}"
    )


def same_documents_note(report: Report) -> str:
    """Return how judges are compared, and in how many documents each ranks outputs; empty where
    none is compared at summary level."""
    ranked = report.of_correlations.criteria
    compared = [criterion for criterion in ranked if len(criterion.judges) > 1]
    if not compared or report.options.level != "summary":
        return ""
    note = (
        "Judges are compared on the same documents, those in which people rank anything. A judge"
        " that gives all outputs of one the same score counts as 0 there; its correlation above"
        " leaves the document out."
    )
    fewer = [
        f"{criterion.criterion}: {', '.join(rows)}"
        for criterion in compared
        if (rows := [row for result in criterion.judges if (row := _ranks_fewer(result))])
    ]
    if not fewer:
        return f"{note} Each judge ranks outputs in all of them."
    return f"{note} Documents in which a judge ranks anything, the rest all: {'; '.join(fewer)}."


def _ranks_fewer(result: JudgeResult) -> str:
    """Return a sentence on a judge that does not rank outputs in all documents that people rank;
    empty if it does."""
    used, ranked = result.correlations.documents_used, result.correlations.documents_ranked
    return "" if used == ranked else f"{result.judge} {thin(used)} of {thin(ranked)}"


def tested_over(over: Over) -> str:
    """Return which test compares judges in a view."""
    return {
        "documents": "permutation over documents",
        "systems": "t tests for new systems",
        "both": "t tests for new systems and documents",
    }[over]


def expert_note(report: Report) -> str:
    """Return the note that one expert is no measure of experts; empty where several rated."""
    is_one = any(len(result.annotators) == 1 and result.judges for result in report.criteria)
    return ONE_EXPERT if is_one else ""


def in_sight_note(report: Report) -> str:
    """Return the note about ratings made while LLM scores were visible; empty if there are none."""
    if not report.in_sight:
        return ""
    count = f"{report.in_sight:,} rating{'s were' if report.in_sight > 1 else ' was'}"
    return f"{count} made while LLM scores were visible, which may inflate agreement with judges."


def withheld_note(report: Report) -> str:
    """Return the note about locked documents that are left out; empty if none are."""
    if not report.withheld:
        return ""
    return left_out_in_words(report.withheld)


def unseen_in_words(documents: int) -> str:
    """Return on what documents a search's judge was measured, in a sentence."""
    return f"Measured on {documents:,} documents that the search for this judge has not seen."


def left_out_in_words(withheld: int) -> str:
    """Return a sentence on locked documents that are left out; empty if none are."""
    if not withheld:
        return ""
    documents = "document is" if withheld == 1 else "documents are"
    return (
        f"{withheld:,} locked {documents} left out until the last look, so that nobody can tune a"
        " judge by them."
    )


def sessions_note(report: Report) -> str:
    """Return the note that turns of a session are not independent; empty if there are no
    sessions."""
    if not report.sessions:
        return ""
    return (
        f"{report.turns:,} documents are turns of {report.sessions:,} sessions. Turns of a session"
        " are alike, so intervals and tests take sessions as documents: summary level is within"
        " each session, session level over the means of sessions, dataset level over all turns."
    )


def groups_note(report: Report) -> str:
    """Return the note that documents of a group are not independent; empty if there are none."""
    if not report.groups:
        return ""
    few = (
        f" {INTERVAL_GROUPS} are needed before anything is claimed."
        if report.groups < INTERVAL_GROUPS
        else ""
    )
    return (
        f"Documents are in {thin(report.groups)} groups, such as topics, and those of one are"
        " alike: intervals and tests take groups as units. A column group with other values"
        f" overrules what names state.{few}"
    )


def chosen_note(report: Report) -> str:
    """Return the note about outputs that are not a random sample; empty if campaigns chose none."""
    if not report.chosen:
        return ""
    return taken_from_the_top(report.chosen, are_left_out=report.is_chosen_left_out)


def weights_note(report: Report) -> str:
    """Return the note about weighted outputs; empty if there are no weights."""
    if not report.weights:
        return ""
    sizes = " ".join(
        f"{name}: {thin(weights.outputs)} rated outputs tell as much as {thin(weights.effective)}"
        " of a sample with equal probabilities (the effective sample size)."
        for name, weights in report.weights.items()
    )
    note = f"{WEIGHTS} {sizes}"
    if any(weight.is_within_documents for weight in report.weights.values()):
        note += (
            " Outputs were drawn one by one, so a document's correlation depends on the few of its"
            " outputs that were rated. Look at the dataset level, or draw whole documents."
        )
    return note


def compared_with(options: ReportOptions) -> str:
    """Return what judges are compared with, if not the mean of everybody's newest rating."""
    words = ""
    if options.round:
        words = f"Only answers of the round “{options.round_name}” count. "
    if options.human_score == MEAN:
        return words.strip()
    return (
        f"{words}Judges are compared with {options.human_score_in_words}, not with the mean of"
        " ratings. Agreement between annotators, one rater and the alternative annotator test use"
        " ratings as they were given."
    )


def human_score_note(report: Report) -> str:
    """Return the note about a human score that is not the mean of everybody's newest rating; empty
    if it is."""
    if report.options.has_usual_human_score:
        return ""
    note = compared_with(report.options)
    for result in report.criteria:
        if result.no_human_score:
            note += f" {result.criterion} has no such score: {result.no_human_score}."
        elif result.unscored:
            outputs = "output has" if result.unscored == 1 else "outputs have"
            note += f" {result.criterion}: {result.unscored:,} rated {outputs} no such score."
    return note


def stand_in_note(report: Report) -> str:
    """Return the note about scores that are not from an LLM; empty if there are none."""
    if not report.stand_ins:
        return ""
    return f"{' and '.join(report.stand_ins)}: {HONEST_NAME}."


def notes_of(report: Report) -> list[str]:
    """Return all notes that belong below a report's numbers, in their order."""
    notes = (
        expert_note,
        human_score_note,
        in_sight_note,
        same_documents_note,
        sessions_note,
        groups_note,
        chosen_note,
        weights_note,
        withheld_note,
        stand_in_note,
    )
    return [text for note in notes if (text := note(report))] + report.not_applicable_notes
