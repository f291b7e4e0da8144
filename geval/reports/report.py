"""Compute a report from arrays: how well each judge's scores agree with people's ratings, by
criterion."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from geval.reports.data import ReportData
from geval.reports.instructed import Instructed
from geval.reports.label_results import LabelsResult, labels_result
from geval.reports.leaderboard import Leaderboard
from geval.reports.not_applicable import (
    NotApplicable,
    NotApplicableToPeople,
    agreement_of_judges,
    agreement_of_people,
)
from geval.reports.options import ReportOptions
from geval.reports.samples import Seen, marked, marked_on
from geval.reports.verdicts.analysis import (
    Agreement,
    Compared,
    Found,
    JudgeAnalysis,
    JudgeInput,
    Significance,
    adjusted_together,
    analyse_agreement,
    analyse_judge,
    at_worst,
    compare_pairs,
    on_common_ground,
    own_means,
    rank_judges,
    without_claim,
)
from geval.reports.verdicts.check_figures import (
    Checks,
    View,
    are_too_few_for_a_bar,
    view_within,
)
from geval.reports.verdicts.expert import LabelEvidence
from geval.reports.verdicts.null_judges import NullJudge
from geval.reports.verdicts.steps import OnStep, part_of, unseen
from geval.reports.verdicts.verdict import Evidence, Verdict, verdict_of
from geval.statistics.agreement import rater_at, ratings_of_the_bar
from geval.statistics.alt_test import AltTest
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.bias import Family, FamilyBias, family_bias
from geval.statistics.cache import remembered, remembered_as, remembered_each
from geval.statistics.correlation import (
    Coefficient,
    Correlations,
    Level,
    correlation_at,
    levels_of,
)
from geval.statistics.expert_bar import USUAL_BAR, ExpertBar
from geval.statistics.jackknife import (
    LeftOut,
    difference_interval,
    interval_of_the_best,
    no_interval,
)
from geval.statistics.pass_fail import Majority, lead_of
from geval.statistics.projection import Projection, document_gains, projections
from geval.statistics.resampling import Interval
from geval.statistics.scales import Scale
from geval.statistics.shares import ShareEstimate
from geval.statistics.thresholds import (
    INTERVAL_DOCUMENTS,
    RANKED_SHARE,
    SIGNIFICANCE,
)
from geval.statistics.types import Estimate, FloatArray
from geval.statistics.weighted import freedom_share, kish
from geval.statistics.weighted_kappa import KappaEstimate
from geval.statistics.within_systems import level_within, ratings_within_systems
from geval.texts.subjects import CriterionLike, JudgeLike

# Once these are rated, the order may change.
MOST_NEXT = 5
_UNKNOWN = "there are no texts of the judge's own family"
NO_FAMILY = FamilyBias.undefined(_UNKNOWN)
UNKNOWN_FAMILY = Family("", False)
_ALONE = "no two annotators rated the same outputs"
LEFT_OUT = (
    "{} of {} rated outputs have scores of {}, which may have left out what it gets wrong; with the"
    " worst scores there, nothing is shown"
)
NO_CEILING, NO_CEILING_INTERVAL = Estimate.undefined(_ALONE), no_interval(_ALONE)


@dataclass(frozen=True)
class JudgeResult:
    """A judge on one criterion: its analysis, and the number of outputs without a score. `pk` is
    the judge's id."""

    pk: int
    judge: str
    analysis: JudgeAnalysis
    missing: int
    is_stand_in: bool
    letters: str = ""  # empty at levels other than the one at which judges are compared
    own_family: FamilyBias = NO_FAMILY
    family: Family = UNKNOWN_FAMILY
    guessed_families: int = 0  # for systems whose family follows from their name
    seen: Seen | None = None  # what its search has seen of the documents
    instructed: Instructed | None = None  # None for a judge that no text can instruct
    repeats: ShareEstimate | None = None  # on which share of outputs it gave the same score again

    @property
    def named(self) -> str:
        """The judge's name next to its numbers."""
        return marked(self.judge, is_seen=self.seen is not None)

    @property
    def correlations(self) -> Correlations:
        return self.analysis.correlations

    @property
    def nulls_that_pass(self) -> tuple[str, ...]:
        """The null judges that pass the alternative annotator test as well."""
        return tuple(null.title for null in self.analysis.nulls if null.passes)

    @property
    def intervals(self) -> dict[Coefficient, Interval]:
        return self.analysis.intervals

    @property
    def alt_test(self) -> AltTest:
        return self.analysis.alt_test

    def shown(self, options: ReportOptions) -> Estimate:
        """Return the correlation that the reader chose."""
        return self.correlations.estimates[options.coefficient][options.level]


@dataclass(frozen=True)
class Weights:
    """The weights of the rated `outputs`: smallest, largest, and the effective sample size.
    `freedom` is the share of degrees of freedom compared with a uniform sample.
    `is_within_documents` says whether weights differ within a document, whose outputs were then
    drawn separately."""

    outputs: int
    least: float
    most: float
    effective: float
    freedom: float
    is_within_documents: bool


def weights_of(outputs: Outputs) -> Weights | None:
    """Summarise the weights of rated outputs; None where all are equal or none is rated."""
    if outputs.weight is None or not outputs.weight.any():
        return None
    rated = outputs.part(outputs.weight > 0)
    weight = rated.weight
    assert weight is not None
    return Weights(
        len(rated),
        float(weight.min()),
        float(weight.max()),
        kish(weight),
        freedom_share(weight),
        rated.weight_in_documents is not None,
    )


@dataclass(frozen=True)
class AsClose:
    """Another criterion on which people's ratings are followed as closely by a judge's scores on
    this one, or more closely, with its correlation."""

    criterion: str
    correlation: Estimate
    is_closer: bool


@dataclass(frozen=True)
class CriterionResult:
    """All judges on one criterion. `documents` have at least one human rating on it; `in_sight`
    counts ratings made while LLM scores were visible, which may have influenced them. `compared` is
    how many judges of the project scored it, from which the best is chosen. `no_human_score` says
    why no output has the view's human score; `unscored` counts the rated outputs without one.
    `outputs_in_document` is the largest number of rated outputs in a document, and
    `share_of_groups` the effective number of groups by documents, 1 without groups."""

    pk: int
    criterion: str
    documents: int
    rated_outputs: int
    judges: tuple[JudgeResult, ...]
    agreement: Agreement
    significance: Significance
    in_sight: int = 0
    annotators: tuple[str, ...] = ()
    ratings: int = 0
    rate_next: tuple[str, ...] = ()
    weights: Weights | None = None
    share_of_groups: float = 1.0
    compared: int = 1
    no_human_score: str = ""
    unscored: int = 0
    outputs_in_document: int = 0
    options: ReportOptions = field(default_factory=ReportOptions)
    # What one rater reaches, at the view's level and with its coefficient.
    ceiling: Estimate = NO_CEILING
    ceiling_interval: Interval = NO_CEILING_INTERVAL
    # What one rater reaches within systems.
    ceiling_within: Estimate = NO_CEILING
    # What an expert's labels have to show.
    bar: ExpertBar = USUAL_BAR
    # Of a rubric, whose totals are the ratings and scores.
    items: int = 0
    # Of the best judge; None where its scores are shown to follow this criterion most closely.
    as_close: AsClose | None = None

    @cached_property
    def best(self) -> "JudgeResult | None":
        """The ranked judge with the strongest verdict; of several the one that agrees best with
        people in this view (at summary level on the same documents, ties counted). None if none has
        a correlation."""
        judges = [judge for judge in self.ranked if self.compared_by(judge) > -np.inf]
        return max(
            judges,
            key=lambda judge: (-self._choice_of(judge), self.compared_by(judge)),
            default=None,
        )

    def _choice_of(self, result: "JudgeResult") -> int:
        verdict = self.verdict_on(result)
        return verdict.choice if self._is_by_labels(result) else verdict.place

    def verdict_on(self, result: "JudgeResult") -> Verdict:
        """Return the verdict on a judge; it is too early for one that is not compared with
        others. More ratings do not help one that ranks nothing of what people rank."""
        if not self.ranks(result):
            return Verdict.TOO_EARLY
        if result.analysis.passing is None and self.ranks_nothing(result):
            return self.without_a_judge
        if by_labels := self.by_labels(result):
            return by_labels.verdict
        return verdict_of(self.evidence(result))

    def ranks_nothing(self, result: "JudgeResult") -> bool:
        """Return whether a judge gives all outputs the same score, or, at summary level, all of
        each document in enough documents that people rank."""
        correlations = result.correlations
        return result.analysis.is_constant or (
            self.options.level == "summary"
            and not correlations.documents_used
            and correlations.documents_ranked >= INTERVAL_DOCUMENTS
        )

    def compared_by(self, result: "JudgeResult") -> float:
        """Return the value by which judges are ordered in this view: at summary level the mean on
        the same documents, elsewhere the shown correlation; by labels the balanced
        accuracy, or weighted kappa. Minus infinity where undefined."""
        value = result.shown(self.options).value
        if by_labels := self.by_labels(result):
            own = by_labels.passing.balanced if by_labels.passing else by_labels.kappa
            return -1.0 if own.estimate.value is None else own.estimate.value
        if value is None:
            return -np.inf
        if self.options.level == "summary":
            return self.significance.means.get(result.judge, value)
        return value

    @property
    def ranked(self) -> "tuple[JudgeResult, ...]":
        return tuple(result for result in self.judges if self.ranks(result))

    def ranks(self, result: "JudgeResult") -> bool:
        """Return whether a judge is compared with others: it has enough rated documents for an
        interval, and scores for at least half as many rated outputs as any judge. A judge that
        scored only a few easy documents must not be the best."""
        correlations = result.correlations
        most = self._most_outputs
        return (
            correlations.documents >= INTERVAL_DOCUMENTS
            and correlations.pairs >= RANKED_SHARE * most
        )

    @cached_property
    def _most_outputs(self) -> int:
        """The most rated outputs that any judge scored."""
        return max(judge.correlations.pairs for judge in self.judges)

    def share_of_ceiling(self, result: "JudgeResult") -> float | None:
        """Return a judge's correlation as a share of what one rater reaches in this view, both with
        the mean of the same other annotators."""
        return self.evidence(result).share

    def interval_of(self, result: "JudgeResult") -> Interval:
        """Return the interval of a judge's correlation; of the best with the correction for having
        been chosen."""
        value, interval = result.shown(self.options).value, result.analysis.shown
        if value is None or self.best is None or result.pk != self.best.pk:
            return interval
        counting = result.correlations.documents_at(self.options.level)
        return interval_of_the_best(value, interval, self.compared, counting)

    def evidence(self, result: "JudgeResult") -> Evidence:
        """Return the evidence for a verdict on a judge."""
        test, analysis = result.alt_test, result.analysis
        checks = analysis.checks.overall
        evidence = Evidence(
            outputs=result.correlations.pairs,
            raters=len(self.annotators),
            correlation=result.shown(self.options),
            interval=result.analysis.shown,
            ceiling=self.ceiling,
            ceiling_interval=self.ceiling_interval,
            in_place=checks.in_place,
            behind=checks.behind,
            passes=checks.passes,
            p_nearer=checks.p_nearer,
            alpha=self.agreement.alpha["interval"],
            nulls=analysis.nulls,
            compared=self.compared,
            far_off=analysis.far_off,
            untested=self._why_untested(test),
            on_scale=analysis.on_scale,
            rated=self.rated_outputs,
        )
        whole, filled = self._with_within(evidence, analysis.checks), analysis.filled
        if filled is None:
            return whole
        return replace(whole, filled=self._with_within(evidence.of(filled.overall), filled))

    def _with_within(self, evidence: Evidence, checks: Checks) -> Evidence:
        """Return evidence with that within systems."""
        within = None
        if checks.within is not None:
            within = replace(evidence, ceiling=self.ceiling_within, nulls=()).of(checks.within)
        return replace(evidence, within=within, is_blind=checks.is_blind, p_beyond=checks.p_beyond)

    def _why_untested(self, test: AltTest) -> str:
        """Return why there is no annotator test, with the excluded raters; empty if there is
        one."""
        reason = test.winning_rate.reason
        if not reason or not test.left_out:
            return reason
        names = ", ".join(self.annotators[index] for index in test.left_out)
        return f"{reason}; not shown to agree with the others: {names}"

    @property
    def has_expert(self) -> bool:
        """Whether the verdict is by an expert's labels: fewer people rated than are needed to be
        the bar, or hardly any output was rated again by somebody else."""
        return are_too_few_for_a_bar(len(self.annotators), self.ratings, self.rated_outputs)

    def _is_by_labels(self, result: "JudgeResult") -> bool:
        return self.has_expert or result.analysis.passing is not None

    def by_labels(self, result: "JudgeResult") -> LabelEvidence | None:
        """Return the evidence for a verdict by labels: of pass or fail, or an expert's; None where
        the two checks give the verdict."""
        if not self._is_by_labels(result):
            return None
        analysis, evidence = result.analysis, self.evidence(result)
        ahead = {
            null.title: lead_of(analysis.passing, null.passing)
            if analysis.passing and null.passing
            else null.kappa_behind
            for null in evidence.rivals
            if null.kappa_behind
        }
        own = LabelEvidence(analysis.kappa, analysis.passing, ahead, evidence, self.bar)
        if analysis.is_constant:
            return replace(own, is_constant=True)
        if analysis.filled_passing is not None:
            return replace(own, filled=replace(own, passing=analysis.filled_passing))
        if analysis.passing is not None or analysis.filled_kappa is None:
            return own
        return replace(own, filled=replace(own, kappa=analysis.filled_kappa))

    @property
    def nulls(self) -> tuple[NullJudge, ...]:
        """The null judges for the best judge, or for the first where none is best."""
        beside = self.best or (self.judges[0] if self.judges else None)
        return beside.analysis.nulls if beside else ()

    @property
    def shown_nulls(self) -> tuple[NullJudge, ...]:
        """The null judges that pages show: those that may earn something."""
        return tuple(null for null in self.nulls if null.is_shown)

    @property
    def has_pass_fail(self) -> bool:
        """Whether the scale has two points, and a judge scored rated outputs."""
        return any(result.analysis.passing for result in self.judges)

    @property
    def majority(self) -> Majority | None:
        """What always giving people's most common verdict reaches, for the best judge at passing,
        or the first; None on other scales."""
        beside = self.best_at_passing or next(
            (result for result in self.judges if result.analysis.passing), None
        )
        passing = beside.analysis.passing if beside else None
        return passing.majority if passing else None

    @property
    def best_at_passing(self) -> "JudgeResult | None":
        """The judge with the highest kappa that corrects pass rates; None if none does."""
        kappas = {
            index: passing.kappa.estimate.value or 0.0
            for index, result in enumerate(self.judges)
            if (passing := result.analysis.passing) and passing.systems
        }
        return self.judges[max(kappas, key=lambda index: kappas[index])] if kappas else None

    @property
    def verdict(self) -> Verdict:
        """The verdict on the best judge."""
        if self.best is not None:
            return self.verdict_on(self.best)
        ranked = self.ranked
        if ranked and all(map(self.ranks_nothing, ranked)):
            return self.without_a_judge
        return Verdict.TOO_EARLY

    @property
    def without_a_judge(self) -> Verdict:
        """The verdict where no judge may rate."""
        return Verdict.KEEP_EXPERT if self.has_expert else Verdict.KEEP_PEOPLE

    @property
    def level_to_try(self) -> Level | None:
        """The level at which judges can be compared, if they cannot be in this view because
        documents have one output each."""
        if self.best is not None or self.options.level != "summary" or self.outputs_in_document > 1:
            return None
        estimates = (
            judge.correlations.estimates[self.options.coefficient] for judge in self.ranked
        )
        return (
            "dataset"
            if any(estimate["dataset"].value is not None for estimate in estimates)
            else None
        )

    @property
    def projections(self) -> tuple[Projection, ...]:
        """Projections of how more ratings would narrow the best judge's interval."""
        if self.best is None or not self.documents:
            return ()
        return projections(
            self.best.intervals[self.options.coefficient],
            documents=self.best.correlations.documents,
            ratings_per_document=self.ratings / self.documents,
            freedom=self.freedom,
        )

    @property
    def freedom(self) -> float:
        """The share of degrees of freedom that weights and groups of documents leave, 1 without
        either."""
        return (1.0 if self.weights is None else self.weights.freedom) * self.share_of_groups


def _highest(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return max(defined) if len(defined) > 1 else None


# The names of a criterion and a judge, its shares and indices by name, and its documents.
AgreementRow = tuple[str, str, Mapping[str, ShareEstimate | KappaEstimate], int]


@dataclass(frozen=True)
class Report:
    """A project's numbers, in the order of its criteria and judges; `systems` are those in the
    tables, `boards` the results of comparisons by the name of their criterion; `turns` documents
    belong to `sessions`, and documents to `groups`; campaigns took `chosen` rated outputs from the
    top of a list, and `is_chosen_left_out` says whether numbers leave them out. `labels` are the
    criteria of labels without an order, `not_applicable` and `not_applicable_to_people` the
    agreement on this answer of judges with people, and among people."""

    project: str
    name: str
    outputs: int
    criteria: tuple[CriterionResult, ...]
    options: ReportOptions = field(default_factory=ReportOptions)
    systems: tuple[str, ...] = ()
    withheld: int = 0
    turns: int = 0
    sessions: int = 0
    groups: int = 0
    chosen: int = 0
    is_chosen_left_out: bool = False
    boards: tuple[tuple[str, Leaderboard], ...] = ()
    labels: tuple[LabelsResult, ...] = ()
    not_applicable: tuple[NotApplicable, ...] = ()
    not_applicable_to_people: tuple[NotApplicableToPeople, ...] = ()

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges with scores on criteria with an order."""
        return tuple(
            dict.fromkeys(
                result.judge for criterion in self.criteria for result in criterion.judges
            )
        )

    @property
    def all_judges(self) -> tuple[str, ...]:
        """The same with those that give labels without an order."""
        of_labels = (own.judge for result in self.labels for own in result.judges)
        return tuple(dict.fromkeys([*self.judges, *of_labels]))

    @cached_property
    def of_correlations(self) -> "Report":
        """The report of the criteria whose judges have correlations: on pass or fail, shares say
        more."""
        kept = tuple(each for each in self.criteria if not each.has_pass_fail)
        return self if len(kept) == len(self.criteria) else replace(self, criteria=kept)

    @property
    def agreements(self) -> list[AgreementRow]:
        """How often judges give people's verdict on pass or fail, or people's label."""
        verdicts: list[AgreementRow] = [
            (criterion.criterion, judge.judge, passing.by_name, judge.correlations.documents)
            for criterion in self.criteria
            for judge in criterion.judges
            if (passing := judge.analysis.passing)
        ]
        return verdicts + [
            (result.criterion, own.judge, own.figures.by_name, own.documents)
            for result in self.labels
            for own in result.judges
        ]

    @property
    def not_applicable_notes(self) -> list[str]:
        """A sentence for each agreement on "n/a"."""
        people = [(said.criterion, said) for said in self.not_applicable_to_people]
        judges = [(said.criterion, said) for said in self.not_applicable]
        return [f"{criterion}, {said}." for criterion, said in (*people, *judges)]

    @property
    def has_ratings(self) -> bool:
        """Whether people rated any of the outputs."""
        return any(criterion.rated_outputs for criterion in self.criteria)

    def named(self, judge: str) -> str:
        """Return a judge's name over all criteria, with a mark if its search has seen documents of
        some."""
        results = [(criterion, result) for criterion in self.criteria for result in criterion.judges
                   if result.judge == judge]  # fmt: skip
        seen = [criterion.criterion for criterion, result in results if result.seen]
        return marked_on(judge, seen, of=len(results))

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of correlations in this report."""
        return levels_of(sessions=bool(self.sessions))

    @property
    def has_letters(self) -> bool:
        """Whether letters say which judges are not shown to differ."""
        return any(result.letters for criterion in self.criteria for result in criterion.judges)

    @property
    def weights(self) -> dict[str, Weights]:
        """The weights by criterion, where outputs were drawn with different probabilities."""
        return {result.criterion: result.weights for result in self.criteria if result.weights}

    @property
    def in_sight(self) -> int:
        """How many ratings were made while annotators saw LLM scores."""
        return sum(criterion.in_sight for criterion in self.criteria)

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """The judges that are the offline stand-in, not an LLM."""
        results = (result for criterion in self.criteria for result in criterion.judges)
        return tuple(dict.fromkeys(result.judge for result in results if result.is_stand_in))

    def row(self, judge: str) -> list[JudgeResult | None]:
        """Return a judge's results, one per criterion."""
        return [
            next((result for result in c.judges if result.judge == judge), None)
            for c in self.criteria
        ]

    def values(self, judge: str, coefficient: Coefficient) -> list[float | None]:
        """Return a judge's correlations, one per criterion."""
        level = self.options.level
        return [
            result.correlations.estimates[coefficient][level].value if result else None
            for result in self.row(judge)
        ]

    def _ranked_values(self, judge: str, coefficient: Coefficient) -> list[float | None]:
        """Return a judge's values on the criteria where it is compared with others, None on the
        rest."""
        values = zip(self.criteria, self.row(judge), self.values(judge, coefficient), strict=True)
        return [
            value if result and criterion.ranks(result) else None
            for criterion, result, value in values
        ]

    def average(self, judge: str) -> float | None:
        """Return the mean of a judge's correlations over criteria; None where one is missing."""
        values = self.values(judge, self.options.coefficient)
        defined = [value for value in values if value is not None]
        return float(np.mean(defined)) if defined and len(defined) == len(values) else None

    def best(self, coefficient: Coefficient) -> tuple[float | None, ...]:
        """Return the highest value of each column of the paper's table; None where fewer than two
        ranked judges have a value."""
        columns = zip(
            *(self._ranked_values(judge, coefficient) for judge in self.judges), strict=True
        )
        return tuple(_highest(column) for column in columns)


def _chosen_outputs(data: ReportData) -> dict[str, Any]:
    """Return how many outputs only campaigns without a design chose, on any criterion, and whether
    none of these counts in a mean."""
    chosen, counted = np.zeros((2, len(data.outputs)), dtype=bool)
    for human in data.humans.values():
        if human.top is not None:
            chosen |= human.top
            counted |= human.top & ~np.isnan(human.mean)
    return {"chosen": int(chosen.sum()), "is_chosen_left_out": not counted.any()}


# Returns what a judge's search has seen of its numbers on a criterion, by ids.
SeenOf = Callable[[int, int, ReportData, FloatArray], Seen | None]


def nothing_seen(_criterion: int, _judge: int, _data: ReportData, _scores: FloatArray) -> None:
    """Return nothing: no search made the judge."""


@dataclass(frozen=True)
class Records:
    """Further data of a project: how many judges have scores, what searches have seen, the results
    of probes by judge and criterion, and how steady judges are by criterion and judge."""

    compared: int = 1
    seen: SeenOf = nothing_seen
    instructed: Mapping[tuple[int, int], Instructed] = field(default_factory=dict)
    repeats: Mapping[tuple[int, int], ShareEstimate] = field(default_factory=dict)


def report_of(
    names: tuple[str, str],
    data: ReportData,
    criteria: Sequence[CriterionLike],
    judges: Sequence[JudgeLike],
    options: ReportOptions,
    records: Records,
    *,
    boards: tuple[tuple[str, Leaderboard], ...] = (),
    on_step: OnStep = unseen,
) -> Report:
    """Compute the report of the data that `options` select.

    Args:
        names: the project's names, in addresses and in text.
        boards: results of comparisons, by the name of their criterion.
        on_step: called as each step begins.
    """
    ordered = [criterion for criterion in criteria if criterion.scale.is_ordered]
    results = [
        criterion_result(
            criterion, judges, data, options, records, part_of(on_step, index, len(ordered))
        )
        for index, criterion in enumerate(ordered)
    ]
    return Report(
        project=names[0],
        name=names[1],
        outputs=len(data.outputs),
        criteria=_with_letters(
            [_discriminated(result, results, data) for result in results], options.level
        ),
        options=options,
        systems=data.system_names,
        withheld=data.withheld,
        turns=sum(map(bool, data.sessions)),
        sessions=len(set(filter(None, data.sessions))),
        groups=data.shared_groups,
        **_chosen_outputs(data),
        boards=boards,
        labels=tuple(
            labels_result(criterion, judges, data, compared=records.compared)
            for criterion in criteria
            if not criterion.scale.is_ordered
        ),
        not_applicable=tuple(agreement_of_judges(data, criteria, judges)),
        not_applicable_to_people=tuple(agreement_of_people(data, criteria)),
    )


def criterion_result(
    criterion: CriterionLike,
    judges: Sequence[JudgeLike],
    data: ReportData,
    options: ReportOptions,
    records: Records,
    on_step: OnStep = unseen,
) -> CriterionResult:
    """Return a report's part on one criterion, without letters, which are over all criteria.

    Args:
        data: the data that `options` select.
    """
    result = _criterion_result(criterion, judges, data, options, records.compared, on_step)
    rows = tuple(
        replace(
            judge,
            seen=records.seen(result.pk, judge.pk, data, data.judges[result.pk, judge.pk]),
            instructed=records.instructed.get((judge.pk, result.pk)),
            repeats=records.repeats.get((result.pk, judge.pk)),
        )
        for judge in result.judges
    )
    return replace(result, judges=rows, bar=criterion.bar)


def _criterion_result(
    criterion: CriterionLike,
    judges: Sequence[JudgeLike],
    data: ReportData,
    options: ReportOptions,
    compared: int,
    on_step: OnStep = unseen,
) -> CriterionResult:
    """Compute a criterion's result; cached as a whole, so that an unchanged criterion costs only a
    lookup."""
    human = data.humans[criterion.pk]
    scores_of_judge = {judge: data.judges.get((criterion.pk, judge.pk)) for judge in judges}
    present = {judge: scores for judge, scores in scores_of_judge.items() if scores is not None}
    names = hash(
        (data.doc_ids, data.sessions, data.system_names, data.system_kinds, data.system_families)
    )
    about = (criterion.pk, criterion.name, criterion.scale, options, compared, names)
    of_judges = [
        (judge.pk, judge.label, judge.model, judge.family, judge.is_stand_in) for judge in present
    ]
    parts = (
        *about,
        of_judges,
        human.annotators,
        human.in_sight,
        data.units,
        human.ratings,
        human.mean,
        human.reason,
        human.unscored,
        human.weight,
        data.words,
    )
    return remembered_as(
        "criterion",
        (*parts, *present.values()),
        lambda: _computed_result(criterion, present, data, options, compared, on_step),
    )


def _computed_result(
    criterion: CriterionLike,
    present: dict[JudgeLike, FloatArray],
    data: ReportData,
    options: ReportOptions,
    compared: int,
    on_step: OnStep,
) -> CriterionResult:
    human = data.humans[criterion.pk]
    results = []
    # One step for each judge, one for the annotators and one for all pairs of judges.
    steps = len(present) + 2
    for index, (judge, scores) in enumerate(present.items()):
        on_step(index / steps, f"{criterion.name}: {judge.label}")
        results.append(_judge_result(criterion, judge, scores, data, options))
    rated = ~np.isnan(human.mean)
    on_step(len(present) / steps, f"{criterion.name}: agreement between annotators")
    agreement = remembered(
        analyse_agreement, data.units, human.ratings, human.annotators, criterion.scale
    )
    bar = ratings_of_the_bar(data.units, human.ratings)
    ceiling, ceiling_interval = _ceiling(agreement, data.units, bar, options)
    on_step((len(present) + 1) / steps, f"{criterion.name}: judges compared with each other")
    return CriterionResult(
        pk=criterion.pk,
        criterion=criterion.name,
        documents=int(data.units.documents_with(rated).sum()),
        rated_outputs=int(rated.sum()),
        judges=tuple(results),
        agreement=agreement,
        significance=_compared(
            data.units_on(criterion.pk),
            human.mean,
            {judge.label: scores for judge, scores in present.items()},
            {result.judge: result.correlations for result in results},
            options,
        ),
        in_sight=human.in_sight,
        items=next((len(each.items) for each in data.rubrics if each.pk == criterion.pk), 0),
        annotators=human.annotators,
        no_human_score=human.reason,
        unscored=human.unscored,
        outputs_in_document=int(data.units.part(rated).by_document().max(initial=0)),
        ratings=len(human.ratings),
        rate_next=_rate_next(human.mean, list(present.values()), data),
        weights=weights_of(data.units_on(criterion.pk)),
        share_of_groups=_share_of_groups(data.units.part(rated)),
        compared=max(1, compared),
        options=options,
        ceiling=ceiling,
        ceiling_interval=ceiling_interval,
        ceiling_within=remembered(
            _ceiling_within, data.units, bar, options.coefficient, criterion.scale
        ),
    )


def _share_of_groups(rated: Outputs) -> float:
    """Return the effective number of groups of rated documents for each of these, 1 without
    groups."""
    documents = rated.documents_with()
    if rated.group is None or not documents.any():
        return 1.0
    count = int(documents.sum())
    return LeftOut.of(count, rated.group[documents]).effective / count


def _ceiling_within(
    outputs: Outputs, ratings: Ratings, coefficient: Coefficient, scale: Scale
) -> Estimate:
    level = level_within(outputs, ratings.count > 0, len(scale.points))
    view = view_within(View(coefficient=coefficient), level, scale)
    inside = ratings_within_systems(outputs, ratings)
    return rater_at(outputs, inside, view.coefficient, level)


def _judge_result(
    criterion: CriterionLike,
    judge: JudgeLike,
    scores: FloatArray,
    data: ReportData,
    options: ReportOptions,
) -> JudgeResult:
    human = data.humans[criterion.pk]
    return JudgeResult(
        pk=judge.pk,
        judge=judge.label,
        analysis=remembered(
            analyse_judge,
            JudgeInput(
                outputs=data.units_on(criterion.pk),
                human=human.mean,
                ratings=human.ratings,
                scores=scores,
                words=data.words,
                by_human=data.kinds("human"),
                by_llm=data.kinds("llm"),
                scale=criterion.scale,
                top=human.top if human.top is not None and human.top.any() else None,
            ),
            View(options.level, options.coefficient, options.over, float(options.epsilon)),
        ),
        missing=int(np.isnan(scores).sum()),
        is_stand_in=judge.is_stand_in,
        own_family=_own_family(judge, criterion, scores, data),
        family=family_of_judge(judge),
        guessed_families=sum(bool(of.name) and not of.is_given for of in data.system_families),
    )


def _ceiling(
    agreement: Agreement, outputs: Outputs, ratings: Ratings, options: ReportOptions
) -> tuple[Estimate, Interval]:
    """Return what one rater reaches in a view; with an interval at summary level."""
    coefficient, level = options.coefficient, options.level
    if level == "summary":
        ceiling = agreement.ceilings[coefficient]
        return ceiling.estimate, ceiling.interval
    estimate = remembered(rater_at, outputs, ratings, coefficient, level)
    return estimate, no_interval("one rater has an interval at summary level only")


def _compared(
    outputs: Outputs,
    human: FloatArray,
    judges: dict[str, FloatArray],
    correlations: dict[str, Correlations],
    options: ReportOptions,
) -> Significance:
    """Compare all pairs of judges; only pairs with changed scores are tested again. One that left
    out what it may get wrong is better if it were so with the worst scores there, too."""
    coefficient, over = options.coefficient, options.over
    judged = {name: (scores, correlations[name]) for name, scores in judges.items()}
    means = own_means(outputs, human, judged, coefficient)
    pairs = list(itertools.combinations(rank_judges(means), 2))

    def compare(tested: Sequence[tuple[Found, ...]]) -> list[Compared]:
        return remembered_each(
            "compare_pairs",
            [
                (outputs, human, first, second, coefficient, over)
                for (first, _), (second, _) in tested
            ],
            lambda missing: compare_pairs(
                outputs, human, [tested[index] for index in missing], coefficient, over
            ),
        )

    compared = compare([(judged[first], judged[second]) for first, second in pairs])
    rated = int((~np.isnan(human)).sum())
    for index, comparison in enumerate(compared):
        test, names = comparison.test, pairs[index]
        better, other = names if (test.observed or 0.0) > 0 else names[::-1]
        scored = correlations[better].pairs
        if test.p is None or test.p > SIGNIFICANCE or scored == rated:
            continue
        worst = remembered(at_worst, outputs, human, judges[better])
        (still,) = compare([(worst, judged[other])])
        if still.test.p is None or still.test.p > SIGNIFICANCE or (still.test.observed or 0.0) < 0:
            compared[index] = without_claim(comparison, LEFT_OUT.format(scored, rated, better))
    tests = {pair: comparison.test for pair, comparison in zip(pairs, compared, strict=True)}
    return Significance(
        coefficient,
        over,
        on_common_ground(means, tests),
        tests,
        {pair: comparison.interval for pair, comparison in zip(pairs, compared, strict=True)},
        {pair: comparison.ranked for pair, comparison in zip(pairs, compared, strict=True)},
    )


def _discriminated(
    result: CriterionResult, results: Sequence[CriterionResult], data: ReportData
) -> CriterionResult:
    """Add the criterion that the best judge's scores follow as closely (discriminant validity:
    Campbell and Fiske, 1959)."""
    best, options = result.best, result.options
    if best is None:
        return result
    outputs, scores = data.units_on(result.pk), data.judges[result.pk, best.pk]
    about = (options.coefficient, options.level)
    followed = (data.humans[result.pk].mean, scores)
    closest: AsClose | None = None
    related = {frozenset((each.pk, item.pk)) for each in data.rubrics for item in each.items}
    for other in results:
        if frozenset((result.pk, other.pk)) in related:
            continue  # a total follows its own items
        people = data.humans[other.pk].mean
        correlation = remembered(correlation_at, outputs, people, scores, *about)
        if other.pk == result.pk or (correlation.value or 0.0) <= 0:
            continue
        lead = remembered(difference_interval, outputs, followed, (people, scores), *about)
        if lead.low is not None and lead.low > 0:
            continue
        if closest is None or (correlation.value or 0.0) > (closest.correlation.value or 0.0):
            is_closer = lead.high is not None and lead.high < 0
            closest = AsClose(other.criterion, correlation, is_closer)
    return replace(result, as_close=closest)


def _with_letters(criteria: list[CriterionResult], level: Level) -> tuple[CriterionResult, ...]:
    """Add letters, which are over all criteria together and only for the summary level."""
    together = adjusted_together([result.significance for result in criteria])
    return tuple(
        replace(
            result,
            significance=comparison,
            judges=tuple(
                replace(
                    judge,
                    letters=comparison.letters.get(judge.judge, "") if level == "summary" else "",
                )
                for judge in result.judges
            ),
        )
        for result, comparison in zip(criteria, together, strict=True)
    )


def family_of_judge(judge: JudgeLike) -> Family:
    return Family.of(judge.family, f"{judge.name} {judge.model}")


def _own_family(
    judge: JudgeLike, criterion: CriterionLike, scores: FloatArray, data: ReportData
) -> FamilyBias:
    """Return by how much the judge exceeds people on texts by models of its own family."""
    families = np.array([family.name for family in data.system_families], dtype=str)
    own = (families == family_of_judge(judge).name) & (families != "")
    others = (data.kinds("llm") | (families != "")) & ~own
    documents = LeftOut.of(data.units.documents, data.units.group)
    human = data.humans[criterion.pk].mean
    return family_bias(data.units_on(criterion.pk), human, scores, own, others, documents)


def _rate_next(human: FloatArray, judges: list[FloatArray], data: ReportData) -> tuple[str, ...]:
    """Return unrated documents, ordered by how differently the judges score their outputs."""
    if not judges:
        return ()
    gains = np.mean([document_gains(data.outputs, human, scores) for scores in judges], axis=0)
    order = [
        int(row)
        for row in np.argsort(-np.nan_to_num(gains, nan=-1), kind="stable")
        if not np.isnan(gains[row])
    ]
    return tuple(data.doc_ids[row] for row in order[:MOST_NEXT])
