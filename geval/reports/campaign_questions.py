"""What a campaign's answers say by question, never across scales: how far people agree, how far
each agrees with the others, and how strict each is, also over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geval.statistics.agreement import coincidences
from geval.statistics.arrays import Outputs, Ratings, mean_of, sums
from geval.statistics.cache import remembered
from geval.statistics.correlation import coefficient_of
from geval.statistics.jackknife import LeftOut, correlation_interval, no_interval
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import INTERVAL_DOCUMENTS, SEVERITY_SHARED
from geval.statistics.types import Estimate, FloatArray, IntArray
from geval.texts.numbers import in_brackets, shown, signed

ALONE = "no item has answers of two people"
FEW = f"fewer than {SEVERITY_SHARED} answers to items that others answered too"
FEW_DOCUMENTS = f"no rho by question: these items are of fewer than {INTERVAL_DOCUMENTS} documents"
SAME = "all of these answers are the same"
COMPARED = "comparisons have no severity"
# A person's answers over time are looked at in parts of so many.
PART = 40


@dataclass(frozen=True)
class GivenAnswer:
    """An annotator's answer to an item as numbers, named as `answer_values` names them."""

    item: int
    document: int
    annotator: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class QuestionAgreement:
    """People's agreement on a question: Krippendorff's alpha (interval) over the items that two or
    more have answered, with its interval over documents. Of comparisons it is over preferences
    between two outputs."""

    question: str
    items: int
    alpha: Estimate
    interval: Interval

    def __str__(self) -> str:
        return f"{self.question} {shown(self.alpha)} {in_brackets(self.interval)}".rstrip()


@dataclass(frozen=True)
class Severity:
    """How much lower than the mean of the others a person rates `items` that others answered too,
    in points of the question's scale, with its interval over documents."""

    items: int
    points: Estimate
    interval: Interval

    def __str__(self) -> str:
        if self.points.value is None:
            return "–"
        between = [signed(end) for end in self.interval.ends or ()]
        return f"{signed(self.points.value)} [{', '.join(between)}]".removesuffix(" []")


@dataclass(frozen=True)
class QuestionPerson:
    """A person on a question: Spearman's rho with the mean of the others over `items` of
    `documents` that others answered too, with its interval over documents; the severity, in all and
    `over_time`, in parts of `PART` answers, the first ones first."""

    question: str
    items: int
    documents: int
    rho: Estimate
    rho_interval: Interval
    severity: Severity
    over_time: tuple[Severity, ...] = ()

    def __str__(self) -> str:
        return f"{shown(self.rho)} {in_brackets(self.rho_interval)}".rstrip()


def campaign_questions(
    answers: Sequence[GivenAnswer], names: Mapping[str, str], *, is_rating: bool = True
) -> tuple[tuple[QuestionAgreement, ...], dict[int, tuple[QuestionPerson, ...]]]:
    """Return agreement by question, and what is known of each annotator by question.

    Args:
        answers: the newest first.
        names: the questions by their key in answers, in order.
        is_rating: whether answers are ratings, which alone have a severity.
    """
    agreement: list[QuestionAgreement] = []
    people: dict[int, tuple[QuestionPerson, ...]] = {}
    for key, name in names.items():
        rows = sorted(
            ((answer.document, answer.item, of), answer.annotator, value, -at)
            for at, answer in enumerate(answers)
            for of, value in answer.values.items()
            if of.split()[0] == key
        )
        if not rows:
            continue
        units = list(dict.fromkeys(unit for unit, *_ in rows))
        place = {unit: at for at, unit in enumerate(units)}
        documents, document = np.unique([unit[0] for unit in units], return_inverse=True)
        raters, rater = np.unique([row[1] for row in rows], return_inverse=True)
        unit, value, when = np.array([(place[row[0]], *row[2:]) for row in rows]).T
        ratings = Ratings(unit.astype(np.int64), rater, value, len(units), len(raters))
        outputs = Outputs(document, np.zeros_like(document), len(documents), 1)
        left_out = LeftOut.each(len(documents))
        coinciding = coincidences(outputs, ratings, left_out)
        alpha = coinciding.alpha("interval"), coinciding.interval("interval", left_out)
        if twice := {units[at][1] for at in np.flatnonzero(ratings.count > 1)}:
            agreement.append(QuestionAgreement(name, len(twice), *alpha))
        for at, pk in enumerate(raters.tolist()):
            own = np.flatnonzero((rater == at) & ~np.isnan(ratings.others))
            own = own[np.argsort(when[own], kind="stable")]
            sides = value[own], ratings.others[own]
            of_own = _person(name, *sides, document[ratings.output[own]], is_rating=is_rating)
            people[pk] = (*people.get(pk, ()), of_own)
    return tuple(agreement), people


def agreement_of(
    answers: Sequence[GivenAnswer], names: Mapping[str, str]
) -> tuple[QuestionAgreement, ...]:
    """Return agreement on every question, undefined with its reason where nobody answered the same
    item as somebody else."""
    agreement, _ = campaign_questions(answers, names)
    of = {row.question: row for row in agreement}
    return tuple(
        of.get(name) or QuestionAgreement(name, 0, Estimate.undefined(ALONE), no_interval(ALONE))
        for name in names.values()
    )


def _person(
    name: str, given: FloatArray, others: FloatArray, document: IntArray, *, is_rating: bool
) -> QuestionPerson:
    """Return a person on a question.

    Args:
        given, others, document: shape (items,), the person's answers, the others' means and the
            documents, in the order of time.
    """
    documents, place = np.unique(document, return_inverse=True)
    counts = len(given), len(documents)
    lacking = FEW if len(given) < SEVERITY_SHARED else ""
    if not lacking and len(documents) < INTERVAL_DOCUMENTS:
        lacking = FEW_DOCUMENTS
    if not lacking and not (np.ptp(given) and np.ptp(others)):
        lacking = SAME
    rho, between = Estimate.undefined(lacking), no_interval(lacking)
    if not lacking:
        order = np.argsort(place, kind="stable")
        units = Outputs(place[order], np.zeros_like(place), len(documents), 1)
        rho = coefficient_of(given, others, "spearman", of="items")
        over = ("spearman", "dataset", "documents")
        between = remembered(correlation_interval, units, given[order], others[order], *over)
    if not is_rating:
        none = Severity(len(given), Estimate.undefined(COMPARED), no_interval(COMPARED))
        return QuestionPerson(name, *counts, rho, between, none)
    below = others - given
    parts = [
        severity_of(below[start : start + PART], place[start : start + PART])
        for start in range(0, len(below), PART)
    ]
    over_time = tuple(part for part in parts if part.points.value is not None)
    return QuestionPerson(name, *counts, rho, between, severity_of(below, place), over_time)


def severity_of(below: FloatArray, document: IntArray) -> Severity:
    """Return a person's severity.

    Args:
        below: shape (items,), the mean of the others less the person's value.
        document: shape (items,), the document of each item.
    """
    if len(below) < SEVERITY_SHARED:
        return Severity(len(below), Estimate.undefined(FEW), no_interval(FEW))
    documents, place = np.unique(document, return_inverse=True)
    left_out = LeftOut.each(len(documents))
    group = left_out.group[place]
    total, count = (sums(group, of, left_out.groups) for of in (below, None))
    without = mean_of(below.sum() - total, len(below) - count)
    mean = float(below.mean())
    interval = left_out.interval(mean, without, counting=len(documents))
    return Severity(len(below), Estimate(mean), interval)
