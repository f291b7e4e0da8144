"""Every threshold that decides what a report, a page or a command says: with what it decides and
the reason for its value.

Code and pages read the numbers here, the docs' page is written from them (`.ci/reference.py`), and
`tests/thresholds` tests each of them just below, at and just above.
Guards against rounding (1e-12) and size limits (rows of a page) are not thresholds and stay where
they are used.
"""

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
    reason: str = ""


TABLE: dict[str, Threshold] = {}


@dataclass(frozen=True)
class _Topic:
    """The topic of thresholds: a heading of the docs' page."""

    title: str

    def threshold(self, name: str, value: Number, unit: str, rule: str, reason: str = "") -> Number:
        """Add a threshold to the table and return its value."""
        TABLE[name] = Threshold(self.title, name, value, unit, rule, reason)
        return value


_levels = _Topic("Levels of error")
CONFIDENCE = _levels.threshold(
    "CONFIDENCE", 0.95, "share of intervals",
    "Intervals hold the true value in this share of data sets.",
    "Convention; `make bench-coverage` holds 93 to 97 %.",
)  # fmt: skip
SIGNIFICANCE = _levels.threshold(
    "SIGNIFICANCE", 0.05, "probability",
    "A difference, or effect of a probe, is claimed up to this adjusted p.",
)  # fmt: skip
POWER = _levels.threshold(
    "POWER", 0.8, "share of campaigns",
    "Plans find a difference of the stated size in this share.", "Convention (Cohen, 1988).",
)  # fmt: skip

_intervals = _Topic("Intervals")
INTERVAL_DOCUMENTS = _intervals.threshold(
    "INTERVAL_DOCUMENTS", 10, "documents that count",
    "Fewer: no interval over documents, effect of a probe, verdict or rank.",
    "95 % intervals held in less than 93 % of simulations.",
)  # fmt: skip
INTERVAL_GROUPS = _intervals.threshold(
    "INTERVAL_GROUPS", 8, "groups of documents",
    "Fewer groups: no interval over them and no claim.",
)  # fmt: skip
INTERVAL_SYSTEMS = _intervals.threshold(
    "INTERVAL_SYSTEMS", 10, "systems that count",
    "Fewer: no interval over systems, no test of judges on new systems.",
)  # fmt: skip
INTERVAL_OUTPUTS = _intervals.threshold(
    "INTERVAL_OUTPUTS", 60, "outputs in the documents that count",
    "Fewer: no interval at summary level.", "Coefficients of few outputs jump between few values.",
)  # fmt: skip
PEARSON_DOCUMENTS = _intervals.threshold(
    "PEARSON_DOCUMENTS", 50, "documents that count",
    "Fewer: Pearson's r at dataset level has no interval.",
    "With 10 and 20, few documents decide: intervals held in 90 to 92 %, or were up to three"
    " times as wide.",
)  # fmt: skip
ALPHA_SKEWNESS = _intervals.threshold(
    "ALPHA_SKEWNESS", 0.75, "skewness of ratings, in absolute value",
    "From here on, alpha has no interval; Gwet's AC2 has one.",
    "With skewness 1.4, intervals held in 86 to 93 %.",
)  # fmt: skip
EQUAL_VALUES = _intervals.threshold(
    "EQUAL_VALUES", 20, "different ratings",
    "More: AC1 has no interval.", "Intervals held in 85 %, as few documents have equal ratings.",
)  # fmt: skip
BOOTSTRAP_DOCUMENTS = _intervals.threshold(
    "BOOTSTRAP_DOCUMENTS", 50, "documents that count",
    "Fewer: † and ‡ are not tested.",
    "With ten, 88 of 100 bootstrap intervals hold the true value.",
)  # fmt: skip

_comparing = _Topic("Comparing judges")
RANKED_SHARE = _comparing.threshold(
    "RANKED_SHARE", 0.5, "share of the outputs of the judge with most",
    "A judge that scored a smaller share of rated outputs is not ranked.",
)  # fmt: skip
LETTERED_JUDGES = _comparing.threshold(
    "LETTERED_JUDGES", 12, "judges",
    "More judges get no letters.", "All groups are tried; so many letters help nobody.",
)  # fmt: skip
CHOICES_OF_EACH = _comparing.threshold(
    "CHOICES_OF_EACH", 5, "documents",
    "Agreement on comparisons has an interval if so many documents have an agreeing pair, and so"
    " many one that differs.",
    "Fewer show too little of how log-odds vary.",
)  # fmt: skip

_alt_test = _Topic("The alternative annotator test")
ALT_TEST_OUTPUTS = _alt_test.threshold(
    "ALT_TEST_OUTPUTS", 30, "outputs that others rated too",
    "An annotator with fewer is not compared with the judge, nor shown to disagree.",
    "Calderon, Reichart and Dror (2025).",
)  # fmt: skip
ALT_TEST_ANNOTATORS = _alt_test.threshold(
    "ALT_TEST_ANNOTATORS", 3, "annotators",
    "Fewer: no test.", "Calderon, Reichart and Dror (2025); of two, one win by chance is half.",
)  # fmt: skip
ALT_TEST_WINNING_RATE = _alt_test.threshold(
    "ALT_TEST_WINNING_RATE", 0.5, "share of annotators",
    "Winning against this share passes.", "Calderon, Reichart and Dror (2025).",
)  # fmt: skip
ALT_TEST_ERROR = _alt_test.threshold(
    "ALT_TEST_ERROR", 0.05, "false discovery rate",
    "A win against an annotator has at most this p, adjusted after Benjamini and Yekutieli.",
    "Calderon, Reichart and Dror (2025).",
)  # fmt: skip
ALT_TEST_EPSILON = _alt_test.threshold(
    "ALT_TEST_EPSILON", 0.2, "probability",
    "By less than this, unless the view sets another, the judge may be near to the others less"
    " often than an annotator.",
    "Calderon, Reichart and Dror (2025), in place of experts.",
)  # fmt: skip

_verdict = _Topic("The verdict")
VERDICT_OUTPUTS = _verdict.threshold(
    "VERDICT_OUTPUTS", 30, "outputs with ratings and scores",
    "Fewer: too early for a verdict.",
)  # fmt: skip
VERDICT_RATERS = _verdict.threshold(
    "VERDICT_RATERS", 3, "people who rated",
    "Fewer: too early for a verdict.", "Two raters who differ do not show who is right.",
)  # fmt: skip
EXPERT_SHARE = _verdict.threshold(
    "EXPERT_SHARE", 0.8, "share of one expert's fails, and of the passes",
    "Agrees as required: shown to find, and to keep, at least this.",
    "A choice, from what teams ask of a judge of one expert's labels.",
)  # fmt: skip
EXPERT_KAPPA = _verdict.threshold(
    "EXPERT_KAPPA", 0.6, "weighted kappa",
    "Agrees with one expert's ratings as required: shown to be at least this.",
    "“Substantial” from 0.61 on (Landis and Koch, 1977).",
)  # fmt: skip
EXPERT_LABELS = _verdict.threshold(
    "EXPERT_LABELS", 60, "outputs with ratings and scores",
    "Fewer: weighted kappa has no interval.", "Of 40 skewed ones intervals held in 91 %.",
)  # fmt: skip
VERDICT_ALPHA = _verdict.threshold(
    "VERDICT_ALPHA", 0.2, "Krippendorff's alpha (interval)",
    "Below: raters do not agree enough.",
    "Far below 0.667, under which Krippendorff (2004) draws no conclusions.",
)  # fmt: skip
VERDICT_MARGIN = _verdict.threshold(
    "VERDICT_MARGIN", 0.10, "correlation, or share of fails or passes",
    "Ranks like a rater, or finds and keeps as much: shown to be less than this behind.",
)  # fmt: skip
VERDICT_ERROR = _verdict.threshold(
    "VERDICT_ERROR", 0.05, "probability",
    "How often a check that should fail may pass, over all compared judges.",
    "Convention; `make bench-coverage` tests it at the border.",
)  # fmt: skip
VERDICT_SHARE = _verdict.threshold(
    "VERDICT_SHARE", 0.5, "share of what one rater reaches",
    "With one check passed, spot checks take this share.",
    "A judge that always gives the top score can pass the first check.",
)  # fmt: skip
BAR_SHARE = _verdict.threshold(
    "BAR_SHARE", 2 / 3, "share of the middle rater's rho with the others",
    "A rater of ten documents (of 30 outputs with a document each) with less is left out of “one"
    " rater”.",
    "More than half careless answers leave about half; of three honest raters, none was left out"
    " in 200 simulations.",
)  # fmt: skip
WITHIN_OUTPUTS = _verdict.threshold(
    "WITHIN_OUTPUTS", 10, "rated and scored outputs of a system",
    "A system with fewer does not count within systems.",
)  # fmt: skip
WITHIN_SYSTEMS = _verdict.threshold(
    "WITHIN_SYSTEMS", 2, "systems with as many outputs",
    "Fewer: no look within systems.",
)  # fmt: skip
SCORED_SHARE = _verdict.threshold(
    "SCORED_SHARE", 0.95, "share of the rated outputs",
    "Below: no judge stands in for raters, and the verdict is also computed with the best constant"
    " for missing scores; the weaker counts.",
    "A choice: bounds without assumptions would cost half of the verdicts at 2 % lost. A judge"
    " at the border that leaves out its worst twentieth can pass.",
)  # fmt: skip
FAR_OFF = _verdict.threshold(
    "FAR_OFF", 0.25, "share of the scale's width",
    "A larger distance from people's mean is a large error.", "More than one point from 1 to 5.",
)  # fmt: skip
CHECK_WIDTH = _verdict.threshold(
    "CHECK_WIDTH", 0.1, "share of outputs",
    "Spot checks show the share of large errors this closely.",
    "A choice: about a hundred outputs at most.",
)  # fmt: skip
NULL_CHANCE = _verdict.threshold(
    "NULL_CHANCE", 0.05, "share of shuffles",
    "A claim that more shuffled scores meet is not made.",
)  # fmt: skip

_hints = _Topic("Hints and cautions")
TIES_MISLEAD = _hints.threshold(
    "TIES_MISLEAD", 0.3, "share of pairs",
    "From here on, tau is said to look better than it is.",
)  # fmt: skip
LOW_RHO = _hints.threshold(
    "LOW_RHO", 0.3, "summary-level rho",
    "A judge that passes the annotator test with less is said to hardly tell good from bad.",
    "A choice: a medium correlation (Cohen, 1988).",
)  # fmt: skip
MODAL_SHARE = _hints.threshold(
    "MODAL_SHARE", 0.6, "share of outputs",
    "From here on, equal scores are named as the reason.",
)  # fmt: skip
USED_DOCUMENTS = _hints.threshold(
    "USED_DOCUMENTS", 0.75, "share of documents",
    "Fewer count at summary level: the report says so.",
)  # fmt: skip
CALIBRATION_GAIN = _hints.threshold(
    "CALIBRATION_GAIN", 0.75, "share of the error of raw scores",
    "Calibration that leaves less is recommended.",
)  # fmt: skip

_judges = _Topic("Numbers of a judge")
NOISE_OUTPUTS = _judges.threshold(
    "NOISE_OUTPUTS", 30, "scored outputs with two ratings",
    "Fewer: no r without people's noise.",
)  # fmt: skip
NOISE_RELIABILITY = _judges.threshold(
    "NOISE_RELIABILITY", 0.25, "reliability of the mean rating",
    "Below: no r without people's noise.", "It would more than double; its interval does not hold.",
)  # fmt: skip
NOISE_DOCUMENTS = _judges.threshold(
    "NOISE_DOCUMENTS", 100, "documents that count",
    "Fewer: r without people's noise has no interval.",
    "With 20 and 50, intervals held in 90 to 92 %.",
)  # fmt: skip
PASS_FAIL_OUTPUTS = _judges.threshold(
    "PASS_FAIL_OUTPUTS", 10, "outputs of each kind",
    "Sensitivity and specificity need this many passes and fails.",
)  # fmt: skip
PASS_FAIL_DOCUMENTS = _judges.threshold(
    "PASS_FAIL_DOCUMENTS", 20, "documents with several outputs each",
    "Fewer: shares of pass or fail have no interval.", "With 10, intervals held in 98 to 99 %.",
)  # fmt: skip
REPLIES_ITEMS = _judges.threshold(
    "REPLIES_ITEMS", 20, "items with two replies",
    "Fewer: nothing is said of steadiness.",
)  # fmt: skip
PROBE_SPREAD = _judges.threshold(
    "PROBE_SPREAD", 0.8, "share of the spread of people's ratings",
    "Shown to spread less: uses too little of the scale.",
)  # fmt: skip
PROBE_RELIABILITY = _judges.threshold(
    "PROBE_RELIABILITY", 0.5, "ICC(1) of one score",
    "Shown to have less: noisy.",
)  # fmt: skip
PROBED_SHARE = _judges.threshold(
    "PROBED_SHARE", 0.9, "share of the outputs that probes asked about",
    "Fewer scores with and without an instruction: a certificate cannot say how far it moves the"
    " judge.",
    "The instruction may have made replies unreadable.",
)  # fmt: skip
STUDY_OUTPUTS = _judges.threshold(
    "STUDY_OUTPUTS", 20, "outputs",
    "A study asks about no fewer.",
)  # fmt: skip
STUDY_MOST_OUTPUTS = _judges.threshold(
    "STUDY_MOST_OUTPUTS", 1_000, "outputs",
    "A study asks about no more.", "A choice: each is asked about twice, and once per probe.",
)  # fmt: skip
BLEND_OUTPUTS = _judges.threshold(
    "BLEND_OUTPUTS", 10, "rated outputs",
    "Fewer: no blend is learned.",
)  # fmt: skip
PPI_RATINGS = _judges.threshold(
    "PPI_RATINGS", 30, "ratings of a system",
    "Fewer: prediction-powered means have no interval.", "The judge's weight is fitted to them.",
)  # fmt: skip
PPI_RANDOM = _judges.threshold(
    "PPI_RANDOM", 0.01, "p of Kolmogorov and Smirnov's test",
    "Below: rated outputs are said to be no random sample.",
    "A choice: every judge and criterion is tested.",
)  # fmt: skip

_raters = _Topic("Annotators")
SEVERITY_SHARED = _raters.threshold(
    "SEVERITY_SHARED", 20, "outputs that others rated too",
    "Fewer: neither severity nor adjusted ratings.",
)  # fmt: skip
RATING_VALUES = _raters.threshold(
    "RATING_VALUES", 11, "different ratings",
    "More: neither adjusted ratings nor latent classes.",
)  # fmt: skip
CLASSES_RATERS = _raters.threshold(
    "CLASSES_RATERS", 3, "annotators",
    "Fewer: no latent classes.",
)  # fmt: skip
CLASSES_SHARED = _raters.threshold(
    "CLASSES_SHARED", 30, "outputs that others rated too",
    "Fewer: no latent classes.",
)  # fmt: skip
CLASSES_OUTPUTS = _raters.threshold(
    "CLASSES_OUTPUTS", 50, "outputs with two ratings",
    "Fewer: no latent classes.", "A choice: they show how common classes are.",
)  # fmt: skip
SPLIT = _raters.threshold(
    "SPLIT", 0.8, "probability of the likeliest class",
    "Below: people are split on an output.",
)  # fmt: skip
SPAN_OUTPUTS = _raters.threshold(
    "SPAN_OUTPUTS", 10, "outputs that two people marked",
    "Fewer: no agreement on spans.",
)  # fmt: skip
SUSPECT_ITEMS = _raters.threshold(
    "SUSPECT_ITEMS", 10, "submitted items",
    "Fewer: signs together name nobody.",
)  # fmt: skip
SIGNS_RATIO = _raters.threshold(
    "SIGNS_RATIO", 30, "times as likely without reading",
    "Checks, time, equal answers and agreement together are so much likelier: a person is named.",
    "By Markov's inequality 1 in 30 honest annotators at most; `make bench-people` counts under"
    " 2 %.",
)  # fmt: skip
READING_PACE = _raters.threshold(
    "READING_PACE", 15, "words per second",
    "Faster answers were given without reading; participants of an open link with mostly such"
    " answers are not done.",
    "Twice the pace of skimming, four times that of reading (Brysbaert, 2019).",
)  # fmt: skip
CHANCE_LEVEL = _raters.threshold(
    "CHANCE_LEVEL", 0.02, "probability",
    "Agreement that blind answers reach with this probability is not above chance.",
    "98 % of random annotators are then not above it.",
)  # fmt: skip
CHANCE_ERROR = _raters.threshold(
    "CHANCE_ERROR", 0.05, "probability",
    "How often an honest annotator may be called no better than chance, or a copy.",
    "At most 5 % of honest annotators are named.",
)  # fmt: skip
CHANCE_ITEMS = _raters.threshold(
    "CHANCE_ITEMS", 8, "items that others answered",
    "Fewer: nobody is called no better than chance.", "Few permutations; everybody begins slowly.",
)  # fmt: skip
CHANCE_AGREE = _raters.threshold(
    "CHANCE_AGREE", 1 / 3, "share of annotators of enough items",
    "Fewer above chance: nobody is called no better than chance.",
)  # fmt: skip
COPY_ITEMS = _raters.threshold(
    "COPY_ITEMS", 20, "items that two people answered",
    "Fewer: nobody is said to copy.", "A choice: fewer are equal by chance where texts are alike.",
)  # fmt: skip
COPY_SHARE = _raters.threshold(
    "COPY_SHARE", 0.95, "share of shared items",
    "Same answers as another this often, and more often than other pairs: a copy.",
)  # fmt: skip

_improving = _Topic("Improving and certifying")
PROOF_ERROR = _improving.threshold(
    "PROOF_ERROR", 0.05, "probability",
    "How often anything is proven where nothing is better, over all looks.",
    "Convention; `make bench-improve` counts it.",
)  # fmt: skip
LOCKED_DOCUMENTS = _improving.threshold(
    "LOCKED_DOCUMENTS", 10, "documents",
    "Fewer are not locked, and no plan asks for fewer.",
)  # fmt: skip
TRAINING_DOCUMENTS = _improving.threshold(
    "TRAINING_DOCUMENTS", 20, "documents",
    "A search takes so many that are not locked.",
)  # fmt: skip
FAILED_SHARE = _improving.threshold(
    "FAILED_SHARE", 0.02, "share of items",
    "More items of a look failed: nothing is compared.",
)  # fmt: skip
AFFORDABLE_DOCUMENTS = _improving.threshold(
    "AFFORDABLE_DOCUMENTS", 5_000, "documents more",
    "More to decide a requirement: no affordable number decides it.",
)  # fmt: skip

_policies = _Topic("Policies")
PROMISED_ERRORS = _policies.threshold(
    "PROMISED_ERRORS", 0.05, "share of kept outputs",
    "A policy promises at most so many errors.",
    "95 % of what is kept is within the points, or passes rightly.",
)  # fmt: skip
ALIKE_ERROR = _policies.threshold(
    "ALIKE_ERROR", 0.1, "probability",
    "Errors of a document are more alike than a policy assumes.",
    "`make bench-policy` holds broken promises to 5 % where documents share errors.",
)  # fmt: skip

_plans = _Topic("Plans")
PILOT_DOCUMENTS = _plans.threshold(
    "PILOT_DOCUMENTS", 10, "documents with a value",
    "Fewer: no plan.",
)  # fmt: skip
PLAN_DOCUMENTS = _plans.threshold(
    "PLAN_DOCUMENTS", 100_000, "documents",
    "No plan for more.",
)  # fmt: skip
PROMISE = _plans.threshold(
    "PROMISE", 0.92, "quantile of the variance to come",
    "A promised number of documents is enough at this quantile.",
    "Kept in nine of ten campaigns on recorded judges, which are less regular than normal values.",
)  # fmt: skip
PROMISE_AT_ANY_TIME = _plans.threshold(
    "PROMISE_AT_ANY_TIME", 0.97, "quantile of the variance to come",
    "The same for a campaign that closes itself.",
)  # fmt: skip
PROMISE_DOCUMENTS = _plans.threshold(
    "PROMISE_DOCUMENTS", 60, "documents",
    "Below: pages say to plan again at so many.",
    "From here on, a promise is at most 1.3 times what is needed.",
)  # fmt: skip
ACTIVE_OUTPUTS = _plans.threshold(
    "ACTIVE_OUTPUTS", 30, "rated outputs",
    "Fewer: a campaign chooses by judges' disagreement, not predicted error.",
)  # fmt: skip

_runs = _Topic("Runs")
FIRST_ITEMS = _runs.threshold(
    "FIRST_ITEMS", 20, "items",
    "After so many, a run pauses if half have no score, and fails if none has one.",
)  # fmt: skip
FIRST_ITEMS_FAILED = _runs.threshold(
    "FIRST_ITEMS_FAILED", 0.5, "share of the first items",
    "The run pauses if so many have no score.",
)  # fmt: skip
UNRESOLVED = _runs.threshold(
    "UNRESOLVED", 0.01, "probability",
    "More on texts that may begin several points: the item fails.",
    "A choice; up to this, it is off the scale.",
)  # fmt: skip


def shown(value: float) -> str:
    """Return a threshold's value as people write it."""
    return f"{value:,}".replace(",", "\N{THIN SPACE}") if value >= 1000 else f"{round(value, 4):g}"


def markdown() -> str:
    """Return the page of the docs."""
    lines = [
        "# Thresholds",
        "",
        "What decides what a report, a page or a command says, written from"
        " `geval/statistics/thresholds.py`. A value without a source or a reason is a choice."
        " Formulas are in [the method](../method.md).",
    ]
    for topic in dict.fromkeys(threshold.topic for threshold in TABLE.values()):
        lines += ["", f"## {topic}", ""]
        for of in (of for of in TABLE.values() if of.topic == topic):
            reason = f" *{of.reason}*" if of.reason else ""
            lines.append(f"- `{of.name}`: {shown(of.value)} {of.unit}. {of.rule}{reason}")
    return "\n".join([*lines, ""])
