"""What a campaign's answers say by question, never across scales: how far people agree, and how
strict each is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geval.statistics.agreement import coincidences
from geval.statistics.arrays import Outputs, Ratings, mean_of, sums
from geval.statistics.jackknife import LeftOut, no_interval
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import SEVERITY_SHARED
from geval.statistics.types import Estimate, FloatArray, IntArray
from geval.texts.numbers import in_brackets, shown, signed

ALONE = "no item has answers of two people"
FEW = f"fewer than {SEVERITY_SHARED} answers to items that others answered too"


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
class QuestionSeverity:
    """How much lower than the mean of the others an annotator rates `items` that others answered
    too, in points of the question's scale, with its interval over documents."""

    question: str
    items: int
    points: Estimate
    interval: Interval

    def __str__(self) -> str:
        if self.points.value is None:
            return "–"
        between = [signed(end) for end in self.interval.ends or ()]
        return f"{signed(self.points.value)} [{', '.join(between)}]".removesuffix(" []")


def campaign_questions(
    answers: Sequence[GivenAnswer], names: Mapping[str, str]
) -> tuple[tuple[QuestionAgreement, ...], dict[int, tuple[QuestionSeverity, ...]]]:
    """Return agreement by question, and severities by annotator.

    Args:
        names: the questions by their key in answers, in order.
    """
    agreement: list[QuestionAgreement] = []
    severity: dict[int, tuple[QuestionSeverity, ...]] = {}
    for key, name in names.items():
        rows = sorted(
            ((answer.document, answer.item, of), answer.annotator, value)
            for answer in answers
            for of, value in answer.values.items()
            if of.split()[0] == key
        )
        if not rows:
            continue
        units = list(dict.fromkeys(unit for unit, *_ in rows))
        place = {unit: at for at, unit in enumerate(units)}
        documents, document = np.unique([unit[0] for unit in units], return_inverse=True)
        raters, rater = np.unique([row[1] for row in rows], return_inverse=True)
        unit, value = np.array([(place[row[0]], row[2]) for row in rows]).T
        ratings = Ratings(unit.astype(np.int64), rater, value, len(units), len(raters))
        outputs = Outputs(document, np.zeros_like(document), len(documents), 1)
        left_out = LeftOut.each(len(documents))
        coinciding = coincidences(outputs, ratings, left_out)
        alpha = coinciding.alpha("interval"), coinciding.interval("interval", left_out)
        if twice := {units[at][1] for at in np.flatnonzero(ratings.count > 1)}:
            agreement.append(QuestionAgreement(name, len(twice), *alpha))
        below = ratings.others - ratings.value
        for at, pk in enumerate(raters.tolist()):
            own = (rater == at) & ~np.isnan(below)
            of_own = _severity(name, below[own], document[ratings.output[own]], left_out)
            severity[pk] = (*severity.get(pk, ()), of_own)
    return tuple(agreement), severity


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


def _severity(
    name: str, below: FloatArray, document: IntArray, documents: LeftOut
) -> QuestionSeverity:
    if len(below) < SEVERITY_SHARED:
        return QuestionSeverity(name, len(below), Estimate.undefined(FEW), no_interval(FEW))
    group = documents.group[document]
    total, count = (sums(group, of, documents.groups) for of in (below, None))
    left_out = mean_of(below.sum() - total, len(below) - count)
    mean = float(below.mean())
    interval = documents.interval(mean, left_out, counting=len(np.unique(document)))
    return QuestionSeverity(name, len(below), Estimate(mean), interval)
