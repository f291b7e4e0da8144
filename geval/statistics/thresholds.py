"""Every threshold that decides what a report, a page or a command says: with what it decides and
the reason for its value.

Code and pages read the numbers here. `python -m geval.statistics.thresholds > docs/thresholds.md`
writes the docs' page, and `tests/thresholds` tests each of them just below, at and just above.
Guards against rounding (1e-12) and size limits (rows of a page) are not thresholds and stay where
they are used.
"""

import sys
from dataclasses import dataclass
from typing import TypeVar

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Threshold:
    """A threshold: its name in this module, its value and unit, what it decides, and why."""

    topic: str
    name: str
    value: float
    unit: str
    rule: str
    reason: str


TABLE: dict[str, Threshold] = {}


@dataclass(frozen=True)
class _Topic:
    """The topic of thresholds: a heading of the docs' page."""

    title: str

    def threshold(self, name: str, value: Number, unit: str, rule: str, reason: str) -> Number:
        """Add a threshold to the table and return its value."""
        TABLE[name] = Threshold(self.title, name, value, unit, rule, reason)
        return value


_levels = _Topic("Levels of error")
CONFIDENCE = _levels.threshold(
    "CONFIDENCE", 0.95, "share of intervals",
    "Intervals hold the true value in this share of data sets.",
    "The convention; `make bench-coverage` holds them to 93 to 97 %.",
)  # fmt: skip
SIGNIFICANCE = _levels.threshold(
    "SIGNIFICANCE", 0.05, "probability",
    "A difference or an effect of a probe is claimed where its p, adjusted for"
    " everything that was tested with it, is at most this.",
    "The convention.",
)  # fmt: skip
POWER = _levels.threshold(
    "POWER", 0.8, "share of campaigns",
    "A plan asks for as many documents as find a difference of the stated size in this share.",
    "The convention (Cohen, 1988).",
)  # fmt: skip

_intervals = _Topic("Intervals")
INTERVAL_DOCUMENTS = _intervals.threshold(
    "INTERVAL_DOCUMENTS", 10, "documents that count",
    "With fewer there is no interval over documents, no effect of a probe, no verdict, and a judge"
    " is not ranked.",
    "With fewer, 95 % intervals held the true value in less than 93 % of simulated data sets.",
)  # fmt: skip
INTERVAL_GROUPS = _intervals.threshold(
    "INTERVAL_GROUPS", 8, "groups of documents",
    "Where documents have groups and there are fewer, there is no interval over them and no claim.",
    "A standard error from fewer values says too little, whatever the number of documents.",
)  # fmt: skip
INTERVAL_SYSTEMS = _intervals.threshold(
    "INTERVAL_SYSTEMS", 10, "systems that count",
    "With fewer there is no interval over systems, and no test of two judges on new systems.",
    "As for documents.",
)  # fmt: skip
INTERVAL_OUTPUTS = _intervals.threshold(
    "INTERVAL_OUTPUTS", 60, "outputs in the documents that count",
    "With fewer there is no interval at summary level.",
    "With few outputs each, coefficients of documents jump between a few values.",
)  # fmt: skip
PEARSON_DOCUMENTS = _intervals.threshold(
    "PEARSON_DOCUMENTS", 50, "documents that count",
    "With fewer, Pearson's r at dataset level has no interval.",
    "With 10 and 20, few documents decide. Where outputs differ in spread, 95 % intervals held the"
    " true value in 90 to 92 % with the degrees of freedom of all documents; with those of the"
    " documents that decide, in 97 to 99 % in all simulated worlds, up to three times as wide.",
)  # fmt: skip
ALPHA_SKEWNESS = _intervals.threshold(
    "ALPHA_SKEWNESS", 0.75, "skewness of ratings, in absolute value",
    "From there on, ordinal and interval alpha have no interval; Gwet's AC2 has one.",
    "A few documents decide how much the ratings vary: with skewness about 1.4, intervals held the"
    " true value in 86 to 93 %, however many documents.",
)  # fmt: skip
EQUAL_VALUES = _intervals.threshold(
    "EQUAL_VALUES", 20, "different ratings",
    "With more, AC1 has no interval.",
    "Equal ratings come from a few documents then, and intervals held the true value in 85 %.",
)  # fmt: skip
BOOTSTRAP_DOCUMENTS = _intervals.threshold(
    "BOOTSTRAP_DOCUMENTS", 50, "documents that count",
    "With fewer, † and ‡ are not tested.",
    "Bootstrap intervals are too narrow for fewer: with ten, 88 of 100 hold the true value.",
)  # fmt: skip

_comparing = _Topic("Comparing judges")
RANKED_SHARE = _comparing.threshold(
    "RANKED_SHARE", 0.5, "share of the outputs of the judge with most",
    "A judge that scored a smaller share of the rated outputs is not ranked.",
    "The best of some documents is not the best.",
)  # fmt: skip
LETTERED_JUDGES = _comparing.threshold(
    "LETTERED_JUDGES", 12, "judges",
    "More judges than this get no letters.",
    "All groups are tried, and so many letters would help nobody.",
)  # fmt: skip
WILLIAMS_SYSTEMS = _comparing.threshold(
    "WILLIAMS_SYSTEMS", 4, "systems",
    "Williams' test takes this many.",
    "It has n − 3 degrees of freedom (Williams, 1959).",
)  # fmt: skip
PAIRED_ANNOTATORS = _comparing.threshold(
    "PAIRED_ANNOTATORS", 30, "annotators",
    "Of more annotators, not every two are compared by Cohen's kappa.",
    "More pairs than anybody reads.",
)  # fmt: skip
CHOICES_OF_EACH = _comparing.threshold(
    "CHOICES_OF_EACH", 5, "documents",
    "Agreement on comparisons has an interval where so many documents have a pair of choices that"
    " agrees, and so many one that does not.",
    "With fewer, log-odds without each document say too little of how much they vary.",
)  # fmt: skip

_alt_test = _Topic("The alternative annotator test")
ALT_TEST_OUTPUTS = _alt_test.threshold(
    "ALT_TEST_OUTPUTS", 30, "outputs that others rated too",
    "An annotator with fewer is not compared with the judge, nor shown to disagree with others.",
    "Calderon, Reichart and Dror (2025) ask for it.",
)  # fmt: skip
ALT_TEST_ANNOTATORS = _alt_test.threshold(
    "ALT_TEST_ANNOTATORS", 3, "annotators",
    "With fewer there is no test.",
    "Calderon, Reichart and Dror (2025); with two, one win by chance is half of all.",
)  # fmt: skip
ALT_TEST_WINNING_RATE = _alt_test.threshold(
    "ALT_TEST_WINNING_RATE", 0.5, "share of annotators",
    "A judge that wins against at least this share passes.",
    "Calderon, Reichart and Dror (2025).",
)  # fmt: skip
ALT_TEST_ERROR = _alt_test.threshold(
    "ALT_TEST_ERROR", 0.05, "false discovery rate",
    "The judge wins against an annotator where p, adjusted after Benjamini and Yekutieli over all"
    " annotators, is at most this.",
    "Calderon, Reichart and Dror (2025).",
)  # fmt: skip
ALT_TEST_EPSILON = _alt_test.threshold(
    "ALT_TEST_EPSILON", 0.2, "probability",
    "How much less often than an annotator the judge may be near to the others, unless a view says"
    " otherwise; the judge has to be shown to stay below.",
    "Calderon, Reichart and Dror (2025), in place of experts.",
)  # fmt: skip

_verdict = _Topic("The verdict")
VERDICT_OUTPUTS = _verdict.threshold(
    "VERDICT_OUTPUTS", 30, "outputs with ratings and scores",
    "With fewer it is too early for a verdict.",
    "As many as the alternative annotator test asks for.",
)  # fmt: skip
VERDICT_RATERS = _verdict.threshold(
    "VERDICT_RATERS", 3, "people who rated",
    "With fewer it is too early for a verdict.",
    "Of two raters who differ, neither shows who is right.",
)  # fmt: skip
VERDICT_ALPHA = _verdict.threshold(
    "VERDICT_ALPHA", 0.2, "Krippendorff's alpha (interval)",
    "Below, raters do not agree enough to judge a judge.",
    "Krippendorff (2004) draws no conclusions below 0.667; so far below it, one rater is hardly a"
    " measure of another.",
)  # fmt: skip
VERDICT_MARGIN = _verdict.threshold(
    "VERDICT_MARGIN", 0.10, "correlation",
    "A judge ranks like a rater if it is shown to be less than this behind.",
    "A choice, which stands beside every verdict.",
)  # fmt: skip
VERDICT_ERROR = _verdict.threshold(
    "VERDICT_ERROR", 0.05, "probability",
    "How often a check that should fail may pass, over all judges that are compared.",
    "The convention; `make bench-coverage` holds it at the border.",
)  # fmt: skip
VERDICT_SHARE = _verdict.threshold(
    "VERDICT_SHARE", 0.5, "share of what one rater reaches",
    "With one of the two checks, a judge is used with spot checks from this share on.",
    "A judge that always gives the top score can pass the first check alone.",
)  # fmt: skip
BAR_SHARE = _verdict.threshold(
    "BAR_SHARE", 2 / 3, "share of the middle rater's rho with the others",
    "A rater of ten documents or more who reaches less is left out of the bar, one rater.",
    "Careless answers in more than half of the ratings leave about half of it; no honest rater of"
    " three was left out in 200 simulated data sets.",
)  # fmt: skip
WITHIN_OUTPUTS = _verdict.threshold(
    "WITHIN_OUTPUTS", 10, "rated and scored outputs of a system",
    "A system with fewer does not count when a judge is looked at within systems.",
    "Its mean, which is taken off, would contain too much of each output.",
)  # fmt: skip
WITHIN_SYSTEMS = _verdict.threshold(
    "WITHIN_SYSTEMS", 2, "systems with as many outputs",
    "With fewer a judge is not looked at within systems.",
    "With one system, nobody can know who wrote a text.",
)  # fmt: skip
SCORED_SHARE = _verdict.threshold(
    "SCORED_SHARE", 0.95, "share of the rated outputs",
    "A judge that scored fewer is also looked at with the missing scores as the best constant would"
    " have them, and the weaker result counts.",
    "A choice: fewer replies fail by chance, and bounds without assumptions would cost a judge that"
    " lost 2 % by chance half of its verdicts. A judge at the border that leaves out the twentieth"
    " that it gets most wrong can pass; comparisons of judges take the worst scores instead.",
)  # fmt: skip
FAR_OFF = _verdict.threshold(
    "FAR_OFF", 0.25, "share of the scale's width",
    "A score farther than this from people's mean is a large error.",
    "On a scale from 1 to 5, more than one point.",
)  # fmt: skip
CHECK_WIDTH = _verdict.threshold(
    "CHECK_WIDTH", 0.1, "share of outputs",
    "So many spot checks are asked for as show the share of large errors this closely.",
    "A choice: about a hundred outputs at most.",
)  # fmt: skip
NULL_CHANCE = _verdict.threshold(
    "NULL_CHANCE", 0.05, "share of shuffles",
    "A claim that more of the shuffled scores meet is not made.",
    "The error that a test at 5 % may have.",
)  # fmt: skip

_hints = _Topic("Hints and cautions")
TIES_MISLEAD = _hints.threshold(
    "TIES_MISLEAD", 0.3, "share of pairs",
    "From this share of tied pairs on, tau is said to look better than it is.",
    "A choice: tau-b leaves ties out of its denominator.",
)  # fmt: skip
LOW_RHO = _hints.threshold(
    "LOW_RHO", 0.3, "summary-level rho",
    "A judge that passes the annotator test with less is said to hardly tell good from bad.",
    "A choice: Cohen (1988) calls 0.3 a medium correlation.",
)  # fmt: skip
MODAL_SHARE = _hints.threshold(
    "MODAL_SHARE", 0.6, "share of outputs",
    "From this share with the same score on, that is given as the reason.",
    "A choice: most outputs.",
)  # fmt: skip
USED_DOCUMENTS = _hints.threshold(
    "USED_DOCUMENTS", 0.75, "share of documents",
    "Where fewer count at summary level, the report says so.",
    "A choice.",
)  # fmt: skip
CALIBRATION_GAIN = _hints.threshold(
    "CALIBRATION_GAIN", 0.75, "share of the error of raw scores",
    "Calibration is recommended where it leaves less than this share.",
    "A choice: a smaller gain is not worth a step more.",
)  # fmt: skip

_judges = _Topic("Numbers of a judge")
NOISE_OUTPUTS = _judges.threshold(
    "NOISE_OUTPUTS", 30, "scored outputs with two ratings",
    "With fewer there is no r without people's noise.",
    "The noise is the variance within these outputs.",
)  # fmt: skip
NOISE_RELIABILITY = _judges.threshold(
    "NOISE_RELIABILITY", 0.25, "reliability of the mean rating",
    "Below, there is no r without people's noise.",
    "The correction would more than double a correlation, and its interval does not hold.",
)  # fmt: skip
NOISE_DOCUMENTS = _judges.threshold(
    "NOISE_DOCUMENTS", 100, "documents that count",
    "With fewer, r without people's noise has no interval.",
    "With 20 and 50 whose outputs differ in spread, 95 % intervals held the true value in 90 to"
    " 92 %.",
)  # fmt: skip
CALIBRATION_OUTPUTS = _judges.threshold(
    "CALIBRATION_OUTPUTS", 100, "outputs with probabilities and single ratings",
    "With fewer nothing is said of a judge's probabilities.",
    "Bins of equal mass hold fewer than ten outputs each then.",
)  # fmt: skip
CALIBRATION_DOCUMENTS = _judges.threshold(
    "CALIBRATION_DOCUMENTS", 20, "documents that count",
    "With fewer nothing is said of a judge's probabilities.",
    "With 10, intervals of the gain over guessing held the true value in 92 % for right"
    " probabilities.",
)  # fmt: skip
CALIBRATION_MARGIN = _judges.threshold(
    "CALIBRATION_MARGIN", 0.1, "probability",
    "Probabilities can be taken as they stand where they are better than guessing, and calibration"
    " error and overconfidence are shown to be at most this, also by system and length.",
    "A choice: what is said to happen in 70 % happens in 60 to 80 %.",
)  # fmt: skip
PASS_FAIL_OUTPUTS = _judges.threshold(
    "PASS_FAIL_OUTPUTS", 10, "outputs of each kind",
    "Pass rates are corrected where people pass so many outputs, and fail so many.",
    "Fewer say too little about a judge's errors.",
)  # fmt: skip
PASS_FAIL_YOUDEN = _judges.threshold(
    "PASS_FAIL_YOUDEN", 0.1, "sensitivity + specificity − 1",
    "A judge with less is not corrected.",
    "It is hardly better than chance, and all that is known is divided by it.",
)  # fmt: skip
REPLIES_ITEMS = _judges.threshold(
    "REPLIES_ITEMS", 20, "items with two replies",
    "With fewer nothing is said of how steady a judge is.",
    "Fewer say too little about how far replies spread.",
)  # fmt: skip
PROBE_SPREAD = _judges.threshold(
    "PROBE_SPREAD", 0.8, "share of the spread of people's ratings",
    "A judge whose scores are shown to spread less uses too little of the scale.",
    "A choice.",
)  # fmt: skip
PROBE_RELIABILITY = _judges.threshold(
    "PROBE_RELIABILITY", 0.5, "ICC(1) of one score",
    "A judge that is shown to have less is noisy.",
    "Half of the variance of its scores is then noise.",
)  # fmt: skip
PROBED_SHARE = _judges.threshold(
    "PROBED_SHARE", 0.9, "share of the outputs that probes asked about",
    "With scores of fewer, with and without an instruction, a certificate cannot say how far one"
    " moves the judge.",
    "Replies that cannot be read may be those that an instruction changed.",
)  # fmt: skip
STUDY_OUTPUTS = _judges.threshold(
    "STUDY_OUTPUTS", 20, "outputs",
    "A study of a judge asks about no fewer.",
    "A choice; effects of probes take ten documents, too.",
)  # fmt: skip
STUDY_MOST_OUTPUTS = _judges.threshold(
    "STUDY_MOST_OUTPUTS", 1_000, "outputs",
    "A study of a judge asks about no more.",
    "A choice: each is asked about twice, and once more under each probe.",
)  # fmt: skip
BLEND_OUTPUTS = _judges.threshold(
    "BLEND_OUTPUTS", 10, "rated outputs",
    "A blend of judges is not learned from fewer.",
    "A choice: it has a weight for each judge.",
)  # fmt: skip
PPI_RATINGS = _judges.threshold(
    "PPI_RATINGS", 30, "ratings of a system, or of two systems",
    "With fewer, prediction-powered means have no interval.",
    "The weight of the judge is fitted to the same few.",
)  # fmt: skip
PPI_RANDOM = _judges.threshold(
    "PPI_RANDOM", 0.01, "p of Kolmogorov and Smirnov's test",
    "Below, rated outputs are said to be no random sample.",
    "A choice: every judge and criterion is tested, so 5 % would warn often by chance.",
)  # fmt: skip

_raters = _Topic("Annotators")
SEVERITY_SHARED = _raters.threshold(
    "SEVERITY_SHARED", 20, "outputs that others rated too",
    "An annotator with fewer has no severity.",
    "Fewer tell too little of it.",
)  # fmt: skip
SEVERITY_DOCUMENTS = _raters.threshold(
    "SEVERITY_DOCUMENTS", 20, "documents with two ratings of an output",
    "With fewer, severity has no interval.",
    "A choice: the variance is of sums over documents.",
)  # fmt: skip
SEVERITY_ERROR = _raters.threshold(
    "SEVERITY_ERROR", 2.0, "logits",
    "With a larger standard error, severity has no value.",
    "Hardly more than the prior is known: the annotator differs in one direction alone.",
)  # fmt: skip
RATING_VALUES = _raters.threshold(
    "RATING_VALUES", 11, "different ratings",
    "With more there is neither severity nor competence.",
    "Each value has too few ratings.",
)  # fmt: skip
COMPETENCE_RATERS = _raters.threshold(
    "COMPETENCE_RATERS", 3, "annotators",
    "With fewer there is no competence.",
    "Two annotators who differ do not show which of them is right.",
)  # fmt: skip
COMPETENCE_SHARED = _raters.threshold(
    "COMPETENCE_SHARED", 30, "outputs that others rated too",
    "An annotator with fewer has no competence.",
    "Fewer tell too little of it.",
)  # fmt: skip
COMPETENCE_OUTPUTS = _raters.threshold(
    "COMPETENCE_OUTPUTS", 50, "outputs with two ratings",
    "With fewer there is no competence.",
    "A choice: how common classes are is estimated from them.",
)  # fmt: skip
SPLIT = _raters.threshold(
    "SPLIT", 0.8, "probability of the likeliest class",
    "Below, people are said to be split on an output.",
    "A choice.",
)  # fmt: skip
SPAN_OUTPUTS = _raters.threshold(
    "SPAN_OUTPUTS", 10, "outputs that two people marked",
    "With fewer nothing is said of agreement on spans.",
    "Fewer say too little.",
)  # fmt: skip
SUSPECT_ITEMS = _raters.threshold(
    "SUSPECT_ITEMS", 10, "submitted items",
    "With fewer nobody is warned of, nor counts for how long others need.",
    "Everybody begins slowly.",
)  # fmt: skip
SUSPECT_FAST = _raters.threshold(
    "SUSPECT_FAST", 0.3, "share of the median time of an item",
    "Who needs less than this is called fast.",
    "They may be clicking without reading.",
)  # fmt: skip
SUSPECT_FLAT = _raters.threshold(
    "SUSPECT_FLAT", 0.95, "share of answers",
    "Who gives the same answer this often is called flat.",
    "They may be clicking without reading.",
)  # fmt: skip
READING_PACE = _raters.threshold(
    "READING_PACE", 15, "words per second",
    "An answer that took less time than the rated text at this pace was given without reading it;"
    " a participant of an open link with more such answers than others is not done.",
    "Twice what people who skim reach, and four times what they read (Brysbaert, 2019).",
)  # fmt: skip
CHANCE_LEVEL = _raters.threshold(
    "CHANCE_LEVEL", 0.02, "probability",
    "Who agrees with others as well as blind answers would with this probability is not above"
    " chance.",
    "Then 97 % of random annotators are not above it.",
)  # fmt: skip
CHANCE_ERROR = _raters.threshold(
    "CHANCE_ERROR", 0.05, "probability",
    "Nobody is called no better than chance where an honest annotator would be called so with a"
    " higher probability, nor a copy of another.",
    "At most 5 % of honest annotators are named.",
)  # fmt: skip
CHANCE_ITEMS = _raters.threshold(
    "CHANCE_ITEMS", 8, "items that others answered",
    "With fewer nobody is called no better than chance.",
    "Permutations of fewer are few, and everybody begins slowly.",
)  # fmt: skip
COPY_ITEMS = _raters.threshold(
    "COPY_ITEMS", 20, "items that two people answered",
    "With fewer nobody is said to give the same answers as another.",
    "A choice: fewer happen by chance where texts are alike.",
)  # fmt: skip
COPY_SHARE = _raters.threshold(
    "COPY_SHARE", 0.95, "share of shared items",
    "Who gives the same answers as another this often, and more often than other pairs, is said"
    " to copy.",
    "A choice: whoever copies leaves few items out.",
)  # fmt: skip
SUSPECT_CHECKS = _raters.threshold(
    "SUSPECT_CHECKS", 3, "attention checks",
    "With fewer nobody is warned of for their checks.",
    "One slip is no pattern.",
)  # fmt: skip
SUSPECT_RIGHT = _raters.threshold(
    "SUSPECT_RIGHT", 0.5, "share of attention checks",
    "Who gets a smaller share right is warned of.",
    "Most checks are easy.",
)  # fmt: skip

_improving = _Topic("Improving and certifying")
PROOF_ERROR = _improving.threshold(
    "PROOF_ERROR", 0.05, "probability",
    "How often anything is proven better where nothing is, over all looks together.",
    "The convention; `make bench-improve` counts it.",
)  # fmt: skip
LOCKED_DOCUMENTS = _improving.threshold(
    "LOCKED_DOCUMENTS", 10, "documents",
    "Fewer are not locked, and no plan asks for fewer.",
    "With fewer no gain has an interval.",
)  # fmt: skip
TRAINING_DOCUMENTS = _improving.threshold(
    "TRAINING_DOCUMENTS", 20, "documents",
    "A search takes so many documents that are not locked.",
    "Fewer choose by chance.",
)  # fmt: skip
FAILED_SHARE = _improving.threshold(
    "FAILED_SHARE", 0.02, "share of items",
    "Where more items of a look failed, nothing is compared.",
    "The comparison would be one of other documents.",
)  # fmt: skip
AFFORDABLE_DOCUMENTS = _improving.threshold(
    "AFFORDABLE_DOCUMENTS", 5_000, "documents more",
    "Where a requirement takes more to decide, it is said that no affordable number decides it.",
    "Nobody collects more to decide one requirement.",
)  # fmt: skip

_plans = _Topic("Plans")
PILOT_DOCUMENTS = _plans.threshold(
    "PILOT_DOCUMENTS", 10, "documents with a value",
    "A pilot with fewer gives no plan.",
    "How much documents vary is not known from fewer.",
)  # fmt: skip
PLAN_DOCUMENTS = _plans.threshold(
    "PLAN_DOCUMENTS", 100_000, "documents",
    "A plan that takes more is not made.",
    "Nobody rates so many.",
)  # fmt: skip
PROMISE = _plans.threshold(
    "PROMISE", 0.92, "quantile of the variance to come",
    "A promised number of documents is enough at this quantile.",
    "It kept promises in nine of ten campaigns on recorded judges, whose correlations are less"
    " regular than normal values.",
)  # fmt: skip
PROMISE_AT_ANY_TIME = _plans.threshold(
    "PROMISE_AT_ANY_TIME", 0.97, "quantile of the variance to come",
    "The same for a campaign that closes itself.",
    "The moment at which it stops varies as well.",
)  # fmt: skip
PROMISE_DOCUMENTS = _plans.threshold(
    "PROMISE_DOCUMENTS", 60, "documents",
    "Below, pages say to plan again when so many are rated.",
    "From here on a promise asks for at most 1.3 times what somebody needs who knows how documents"
    " vary.",
)  # fmt: skip
ACTIVE_OUTPUTS = _plans.threshold(
    "ACTIVE_OUTPUTS", 30, "rated outputs",
    "With fewer, a campaign chooses by the judges' disagreement instead of their predicted error.",
    "Errors are predicted by a line through them.",
)  # fmt: skip

_runs = _Topic("Runs")
FIRST_ITEMS = _runs.threshold(
    "FIRST_ITEMS", 20, "items",
    "After so many items a run pauses if half of them have no score, and has failed if none has"
    " one.",
    "Before all are paid for, and after enough to know.",
)  # fmt: skip
FIRST_ITEMS_FAILED = _runs.threshold(
    "FIRST_ITEMS_FAILED", 0.5, "share of the first items",
    "The run pauses where so many have no score, whatever the reasons.",
    "Half of what all items cost would buy nothing.",
)  # fmt: skip
UNRESOLVED = _runs.threshold(
    "UNRESOLVED", 0.01, "probability",
    "Where more goes to texts that may begin several points of the scale, an item fails.",
    "A choice; up to this, it counts as off the scale.",
)  # fmt: skip


def shown(value: float) -> str:
    """Return a threshold's value as people write it."""
    return f"{value:,}".replace(",", "\N{THIN SPACE}") if value >= 1000 else f"{round(value, 4):g}"


def markdown() -> str:
    """Return the page of the docs."""
    lines = [
        "# Thresholds",
        "",
        "Every threshold that decides what a report, a page or a command says stands in one table,"
        " `geval/statistics/thresholds.py`; this page is written from it. Tests hold each of them"
        " just below, at and just above. Formulas and sources are in [the method](method.md).",
    ]
    for topic in dict.fromkeys(threshold.topic for threshold in TABLE.values()):
        lines += [
            "",
            f"## {topic}",
            "",
            "| value | of | what it decides | why | name |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {shown(of.value)} | {of.unit} | {of.rule} | {of.reason} | `{of.name}` |"
            for of in TABLE.values()
            if of.topic == topic
        ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.stdout.write(markdown())
