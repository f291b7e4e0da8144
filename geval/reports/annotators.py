"""How annotators rate: severity, agreement with the others, disputed outputs, and agreement on
marked spans. No judge is needed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from geval.reports.campaign_questions import Severity, severity_of
from geval.reports.data import ReportData
from geval.reports.downloads.json_values import ends_json, with_interval
from geval.reports.human_scores import HumanScores
from geval.reports.options import ReportOptions
from geval.reports.verdicts.analysis import Agreement, analyse_agreement
from geval.statistics.agreement import NOBODY, LeaveOneOut
from geval.statistics.cache import remembered
from geval.statistics.jackknife import no_interval
from geval.statistics.latent_classes import LatentClasses, latent_classes
from geval.statistics.resampling import Interval
from geval.statistics.scales import short
from geval.statistics.span_agreement import SpanAgreement
from geval.statistics.thresholds import SPLIT
from geval.statistics.types import Estimate
from geval.texts.numbers import in_brackets, shown
from geval.texts.subjects import CriterionLike

# How many of the disputed outputs are listed.
MOST_SPLIT = 20


@dataclass(frozen=True)
class AnnotatorNumbers:
    """An annotator on a criterion; `shared` of the ratings are of outputs that others rated too.

    `with_others` is Spearman's rho with the mean of the others, averaged over documents; pages and
    the API give it where it `is_shown`.
    """

    pk: int
    name: str
    ratings: int
    shared: int
    with_others: LeaveOneOut
    severity: Severity


@dataclass(frozen=True)
class RaterAgreement:
    """People's agreement on a criterion: over `outputs` that two or more of them rated, `same`
    of `pairs` of ratings are equal; Krippendorff's alpha (interval) with its interval over
    documents."""

    outputs: int
    pairs: int
    same: int
    alpha: Estimate
    interval: Interval

    @property
    def equal_share(self) -> float:
        """The share of pairs of ratings that are equal; 0 to 1."""
        return self.same / self.pairs


@dataclass(frozen=True)
class SplitOutput:
    """An output with an unclear class: its likely value, the probability of that, and the
    annotators' ratings, such as "3 ann, 5 ben"."""

    output: int
    document: int
    doc_id: str
    system: str
    likeliest: float
    sure: float
    given: str


@dataclass(frozen=True)
class CriterionAnnotators:
    """All annotators on a criterion, the strictest first. `split` counts the disputed outputs, of
    which the least clear are `listed`; `no_classes` says why none can be found."""

    pk: int
    criterion: str
    outputs: int
    agreement: RaterAgreement
    annotators: tuple[AnnotatorNumbers, ...]
    no_classes: str
    split: int
    listed: tuple[SplitOutput, ...]

    @property
    def lacking(self) -> list[str]:
        """Why some annotators have no severity, or no interval of it, in sentences."""
        severities = [annotator.severity for annotator in self.annotators]
        reasons = [
            ("No severity", each.points.reason)
            if each.points.value is None
            else ("No interval of severity", each.interval.reason)
            for each in severities
            if each.interval.ends is None
        ]
        return [f"{what}: {why}." for what, why in dict.fromkeys(reasons)]


@dataclass(frozen=True)
class AnnotatorsFound:
    """The content of the page; `spans` is None where nobody marked spans."""

    criteria: tuple[CriterionAnnotators, ...]
    spans: SpanAgreement | None

    @property
    def lead(self) -> str:
        """Who differs most from the others, as far as intervals show, and on which criterion people
        agree least."""
        return " ".join(filter(None, (self._severity_lead, self._agreement_lead)))

    @property
    def _severity_lead(self) -> str:
        rated = [
            (criterion.criterion, annotator)
            for criterion in self.criteria
            for annotator in criterion.annotators
        ]
        if all(annotator.severity.interval.ends is None for _name, annotator in rated):
            return "There are too few ratings to say who is stricter or milder."
        apart = [
            (name, annotator.name, annotator.severity.points.value or 0.0)
            for name, annotator in rated
            if annotator.severity.interval.leaves_out_zero
        ]
        if not apart:
            return "No annotator is shown to be stricter or milder than the others."
        criterion, annotator_name, points = max(apart, key=lambda row: abs(row[2]))
        way = "stricter" if points > 0 else "milder"
        return (
            f"{annotator_name} is {way} than the others on {criterion}, by {abs(points):.2f} points"
            " on the same outputs."
        )

    @property
    def _agreement_lead(self) -> str:
        alphas = [
            (criterion.agreement.alpha.value, criterion)
            for criterion in self.criteria
            if criterion.agreement.alpha.value is not None
        ]
        if not alphas:
            return ""
        _alpha, least = min(alphas, key=lambda row: row[0])
        agreement = least.agreement
        subject = "People agree least on" if len(alphas) > 1 else "Agreement of people on"
        alpha = f"{shown(agreement.alpha)} {in_brackets(agreement.interval)}".rstrip()
        return f"{subject} {least.criterion}: alpha {alpha}."


def of_ratings(options: ReportOptions) -> ReportOptions:
    """Return the part of a view that annotators' numbers depend on."""
    return ReportOptions(
        annotators=options.annotators,
        systems=options.systems,
        criteria=options.criteria,
        documents=options.documents,
        round=options.round,
        round_name=options.round_name,
    )


def criterion_annotators(
    data: ReportData, criterion: CriterionLike, human: HumanScores
) -> CriterionAnnotators:
    ratings = human.ratings
    classes = latent_classes(ratings)
    split = classes.split
    agreement = remembered(
        analyse_agreement, data.units, ratings, human.annotators, criterion.scale
    )
    pairs, same = ratings.pairs
    return CriterionAnnotators(
        criterion.pk,
        criterion.name,
        int(np.count_nonzero(ratings.count)),
        RaterAgreement(
            int(np.count_nonzero(ratings.count > 1)),
            pairs,
            same,
            agreement.alpha["interval"],
            agreement.alpha_intervals["interval"],
        ),
        _annotators(data, human, agreement),
        classes.reason,
        len(split),
        tuple(_split(data, human, classes, index) for index in split[:MOST_SPLIT].tolist()),
    )


def _annotators(
    data: ReportData, human: HumanScores, agreement: Agreement
) -> tuple[AnnotatorNumbers, ...]:
    ratings = human.ratings
    given = np.bincount(ratings.rater, minlength=ratings.raters)
    shared = ratings.shared
    alone = LeaveOneOut(Estimate.undefined(NOBODY), 0, no_interval(NOBODY))
    below, document = ratings.others - ratings.value, data.units.document[ratings.output]
    annotators = []
    for at, (pk, name) in enumerate(zip(human.annotator_ids, human.annotators, strict=True)):
        own = (ratings.rater == at) & ~np.isnan(below)
        with_others = agreement.leave_one_out.get(name, alone)
        severity = severity_of(below[own], document[own])
        annotators.append(
            AnnotatorNumbers(pk, name, int(given[at]), int(shared[at]), with_others, severity)
        )
    return tuple(sorted(annotators, key=_strictness))


def _strictness(annotator: AnnotatorNumbers) -> float:
    strict = annotator.severity.points.value
    return np.inf if strict is None else -strict


def _split(data: ReportData, human: HumanScores, classes: LatentClasses, at: int) -> SplitOutput:
    doc_id, system = data.name_of(at)
    ratings = human.ratings
    of_output = np.flatnonzero(ratings.output == at)
    given = sorted(
        (value, human.annotators[rater])
        for value, rater in zip(ratings.value[of_output], ratings.rater[of_output], strict=True)
    )
    return SplitOutput(
        int(data.output_ids[at]),
        int(data.document_ids[data.outputs.document[at]]),
        doc_id,
        system,
        float(classes.likeliest[at]),
        float(classes.surest[at]),
        ", ".join(f"{short(value)} {name}" for value, name in given),
    )


def annotators_json(numbers: AnnotatorsFound) -> dict[str, Any]:
    """Return the numbers for the API, by criterion."""
    content: dict[str, Any] = {
        "split_below": SPLIT,
        "criteria": {
            criterion.criterion: _criterion_json(criterion) for criterion in numbers.criteria
        },
    }
    if numbers.spans is not None:
        content["spans"] = with_interval(numbers.spans.f1, numbers.spans.interval) | {
            "outputs": numbers.spans.texts,
            "pairs": numbers.spans.pairs,
        }
    return content


def _criterion_json(numbers: CriterionAnnotators) -> dict[str, Any]:
    return {
        "outputs": numbers.outputs,
        "agreement": with_interval(numbers.agreement.alpha, numbers.agreement.interval)
        | {
            "outputs": numbers.agreement.outputs,
            "pairs": numbers.agreement.pairs,
            "equal": numbers.agreement.same,
        },
        "annotators": {
            annotator.name: _annotator_json(annotator) for annotator in numbers.annotators
        },
        "split_outputs": numbers.split,
        "least_clear": [
            {
                "output": output.output,
                "doc_id": output.doc_id,
                "system": output.system,
                "likely_class": output.likeliest,
                "probability": output.sure,
            }
            for output in numbers.listed
        ],
    }


def _annotator_json(annotator: AnnotatorNumbers) -> dict[str, Any]:
    severity, others = annotator.severity, annotator.with_others
    return {
        "ratings": annotator.ratings,
        "shared_outputs": annotator.shared,
        "severity": with_interval(severity.points, severity.interval),
        "rho_with_others": others.estimate.value if others.is_shown else None,
        "rho_with_others_ci": ends_json(others.interval),
        "rho_with_others_documents": others.documents_used,
    }
