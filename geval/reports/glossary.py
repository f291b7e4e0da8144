"""What each statistic of the report means and when to trust it, for pages and docs.

`python -m geval.reports.glossary > docs/glossary.md` writes the page of the docs.
"""

import sys
from dataclasses import dataclass

from geval.statistics.thresholds import (
    ALT_TEST_ANNOTATORS,
    ALT_TEST_EPSILON,
    ALT_TEST_OUTPUTS,
    INTERVAL_DOCUMENTS,
    LOCKED_DOCUMENTS,
    NOISE_OUTPUTS,
    PASS_FAIL_OUTPUTS,
    PROMISE_DOCUMENTS,
    REPLIES_ITEMS,
    SEVERITY_SHARED,
    SIGNIFICANCE,
    SPLIT,
    TRAINING_DOCUMENTS,
    VERDICT_ALPHA,
    VERDICT_ERROR,
    VERDICT_MARGIN,
    VERDICT_OUTPUTS,
    VERDICT_RATERS,
)


@dataclass(frozen=True)
class Term:
    """A statistic: its name, meaning, when to trust it, and the heading in docs/method.md with its
    formula."""

    name: str
    says: str
    trust: str
    formula: str

    @property
    def anchor(self) -> str:
        """The anchor of its formula on the method page."""
        return anchor(self.formula)


TERMS: dict[str, Term] = {
    "verdict": Term(
        "The verdict",
        "What the best judge may do on a criterion. It stands in for a rater if it scores and"
        " ranks like one; on pass or fail, if it finds and keeps as much as one. With one of the"
        " two, and half of what one rater reaches, use it with spot checks. Otherwise keep people"
        f" rating. Raters do not agree enough: Krippendorff's alpha is below {VERDICT_ALPHA:g}. Too"
        f" early to say: fewer than {VERDICT_OUTPUTS} rated outputs, {INTERVAL_DOCUMENTS} documents"
        f" or {VERDICT_RATERS} raters, or no interval.",
        f"Each check errs in at most {100 * VERDICT_ERROR:g} % of reports, shared among judges. It"
        " holds for these raters.",
        "The verdict",
    ),
    "scores_like_a_rater": Term(
        "Scores like a rater",
        "The judge passes the alternative annotator test: its scores are as close to the other"
        " raters as each rater's own, within a margin epsilon. It is also shown to be closer than"
        " the best constant, and than any judge that reads nothing but does both.",
        f"It takes {ALT_TEST_ANNOTATORS} raters with {ALT_TEST_OUTPUTS} shared outputs each, who"
        " agree with the others. Careless raters are named and left out.",
        "One rater, and whether the judge can replace an annotator",
    ),
    "ranks_like_a_rater": Term(
        "Ranks like a rater",
        f"In each rater's place, the judge is shown to be less than {VERDICT_MARGIN:.2f} behind,"
        " compared with the mean of the other raters. Its agreement must not be chance, also"
        " within systems and among texts of equal length, and be better than length alone.",
        "With few documents or many judges the interval is wide and the answer is “not yet”.",
        "The verdict",
    ),
    "null_judges": Term(
        "Judges that read nothing",
        "What reading nothing would earn: always the same score (the best constant), the order of"
        " the texts' length, the mean rating of the same system on other documents (who wrote it),"
        " and for pass or fail the commonest verdict (the majority).",
        "A claim that one of these meets too is not made. A constant often passes the annotator"
        " test where most ratings are alike.",
        "The verdict",
    ),
    "one_rater": Term(
        "One rater",
        "Each rater's correlation with the mean of the other raters, averaged. A judge can hardly"
        " agree with people more than they agree with each other.",
        "If it is low, the criterion is vague and a judge cannot be measured well.",
        "One rater, and whether the judge can replace an annotator",
    ),
    "share_of_ceiling": Term(
        "Share of one rater",
        "A judge's correlation as a share of one rater's, both with the mean of the same other"
        " raters.",
        "It may exceed 100 %: a judge can be steadier than one person.",
        "One rater, and whether the judge can replace an annotator",
    ),
    "spearman": Term(
        "Spearman's rho",
        "How well a judge puts outputs in people's order: 1 is the same order, 0 no relation, −1"
        " the reverse.",
        "It sees order alone: a judge that is always a point too low can have 1.",
        "Correlation",
    ),
    "pearson": Term(
        "Pearson's r",
        "How well a judge's scores follow people's mean ratings along a straight line: 1 is a"
        " perfect line, 0 no relation.",
        "A few extreme outputs can decide it.",
        "Correlation",
    ),
    "kendall": Term(
        "Kendall's tau-b",
        "How much more often a judge orders two outputs as people do than the other way round;"
        " ties are left out.",
        "Many ties inflate it: then read rho, and the share of tied pairs.",
        "Correlation",
    ),
    "level": Term(
        "Summary, session, system and dataset level",
        "Summary level: within each document, averaged; for choosing between outputs of one text."
        " Session level: over means of each system's turns of a session. System level: over means"
        " of systems, for ranking them. Dataset level: over all outputs or turns, for filtering.",
        "System level takes ten systems for an interval.",
        "Correlation",
    ),
    "interval": Term(
        "The 95 % interval",
        "How far the number could move with other documents (or systems) of the same kind. In 95"
        " of 100 data sets it holds the true value.",
        "It takes ten documents or systems, and says nothing about texts of another kind.",
        "Correlation",
    ),
    "plan": Term(
        "How many ratings a narrower interval takes",
        "The likely number, if the next documents vary as these do; and one that is enough in"
        " nine of ten cases.",
        f"From {PROMISE_DOCUMENTS} documents on, the second is at most 1.3 times what is needed."
        " Plan again as ratings come.",
        "What to rate next",
    ),
    "letters": Term(
        "Letters",
        "Judges that share a letter are not shown to differ on that criterion: paired tests over"
        " documents, systems or both, adjusted for all pairs.",
        "That does not mean equal; more documents may separate them.",
        "Which judges differ",
    ),
    "documents_used": Term(
        "Documents used",
        "How many documents enter the summary-level average. In the rest, people or the judge"
        " gave every output the same score. Where judges are compared, a document in which only"
        " the judge did so counts as 0.",
        "If few count, the correlation describes a small part of the data.",
        "Correlation",
    ),
    "advantage": Term(
        "Advantage probability",
        "The chance that the judge is at least as close to the other raters as a rater is.",
        "0.5 is an average rater's equal. It depends on how alike all ratings are.",
        "One rater, and whether the judge can replace an annotator",
    ),
    "smallest_epsilon": Term(
        "Smallest epsilon",
        "The smallest margin at which the judge passes the alternative annotator test; smaller is"
        " better.",
        f"{ALT_TEST_EPSILON:g} is usual in place of experts, 0.1 in place of a crowd.",
        "One rater, and whether the judge can replace an annotator",
    ),
    "tied_pairs": Term(
        "Tied pairs",
        "The share of pairs of outputs to which the judge gives the same score.",
        "With many ties it hardly tells outputs apart, however high its tau.",
        "Ties, and how much of the scale is used",
    ),
    "entropy": Term(
        "Entropy",
        "How much of the scale the judge uses, in bits: 0 if always the same score, 2.3 if five"
        " points equally often.",
        "Scores weighted by probabilities have more values.",
        "Ties, and how much of the scale is used",
    ),
    "calibration": Term(
        "Error, raw and calibrated",
        "The mean distance of the judge's scores from people's ratings, as they are and after a"
        " monotonic map learned on other documents, beside the best constant's.",
        "If the map helps much and beats the constant, the judge orders outputs well but is"
        " strict or lenient.",
        "Calibration",
    ),
    "length": Term(
        "Effect of length",
        "Whether the judge scores longer outputs higher (above 0) or lower (below 0) than shorter"
        " ones that people rate the same.",
        "An interval that holds 0 shows no effect.",
        "Bias",
    ),
    "own_family": Term(
        "Bias towards its own family",
        "How much higher, in points, the judge scores its own family's models than others that"
        " people rate the same.",
        "It takes texts of both kinds. Families are set on the page Systems, or guessed from"
        " names.",
        "Bias",
    ),
    "alpha": Term(
        "Krippendorff's alpha",
        "How far people agree with each other: 1 is full agreement, 0 is chance. Ordinal and"
        " interval alpha forgive small differences.",
        "Above 0.8 is good, from 0.67 usable. Where nearly all ratings are the same it is low"
        " even if people agree.",
        "Agreement among people",
    ),
    "anytime": Term(
        "Interval valid at any time",
        "An interval that you may look at after every document, stopping when you like: in at"
        " most 5 of 100 runs it ever misses the true value; a usual 95 % interval does in about a"
        " third.",
        "The price is width: up to four times with ten documents, twice with a hundred.",
        "Correlation",
    ),
    "campaign_plan": Term(
        "Documents that a campaign takes",
        "With the likely number the interval is as narrow as you want, or the test finds the"
        " difference, in half of campaigns; with the other in nine of ten. Both follow from the"
        " pilot, what people have rated.",
        f"Below {PROMISE_DOCUMENTS} documents the second is half as large again as needed. It"
        " holds for documents, raters and systems like the pilot's.",
        "What to rate next",
    ),
    "weights": Term(
        "Weights of a sample",
        "How many outputs a rated one stands for: 1 divided by the probability with which its"
        " campaign drew it. So numbers describe all outputs.",
        "The effective sample size (Kish) is how many outputs drawn with equal probabilities tell"
        " as much. Far below the rated outputs, few decide much.",
        "Samples",
    ),
    "gwet": Term(
        "Gwet's AC1 and AC2",
        "Agreement of people beyond chance, where chance does not grow as one rating becomes"
        " common. AC1 counts equal ratings; AC2 also near ones in part.",
        "Read them beside alpha, which may be low where nearly all ratings are the same."
        " Categories are the ratings that occur.",
        "Agreement among people",
    ),
    "icc": Term(
        "Intraclass correlation (ICC)",
        "The share of the variance of ratings that lies between outputs and not between people:"
        " ICC(2,1) of one person's rating.",
        "ICC(2,1) needs outputs that everybody rated; ICC(1) does not.",
        "Agreement among people",
    ),
    "reply_reliability": Term(
        "Reliability of one reply",
        "The share of the variance of replies that lies between items, not between replies to the"
        " same question (ICC(1)): 1 if the judge always repeats itself, 0 if a reply says nothing"
        " about the next.",
        f"It takes {REPLIES_ITEMS} items with two replies, and says nothing about agreement with"
        " people.",
        "How steady a judge is",
    ),
    "reply_error": Term(
        "Error of a reply, of a score",
        "The standard error of measurement in points: how far one reply, or a score (the mean of"
        " an item's replies), lies from the mean of ever more.",
        "Smaller differences between scores are noise.",
        "How steady a judge is",
    ),
    "replies_differ": Term(
        "Two replies differ",
        "The chance that the judge rates an item differently when asked again.",
        "It grows with the number of points of the scale.",
        "How steady a judge is",
    ),
    "order_flips": Term(
        "Orders flip",
        "The chance that, asked twice with one reply each, the judge puts two outputs of a"
        " document in opposite orders. Ties are no flip.",
        "More replies per item make flips rarer.",
        "How steady a judge is",
    ),
    "more_replies": Term(
        "r with people, by replies",
        "Pearson's correlation with people's mean over all outputs that scores of 1, 5 or 20"
        " replies would have (Spearman and Brown).",
        "Within 0.01 of Topical-Chat's recorded 15 replies; far beyond the replies there are it"
        " extrapolates.",
        "How steady a judge is",
    ),
    "probe": Term(
        "A probe",
        "A change of the prompt or the output that says nothing about quality. Its effect is the"
        " mean difference between scores with and without it.",
        "Effect: shown not to be 0 (for checks: not as it should be), at 5 % over a whole study."
        " Typing errors may rightly cost points on grammar.",
        "Sensitivity",
    ),
    "instructed": Term(
        "Moved by an instruction",
        "Points by which scores change if the output ends with a sentence to the judge that asks"
        " for the highest rating, with the 95 % interval, by its newest probes.",
        "0 is right. Whoever writes the texts can sway a judge that is moved. “Not shown to be"
        " moved” is no proof for other instructions.",
        "Sensitivity",
    ),
    "threshold": Term(
        "Passes from",
        "The score from which on the judge passes an output: where sensitivity plus specificity"
        " is greatest. The counts beside it use thresholds chosen on other documents.",
        "With few outputs it moves.",
        "Pass or fail",
    ),
    "sensitivity": Term(
        "Sensitivity, specificity",
        "The class to find is “fail”: of the outputs that people fail, the share that the judge"
        " fails (sensitivity, true positive rate, TPR, recall, fails found); of those they pass,"
        " the share that it passes (specificity, true negative rate, TNR, passes kept). A criterion"
        " can turn it.",
        f"It takes {PASS_FAIL_OUTPUTS} outputs of each kind, and {INTERVAL_DOCUMENTS} documents"
        " for an interval. People pass an output if their mean is at least the middle of the"
        " scale.",
        "Pass or fail",
    ),
    "rubric": Term(
        "Rubric, total of items",
        "The weighted share of the items that an output passes, on the scale of the rubric. Items"
        " that do not apply are left out.",
        "A rater or judge who left an item without an answer has no total for that output.",
        "Rubrics",
    ),
    "weighted_kappa": Term(
        "Weighted kappa",
        "Agreement beyond chance of two who rate on one scale, where a distance counts with its"
        " square: 1 is the same rating everywhere, 0 what chance would give.",
        "Scores that are always one point higher lower it, too.",
        "The verdict",
    ),
    "precision": Term(
        "Precision, accuracy",
        "Of the outputs that the judge fails, the share that people fail (precision); of all, the"
        " share with the same verdict (accuracy).",
        "Where nearly all outputs pass, always “pass” has a high accuracy.",
        "Pass or fail",
    ),
    "kappa_ac1": Term(
        "Kappa, AC1",
        "Agreement of the judge with people beyond chance: Cohen's kappa, and Gwet's AC1, which"
        " stays meaningful where nearly all outputs pass.",
        "If the two differ much, one outcome is rare: read sensitivity and specificity.",
        "Pass or fail",
    ),
    "corrected_rate": Term(
        "Corrected pass rate",
        "A system's true pass rate: by the judge's verdicts on all its outputs, and people's labels"
        " of some that it passes and some that it fails.",
        "It holds if the labelled ones were drawn at random among those with the same verdict.",
        "Pass or fail",
    ),
    "locked_documents": Term(
        "Locked documents",
        "Documents that are set aside, so that a better judge can be proven on texts that no"
        " attempt has seen. No search, example or map uses their ratings, and nothing shows them"
        " until the last look.",
        "They prove something only while nobody tunes a judge on them in other ways.",
        "Improving a judge",
    ),
    "look": Term(
        "A look",
        "One comparison of a change with today's judge on the locked documents. Each is recorded."
        " All allowed looks share an error of 5 %, so their intervals are wider than 95 % ones.",
        "A look cannot be taken back.",
        "Improving a judge",
    ),
    "proven": Term(
        "Proven",
        "On the locked documents the whole interval of the gain is above 0; a calibration map"
        " also beats the best constant. Not proven: a gain was not shown. Worse: the whole"
        " interval is below 0.",
        f"It takes {TRAINING_DOCUMENTS} training and {LOCKED_DOCUMENTS} locked documents with"
        " ratings and scores. At most 5 % of projects prove anything that is not so.",
        "Improving a judge",
    ),
    "smallest_gain": Term(
        "What can be proven",
        "The smallest gain that the locked documents prove in four of five tries, judging by how"
        " much judges' rho differs between documents.",
        "An estimate from training documents; more locked documents prove smaller gains.",
        "Improving a judge",
    ),
    "policy": Term(
        "Policy",
        "Which answers of a judge are kept: those with at least some confidence. People rate the"
        " other outputs, and a random share of the kept ones.",
        f"It takes {TRAINING_DOCUMENTS} training and {LOCKED_DOCUMENTS} locked documents with"
        " ratings and scores. Training documents choose it; locked ones prove it.",
        "Policies",
    ),
    "promise": Term(
        "Promise",
        "What holds of the kept answers. A promise is broken in at most 5 % of projects; all"
        " allowed looks share this error.",
        "It holds for new documents like these, from the same systems, rated by the same people."
        " Groups are shown, not promised.",
        "Policies",
    ),
    "kept": Term(
        "Coverage of a policy",
        "The share of outputs on which the judge's answer is kept. The error is that of kept"
        " answers alone, with people's ratings taken as right.",
        "Each end of the error's interval is wrong in at most 5 %; the coverage has a 95 %"
        " interval.",
        "Policies",
    ),
    "promise_today": Term(
        "Whether a promise still holds",
        "From the kept answers that people checked at random, as rated, with an interval valid at"
        " any time: broken if all of it is above the promise, holding if all is below.",
        "Until enough answers are checked, the promise is not contradicted. What moved compares"
        " means of a week with those at the proof (Welch's t over documents, adjusted by Holm).",
        "Policies",
    ),
    "disattenuated": Term(
        "r without people's noise",
        "What Pearson's r over all outputs would be if the mean rating held no noise (Spearman's"
        " correction for attenuation). It tells a wrong judge from noisy ratings.",
        f"It takes {NOISE_OUTPUTS} outputs that two people rated, and a mean rating of which at"
        " least a quarter is not noise. It may exceed 1 by chance.",
        "One rater, and whether the judge can replace an annotator",
    ),
    "human_score": Term(
        "Human score",
        "What judges are compared with: one value per output from people's ratings. Usually their"
        " mean; the filters offer the median, ratings adjusted for severity, Dawid and Skene's"
        " expected class, and adjudicators' decisions.",
        "Where annotators rated different outputs, adjust for severity; where some guess, take"
        " the expected class. Choose before you look at judges.",
        "Annotators as instruments",
    ),
    "severity": Term(
        "Severity",
        "How much lower a person's ratings are than the mean of the others' on the same outputs,"
        " in points; above 0 is strict.",
        f"It takes {SEVERITY_SHARED} outputs that others rated too. Strict is not wrong: the mean"
        " is no truth.",
        "Annotators as instruments",
    ),
    "split": Term(
        "Split outputs",
        "Outputs on which competent people differ: Dawid and Skene's model is less than"
        f" {100 * SPLIT:g} % sure of their class.",
        "Read them: the criterion may be vague, or one more rating may settle it. The model takes"
        " a near value as just another class, and is surer than it is right.",
        "Annotators as instruments",
    ),
    "span_f1": Term(
        "Agreement on spans (F1)",
        "How far the characters that two people marked are the same, from 0 to 1, over all pairs"
        " of people who marked the same output.",
        "Not corrected for chance: where much is marked, marks overlap.",
        "Annotators as instruments",
    ),
    "ppi": Term(
        "Prediction-powered means",
        "Each system's mean human rating, estimated from the ratings there are and the judge's"
        " scores of all outputs; narrower than from ratings alone.",
        "Valid only if the rated outputs are a random sample, or drawn by a campaign with known"
        " probabilities.",
        "Few ratings, many scores",
    ),
    "effective_ratings": Term(
        "Effective ratings",
        "How many ratings alone would give the same precision.",
        "The more it exceeds the rated outputs, the more the judge helps.",
        "Few ratings, many scores",
    ),
    "coverage": Term(
        "Coverage",
        "How much of the model's probability was on points of the scale, before the score was"
        " computed.",
        "Items below the judge's minimum have no score. If there are many, look at the replies.",
        "What a G-Eval score is",
    ),
    "gap": Term(
        "The gap",
        "A judge's score minus the mean rating of the same output, in points. If its mean is"
        " clearly not 0, the judge is strict or mild; rank by the gap beyond that shift to see"
        " what is left.",
        "Judges on another scale are mapped by rank. With few raters the mean rating may be off.",
        "Disagreements",
    ),
    "difference": Term(
        "The difference between two judges",
        "How much higher the first judge's correlation with people is than the second's, on the"
        " same outputs, with its 95 % interval.",
        "It is one comparison of many: read the adjusted p beside it.",
        "Which judges differ",
    ),
    "adjusted_p": Term(
        "The adjusted p",
        "How often two judges that are alike would seem to differ at least this much, adjusted"
        " for all pairs of judges and all criteria.",
        f"At most {SIGNIFICANCE:g} counts as a difference. A large p does not mean equal.",
        "Which judges differ",
    ),
    "same_point": Term(
        "The same point",
        "The share of outputs to which two judges give the same point of the scale, rounded.",
        "Two judges can be wrong together: people are not in it.",
        "Agreement among people",
    ),
    "judge_cost": Term(
        "The cost of 1 000 items",
        "Tokens, minutes and money of a judge's finished runs, for 1,000 outputs on one criterion.",
        "Stored replies are left out. Minutes depend on the endpoint's limits and on calls at"
        " once.",
        "The report page",
    ),
    "no_score": Term(
        "No score",
        "Outputs without a score by the judge: not run, a failed call, or no readable rating."
        " They are left out of its numbers.",
        "If many are of one kind, the other numbers describe the easy outputs.",
        "Correlation",
    ),
    "pass_counts": Term(
        "Who passes what",
        "How many outputs pass by the judge and by people: both, only one of them, or neither."
        " People's mean passes from the middle of the scale.",
        "Outputs that only the judge passes slip through if it decides alone.",
        "Pass or fail",
    ),
    "one_agrees": Term(
        "Exactly one agrees",
        "One judge's score is within half a step of the mean rating, the other's more than one"
        " step away. In between nothing is claimed.",
        "With one or two raters the mean may be off. On long scales a step is a tenth of the"
        " scale, on two points half of it.",
        "Which judges differ",
    ),
}


def markdown() -> str:
    """Return the glossary as a page of the docs."""
    parts = [
        "# Glossary",
        "What the report's numbers say and, in italics, when to trust them; headings lead to"
        " formulas. The report shows the same texts behind each “?”.",
    ]
    for term in TERMS.values():
        parts.append(f"## [{term.name}](method.md#{term.anchor})")
        parts.append(term.says)
        parts.append(f"*{term.trust}*")
    return "\n\n".join(parts) + "\n"


def anchor(heading: str) -> str:
    """Return a heading's anchor on a page of the docs."""
    kept = (letter for letter in heading.lower() if letter.isalnum() or letter in " -")
    return "".join(kept).replace(" ", "-")


if __name__ == "__main__":
    sys.stdout.write(markdown())
