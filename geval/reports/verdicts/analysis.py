"""The statistics of a criterion, of a judge on it, and of the comparison of two judges; arrays in,
frozen results out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from geval.reports.verdicts.check_figures import (
    Checks,
    View,
    agreeing_ratings,
    are_too_few_for_a_bar,
    filled_scores,
    judge_checks,
)
from geval.reports.verdicts.null_judges import NullJudge, NullView, null_judges
from geval.statistics.agreement import (
    MEASUREMENTS,
    Ceiling,
    LeaveOneOut,
    Measurement,
    coincidences,
    human_ceiling,
    raters_against_others,
    ratings_of_the_bar,
)
from geval.statistics.alt_test import AltTest
from geval.statistics.arrays import Outputs, Ratings, complete
from geval.statistics.attenuation import Disattenuated, disattenuated
from geval.statistics.bias import LengthBias, WriterBias, length_bias, writer_bias
from geval.statistics.calibration import (
    CalibrationError,
    cross_validated_error,
)
from geval.statistics.coefficients import Concentration, concentration
from geval.statistics.correlation import (
    COEFFICIENTS,
    Coefficient,
    Correlations,
    correlations,
    mean_of_documents,
)
from geval.statistics.jackknife import (
    LeftOut,
    interval_of_difference,
    no_interval,
    summary_interval,
)
from geval.statistics.pass_fail import PassFail, missing_as_wrong, pass_fail
from geval.statistics.ppi import PpiTable, ppi_table
from geval.statistics.reliability import Gwet, Icc, gwet, intraclass
from geval.statistics.resampling import Interval, Over
from geval.statistics.same_documents import Ranked, SameDocuments, on_same_documents, ties_as_0
from geval.statistics.scales import Scale
from geval.statistics.significance import (
    PairTest,
    holm,
    letters,
    new_systems_test,
    permutation_tests,
)
from geval.statistics.thresholds import (
    FAR_OFF,
    LETTERED_JUDGES,
    SIGNIFICANCE,
    VERDICT_OUTPUTS,
)
from geval.statistics.types import Estimate, FloatArray
from geval.statistics.weighted_kappa import KappaEstimate, weighted_kappa

# Fixed and stated, so that published intervals can be reproduced.
SEED = 0
# Means that differ by less are equal.
ROUNDING = 1e-9
# In place of a rater's position.
RATERS_MEAN = -1
OFF_SCALE = Estimate.undefined("the judge's scores are not on the criterion's scale")
# Pairs of judges are compared in batches with at most this many outputs.
MOST_TOGETHER = 4_000_000


@dataclass(frozen=True)
class JudgeAnalysis:
    """A judge on one criterion.

    `intervals` are at summary level over documents. `checks` has the figures of a verdict in the
    chosen view, and `filled` the same with missing scores as the best constant would have them
    (None where enough are there). `on_scale` says whether all scores are on the criterion's scale.
    `nulls` are null judges, `far_off` is the share of rated outputs whose score is far from
    people's, and `copied` the position of the rater whose ratings the scores are, or RATERS_MEAN
    (None for own scores). `kappa` is weighted kappa, and `passing` compares its verdicts with
    people's on a scale of two points; each also with missing scores.
    """

    correlations: Correlations
    intervals: dict[Coefficient, Interval]
    checks: Checks
    filled: Checks | None
    disattenuated: Disattenuated
    on_scale: bool
    alt_test: AltTest
    nulls: tuple[NullJudge, ...]
    far_off: Estimate
    spread: Concentration | None
    ppi: PpiTable
    calibration: CalibrationError | None
    length: LengthBias
    writers: WriterBias | None
    kappa: KappaEstimate
    passing: PassFail | None = None
    filled_passing: PassFail | None = None
    filled_kappa: KappaEstimate | None = None
    copied: int | None = None

    @property
    def is_constant(self) -> bool:
        """Whether all scores are the same."""
        return self.spread is not None and self.spread.modal_share == 1

    @property
    def shown(self) -> Interval:
        """The interval for the chosen level, coefficient and units."""
        return self.checks.overall.interval


@dataclass(frozen=True)
class Agreement:
    """Annotators' agreement on a criterion.

    `ceilings` hold one rater's mean correlation with the mean of the others at summary level, with
    its interval, without the raters `below_the_bar`. Raters `against_others` are shown to rate
    high what the others rate low.
    """

    ceilings: dict[Coefficient, Ceiling]
    alpha: dict[Measurement, Estimate]
    alpha_intervals: dict[Measurement, Interval]
    leave_one_out: dict[str, LeaveOneOut]
    below_the_bar: tuple[str, ...]
    against_others: tuple[str, ...]
    icc: Icc
    spread: Concentration | None
    gwet: Gwet

    @property
    def ceiling(self) -> dict[Coefficient, Estimate]:
        return {coefficient: ceiling.estimate for coefficient, ceiling in self.ceilings.items()}

    @property
    def without_interval(self) -> dict[str, list[str]]:
        """The coefficients of chance-corrected agreement without an interval, by reason."""
        intervals = {f"{name} alpha": of for name, of in self.alpha_intervals.items()}
        intervals |= {"AC1": self.gwet.ac1.interval, "AC2": self.gwet.ac2.interval}
        names: dict[str, list[str]] = {}
        for name, interval in intervals.items():
            if interval.reason:
                names.setdefault(interval.reason, []).append(name)
        return names


@dataclass(frozen=True)
class Significance:
    """Which judges differ on a criterion, at summary level.

    `means` are correlations by judge on the same documents, ties counted (see `on_common_ground`),
    NaN where it ranks nothing; judges are ordered by them. The tests, the `intervals` of
    differences over documents, and in how many documents each of two judges ranks outputs
    (`ranked`), are by pair of names. `adjusted` are Holm's p-values over all pairs on all criteria
    of a report, and judges that are not shown to differ by them share a letter.
    """

    coefficient: Coefficient
    over: Over
    means: dict[str, float]
    tests: dict[tuple[str, str], PairTest]
    intervals: dict[tuple[str, str], Interval]
    ranked: dict[tuple[str, str], Ranked] = field(default_factory=dict)
    adjusted: dict[tuple[str, str], float] = field(default_factory=dict)
    letters: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgeInput:
    """The input of a judge's analysis on a criterion.

    `human`, `scores` and `words` (of each output) have shape (outputs,), NaN for missing;
    `by_human` and `by_llm` are masks of systems that are people and language models, shape
    (systems,); `top` is a mask of outputs that campaigns without a design chose, shape (outputs,),
    None for none.
    """

    outputs: Outputs
    human: FloatArray
    ratings: Ratings
    scores: FloatArray
    words: FloatArray
    by_human: np.ndarray
    by_llm: np.ndarray
    scale: Scale
    top: np.ndarray | None = None

    @property
    def counted(self) -> FloatArray:
        """Return the scores of the outputs that count; shape (outputs,), NaN for others."""
        if self.top is None:
            return self.scores
        return np.where(self.top & np.isnan(self.human), np.nan, self.scores)


def analyse_judge(judged: JudgeInput, view: View) -> JudgeAnalysis:
    """Analyse a judge on one criterion."""
    outputs, human, scores = judged.outputs, judged.human, judged.scores
    documents = LeftOut.of(outputs.documents, outputs.group)
    common, (rated, scored) = complete(outputs, human, scores)
    coefficients = correlations(common, rated, scored)
    intervals = {c: summary_interval(common, coefficients.by_document[c]) for c in COEFFICIENTS}
    as_rated = outputs.unweighted
    on_scale = _on_scale(scores[~np.isnan(scores)], judged.scale)
    agreeing, left_out = agreeing_ratings(outputs, judged.ratings)
    tested = agreeing if on_scale else None
    bar = ratings_of_the_bar(as_rated, judged.ratings)

    def checks(of_scores: FloatArray) -> Checks:
        return judge_checks(
            outputs, human, bar, tested, of_scores, judged.words, judged.scale, view
        )

    filled = filled_scores(human, scores, tested, judged.scale)
    is_two = len(judged.scale.points) == 2
    are_too_few = are_too_few_for_a_bar(
        judged.ratings.raters, len(judged.ratings), int((~np.isnan(human)).sum())
    )
    of_people = None if are_too_few else bar
    wrong = missing_as_wrong(human, scores, judged.scale) if is_two else None
    figures = checks(scores)
    return JudgeAnalysis(
        correlations=coefficients,
        intervals=intervals,
        checks=figures,
        filled=None if filled is None else checks(filled),
        disattenuated=disattenuated(outputs, judged.ratings, judged.counted, documents),
        on_scale=on_scale,
        alt_test=_alt_test(figures.overall.test, judged.ratings.raters, left_out, view.epsilon),
        nulls=null_judges(
            NullView(
                outputs,
                human,
                bar,
                tested,
                scores,
                judged.words,
                judged.scale,
                view,
                is_by_labels=is_two or are_too_few,
            )
        ),
        far_off=_far_off(common, rated, scored, judged.scale) if on_scale else OFF_SCALE,
        spread=concentration(scores),
        ppi=ppi_table(outputs.clustered, human, scores),
        calibration=cross_validated_error(common.clustered, rated, scored, rng=_fold_rng(common)),
        length=length_bias(outputs, human, scores, judged.words, documents),
        writers=writer_bias(common, rated, scored, judged.by_human, judged.by_llm, documents),
        passing=pass_fail(outputs, human, scores, judged.scale, of_people),
        kappa=weighted_kappa(outputs, human, scores),
        filled_passing=(
            None if wrong is None else pass_fail(outputs, human, wrong, judged.scale, of_people)
        ),
        filled_kappa=None if filled is None else weighted_kappa(outputs, human, filled),
        copied=_copied(judged),
    )


def _fold_rng(outputs: Outputs) -> np.random.Generator:
    """Return the generator that divides documents into folds of the calibration.

    Reports used to draw a thousand signs for each document with all systems first, from 10 such
    documents on. To skip these, 500 words of the generator each, keeps published errors equal.
    """
    whole = int((outputs.by_document() == outputs.systems).sum())
    drawn = min(whole, 2000) if whole >= 10 and 2 <= outputs.systems <= 447 else 0
    return np.random.Generator(np.random.PCG64(SEED).advance(500 * drawn))


def _copied(judged: JudgeInput) -> int | None:
    """Return whose ratings the scores are on every output: a rater's position, or RATERS_MEAN; None
    if they are nobody's."""
    ratings, scores = judged.ratings, judged.scores
    scored = ~np.isnan(scores[ratings.output])
    shared = np.bincount(ratings.rater[scored], minlength=ratings.raters)
    same = ratings.value[scored] == scores[ratings.output[scored]]
    equal = np.bincount(ratings.rater[scored], same, minlength=ratings.raters)
    for rater in np.flatnonzero((shared >= VERDICT_OUTPUTS) & (equal == shared)):
        if np.ptp(scores[ratings.output[scored & (ratings.rater == rater)]]):
            return int(rater)
    rated = ~np.isnan(scores + judged.human) & (ratings.count > 1)
    means = judged.human[rated]
    is_mean = rated.sum() >= VERDICT_OUTPUTS and np.allclose(means, scores[rated], atol=ROUNDING)
    # Means of raters who always agree are what any good judge gives.
    return RATERS_MEAN if is_mean and (means % 1).any() else None


def _alt_test(
    test: AltTest | None, raters: int, left_out: tuple[int, ...], epsilon: float
) -> AltTest:
    """Return the alternative annotator test with the positions of its annotators among all raters;
    without one, the judge's scores are on another scale, and the test compares distances."""
    if test is None:
        return AltTest(epsilon, OFF_SCALE, OFF_SCALE, (), (), 0)
    kept = np.delete(np.arange(raters), left_out)
    return replace(test, annotators=tuple(kept[list(test.annotators)].tolist()), left_out=left_out)


def _far_off(outputs: Outputs, rated: FloatArray, scored: FloatArray, scale: Scale) -> Estimate:
    """Return the share of outputs whose score is more than a quarter of the scale from people's
    mean; on a scale of two points, whose score is not what most people gave."""
    if not len(rated):
        return Estimate.undefined("no output has both a rating and a score")
    share = 0.5 if len(scale.points) == 2 else FAR_OFF
    far = np.abs(rated - scored) > share * (scale.highest - scale.lowest) + 1e-9
    return Estimate(float(outputs.mean(far.astype(float))))


def _on_scale(values: FloatArray, scale: Scale) -> bool:
    return not len(values) or scale.spans(float(values.min()), float(values.max()))


def analyse_agreement(
    outputs: Outputs, ratings: Ratings, annotators: tuple[str, ...], scale: Scale | None = None
) -> Agreement:
    """Analyse annotators' agreement on one criterion; they are the raters of `ratings`."""
    documents = LeftOut.of(outputs.documents, outputs.group)
    bar = ratings_of_the_bar(outputs.unweighted, ratings)
    ceilings = {c: human_ceiling(outputs, bar, c, documents) for c in COEFFICIENTS}
    each = human_ceiling(outputs, ratings, "spearman", documents).by_rater
    coinciding = coincidences(outputs, ratings, documents)
    return Agreement(
        ceilings=ceilings,
        alpha={m: coinciding.alpha(m) for m in MEASUREMENTS},
        alpha_intervals={m: coinciding.interval(m, documents) for m in MEASUREMENTS},
        leave_one_out=dict(zip(annotators, each, strict=True)) if each else {},
        icc=intraclass(ratings),
        below_the_bar=tuple(
            name
            for name, has, stays in zip(annotators, ratings.active, bar.active, strict=True)
            if has and not stays
        ),
        against_others=tuple(annotators[at] for at in raters_against_others(outputs, ratings)),
        spread=concentration(ratings.value),
        gwet=gwet(outputs, ratings, documents, (scale.lowest, scale.highest) if scale else None),
    )


class Compared(NamedTuple):
    """Two judges at summary level on the same documents: the test, the interval of their difference
    over documents, and in how many documents each ranks outputs."""

    test: PairTest
    interval: Interval
    ranked: Ranked


# A judge's scores with its coefficients.
Found = tuple[FloatArray, Correlations]


def compare_pairs(
    outputs: Outputs,
    human: FloatArray,
    pairs: Sequence[tuple[Found, ...]],
    coefficient: Coefficient,
    over: Over,
) -> list[Compared]:
    """Compare pairs of judges; over documents with the same orderings and the seed of all reports.

    Args:
        pairs: of two judges each, with scores of shape (outputs,), NaN for missing.
    """
    at_once = max(1, MOST_TOGETHER // max(1, len(outputs)))
    comparisons = []
    for start in range(0, len(pairs), at_once):
        some = [
            _two_judges(outputs, human, pair, coefficient)
            for pair in pairs[start : start + at_once]
        ]
        if over == "documents":
            differences, weights = zip(*(each.independent for each in some), strict=True)
            tests = permutation_tests(differences, rng=seeded(), weights=weights)
        else:
            tests = [
                new_systems_test(outputs, human, first, second, coefficient, over)
                for (first, _), (second, _) in pairs[start : start + at_once]
            ]
        comparisons += [
            Compared(test, interval_of_difference(each), each.ranked)
            for test, each in zip(tests, some, strict=True)
        ]
    return comparisons


def at_worst(outputs: Outputs, human: FloatArray, scores: FloatArray) -> Found:
    """Return a judge's scores with those of rated outputs that are missing as far from people as
    its scores go: what it left out is then no reason for anything said in its favour (bounds
    without assumptions: Manski, 1989).

    Args:
        human, scores: shape (outputs,), NaN for missing.
    """
    is_missing = np.isnan(scores) & ~np.isnan(human)
    ends = np.where(human > np.nanmean(human), np.nanmin(scores), np.nanmax(scores))
    worst = np.where(is_missing, ends, scores)
    return worst, correlations(outputs, human, worst)


def without_claim(comparison: Compared, reason: str) -> Compared:
    """Return a comparison in which nothing is shown, for a reason."""
    if comparison.test.p is None:
        return comparison
    test = replace(comparison.test, p=None, reason=reason)
    return Compared(test, no_interval(reason), comparison.ranked)


def seeded() -> np.random.Generator:
    return np.random.default_rng(SEED)


def _two_judges(
    outputs: Outputs, human: FloatArray, pair: tuple[Found, ...], coefficient: Coefficient
) -> SameDocuments:
    (first, of_first), (second, of_second) = pair
    common, (rated, *_scores) = complete(outputs, human, first, second)
    # A judge's own correlations can be used if both scored the same outputs.
    if of_first.pairs == of_second.pairs == len(common):
        return SameDocuments(
            common.documents_ranked(rated),
            common.by_document(),
            of_first.by_document[coefficient],
            of_second.by_document[coefficient],
            common.document_weight,
            common.group,
        )
    return on_same_documents(outputs, human, first, second, coefficient)


def own_means(
    outputs: Outputs,
    human: FloatArray,
    judges: Mapping[str, Found],
    coefficient: Coefficient,
) -> dict[str, float]:
    """Return each judge's mean correlation over the documents in which people rank the outputs that
    it scored, including documents in which it ties all; NaN if it ranks nothing at all.

    Args:
        judges: with scores of shape (outputs,), NaN for missing.
    """
    means = {}
    for name, (scores, own) in judges.items():
        common, (rated, _scored) = complete(outputs, human, scores)
        of_document = own.by_document[coefficient]
        with_ties = ties_as_0(of_document, common.documents_ranked(rated))
        is_there = not np.isnan(of_document).all()
        mean = mean_of_documents(with_ties, common.document_weight)
        means[name] = mean if is_there else float("nan")
    return means


def on_common_ground(
    means: Mapping[str, float], tests: Mapping[tuple[str, str], PairTest]
) -> dict[str, float]:
    """Adjust means as little as possible (least squares) so that their differences match those of
    each pair of judges on common documents. Where all judges scored the same outputs, they are
    these means."""
    names = [name for name, mean in means.items() if not np.isnan(mean)]
    place = {name: index for index, name in enumerate(names)}
    rows, apart = [], []
    for (first, second), test in tests.items():
        if test.observed is not None and first in place and second in place:
            row = np.zeros(len(names))
            row[place[first]], row[place[second]] = 1.0, -1.0
            rows.append(row)
            apart.append(test.observed - (means[first] - means[second]))
    if not rows or np.abs(apart).max() < ROUNDING:
        return dict(means)
    moves = np.linalg.lstsq(np.array(rows), np.array(apart), rcond=None)[0]
    return {
        name: mean + (moves[place[name]] if name in place else 0.0) for name, mean in means.items()
    }


def rank_judges(means: Mapping[str, float]) -> list[str]:
    """Order judges by their means on the same documents, the best first and those without one
    last."""
    return sorted(means, key=lambda name: -np.nan_to_num(means[name], nan=-2))


def adjusted_together(criteria: Sequence[Significance]) -> list[Significance]:
    """Add p-values adjusted over all pairs of judges on all criteria, and the letters: at most 5 %
    of reports claim any difference wrongly."""
    tested = [
        (index, pair, test.p)
        for index, criterion in enumerate(criteria)
        for pair, test in criterion.tests.items()
        if test.p is not None
    ]
    p_values = holm([p for _at, _pair, p in tested]) if tested else []
    adjusted: list[dict[tuple[str, str], float]] = [{} for _ in criteria]
    for (index, pair, _p), p in zip(tested, p_values, strict=True):
        adjusted[index][pair] = p
    return [
        replace(criterion, adjusted=tests, letters=_letters(criterion.means, tests))
        for criterion, tests in zip(criteria, adjusted, strict=True)
    ]


def _letters(
    means: Mapping[str, float], adjusted: Mapping[tuple[str, str], float]
) -> dict[str, str]:
    names = [name for name in rank_judges(means) if not np.isnan(means[name])]
    if len(names) > LETTERED_JUDGES:
        return {}
    differ = tuple(sorted(pair for pair, p in adjusted.items() if p <= SIGNIFICANCE))
    return dict(_lettered(tuple(names), differ))


@lru_cache(maxsize=256)
def _lettered(names: tuple[str, ...], differ: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return letters(names, {frozenset(pair) for pair in differ})
