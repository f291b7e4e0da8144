"""An output on which a judge and people differ: its other scores, and the gap in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geval.reports.data import ReportData
from geval.statistics.labels import most_frequent_point
from geval.statistics.scales import Scale, short
from geval.texts.numbers import two_decimals
from geval.texts.subjects import CriterionLike


@dataclass(frozen=True)
class OtherJudge:
    """Another judge's score of the same output on the criterion; `address` opens its case."""

    pk: int
    judge: str
    score: str


@dataclass(frozen=True)
class OtherCriterion:
    """People's rating and the judge's score of the same output on another criterion."""

    pk: int
    criterion: str
    people: str
    score: str


def shown_on(scale: Scale, value: float) -> str:
    """Return a score or rating as text: a label without an order as a word."""
    return scale.label_at(value) or short(round(value, 2))


def other_judges(
    data: ReportData, at: int, key: tuple[int, int], names: Mapping[int, str], scale: Scale
) -> list[OtherJudge]:
    """Return other judges' scores of a case's output on its criterion; see `other_criteria`."""
    criterion, judge = key
    return [
        OtherJudge(pk, names[pk], shown_on(scale, float(scores[at])))
        for (on, pk), scores in sorted(data.judges.items())
        if on == criterion and pk != judge and pk in names and not np.isnan(scores[at])
    ]


def shares_of_points(stored: Mapping[str, Any]) -> dict[str, float]:
    """Return a stored distribution by point, of one or more points."""
    return {point: float(share) for point, share in stored.items() if _is_point(point)}


def _is_point(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def describe_scoring(mode: str, replies: int) -> str:
    """Describe how a score was obtained.

    Args:
        mode: the scoring mode; "" where there is no score.
        replies: the number of replies of which it is the mean; 0 for other modes.
    """
    if not mode:
        return ""
    if replies:
        return f"mean of {replies} replies" if replies > 1 else "one reply"
    return {"logprobs": "weighted by token probabilities", "direct": "one reply"}.get(mode, "")


def difference_in_words(gap: float) -> str:
    """Return a difference in words, such as "0.50 higher"."""
    if not gap:
        return "no gap"
    return f"{abs(gap):.2f} {'higher' if gap > 0 else 'lower'}"


def case_in_words(
    judge: str, ratings: Sequence[tuple[str, float]], people: float, score: str, gap: float
) -> str:
    """Return people's ratings and a judge's score of an output, in a sentence."""
    each = ", ".join(f"{name} {short(value)}" for name, value in ratings)
    return (
        f"People gave {two_decimals(people)} on average{f' ({each})' if each else ''}; {judge} gave"
        f" {score}: {difference_in_words(gap)}."
    )


def other_criteria(
    data: ReportData, at: int, key: tuple[int, int], criteria: Mapping[int, CriterionLike]
) -> list[OtherCriterion]:
    """Return people's ratings and the judge's scores of a case's output on other criteria.

    Args:
        at: the position of the output in the data.
        key: the ids of the criterion and the judge.
        criteria: all criteria, by id.
    """
    criterion, judge = key
    others = []
    for pk, other in criteria.items():
        scores, human = data.judges.get((pk, judge)), data.humans.get(pk)
        if pk == criterion or human is None:
            continue
        scale = other.scale
        of_people = human.mean if scale.is_ordered else most_frequent_point(human.ratings, scale)
        people = float(of_people[at])
        score = np.nan if scores is None else scores[at]
        if not (np.isnan(people) and np.isnan(score)):
            others.append(
                OtherCriterion(
                    pk,
                    other.name,
                    "–" if np.isnan(people) else scale.label_at(people) or two_decimals(people),
                    "–" if np.isnan(score) else shown_on(scale, float(score)),
                )
            )
    return others
