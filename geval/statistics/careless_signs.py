"""Signs that an annotator did not read, taken together: missed checks, little time for the texts,
the same answer throughout, and no agreement with others.

Which question this answers: whose answers need a look, where each sign alone says little? Do not
use it to compare annotators: severity and opinions are no signs.

Each sign is a ratio: how many times as likely it is for somebody who does not read as for an honest
annotator of this campaign. Over honest annotators such a ratio has the mean 1, so that by Markov's
inequality at most one in `SIGNS_RATIO` has so large a product. What honest annotators do is taken
from everybody, weighted by how likely they read; so a crowd half random does not count as usual.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from geval.statistics.thresholds import SIGNS_RATIO, SUSPECT_ITEMS
from geval.statistics.types import FloatArray

# Silent reading takes a quarter of a second per word (Brysbaert, 2019), an answer some seconds.
SECONDS_PER_WORD, SECONDS_PER_ANSWER = 0.25, 3.0
# Checks passed without reading, and by honest annotators at least and at most.
GUESSED, LEAST_PASSED, MOST_PASSED = 0.5, 0.6, 0.95
# Fewer annotators with times, or times of one, show nothing.
LEAST_TIMED, LEAST_TIMES = 5, 6
# How much honest annotators differ at least: in the logarithm of time, and the share of one answer.
TIME_SPREAD, SAME_SPREAD = 0.35, 0.1
# The logarithm of the time that answers without reading save is at most this.
MOST_SAVED = 4.0
# Of people who do not read, so many show a sign of time, of no regard to length, of one answer.
HASTY, REGARDLESS, STRAIGHT = 0.5, 0.8, 0.2
# Neither time nor agreement alone names anybody, as models of them are rough.
MOST_TIME, MOST_AGREEMENT = 25.0, 10.0
# A p-value p counts as CALIBRATOR * p ** (CALIBRATOR - 1) (Sellke, Bayarri and Berger, 2001).
CALIBRATOR = 0.3
# Before anything is known, half are careless; so often is it asked again who is honest.
ROUNDS = 6


@dataclass(frozen=True)
class ReadingTimes:
    """The times of `answers`: `pace` is the median logarithm of an answer's time over that of
    reading its texts, `follows` Fisher's z of the correlation of both logarithms, NaN where the
    texts or times are equally long."""

    answers: int
    pace: float
    follows: float

    @classmethod
    def of(cls, seconds: Sequence[float], words: Sequence[int]) -> "ReadingTimes | None":
        """Return None for fewer than `LEAST_TIMES` answers."""
        if len(seconds) < LEAST_TIMES:
            return None
        took = np.log(np.maximum(seconds, 0.1))
        reading = np.log(SECONDS_PER_ANSWER + SECONDS_PER_WORD * np.asarray(words))
        varies = min(took.std(), reading.std()) > 1e-9
        r = np.corrcoef(took, reading)[0, 1] if varies else np.nan
        pace = float(np.median(took - reading))
        return cls(len(took), pace, float(np.arctanh(np.clip(r, -0.99, 0.99))))


@dataclass(frozen=True)
class RaterWork:
    """What an annotator did: `items` answered; `right` of `checks`; `same` of `answers` equal,
    where others gave that answer to `expected`, a share of these items; `against_care` as in
    `AgainstChance`."""

    items: int
    checks: int = 0
    right: int = 0
    times: ReadingTimes | None = None
    same: int = 0
    answers: int = 0
    expected: float = 1.0
    against_care: float = 1.0


@dataclass(frozen=True)
class Signs:
    """The ratio of each sign, 1 where there is none; `usual_pace` is that of honest annotators."""

    items: int
    checks: float
    time: float
    same: float
    agreement: float
    usual_pace: float = np.nan

    @property
    def ratio(self) -> float:
        return self.checks * self.time * self.same * self.agreement

    @property
    def are_enough(self) -> bool:
        """Whether the signs together name the annotator."""
        return self.items >= SUSPECT_ITEMS and self.ratio >= SIGNS_RATIO


def signs_of(people: Sequence[RaterWork]) -> list[Signs]:
    """Return the signs of each annotator of a campaign."""
    honest = np.ones(len(people))
    table, pace = np.empty((0, 4)), np.nan
    for _ in range(ROUNDS):
        table, pace = _ratios(people, honest)
        honest = 1 / (1 + table.prod(axis=1))
    return [
        Signs(person.items, checks, time, same, agreement, pace)
        for person, (checks, time, same, agreement) in zip(people, table.tolist(), strict=True)
    ]


def _ratios(people: Sequence[RaterWork], honest: FloatArray) -> tuple[FloatArray, float]:
    """Return the ratios of checks, time, equal answers and agreement beside what honest annotators
    do, shape (people, 4), and their usual pace.

    Args:
        honest: shape (people,), how likely each is honest.
    """
    own = np.array([(of.checks, of.right, of.same, of.answers) for of in people], dtype=float)
    checks, right, same, answers = own.reshape(-1, 4).T
    # One of two more checks is passed, so that there is always a share.
    passed = np.clip((honest @ right + 1) / (honest @ checks + 2), LEAST_PASSED, MOST_PASSED)
    missed = ((1 - GUESSED) / (1 - passed)) ** (checks - right)
    times = [
        (of.times.pace, of.times.follows, max(of.times.answers - 3, 1) ** -0.5)
        if of.times
        else (np.nan,) * 3
        for of in people
    ]
    pace, follows, error = np.array(times).reshape(-1, 3).T
    usual = _middle(pace, honest, TIME_SPREAD)
    saved = usual[0] - pace
    hasty = np.where((saved > 0) & (saved < MOST_SAVED), 1 / MOST_SAVED, 0.0)
    following = _middle(follows, honest, float(np.nan_to_num(np.nanmax(error, initial=0))))
    blind = stats.norm.pdf(follows, 0, error)
    time = _mixed(HASTY, hasty, pace, usual) * _mixed(REGARDLESS, blind, follows, following)
    mean = np.clip([of.expected for of in people], 0.02, 0.98)
    apart = np.where(answers > 0, np.abs(same / np.maximum(answers, 1) - mean), np.nan)
    spread = max(_median(apart, honest), SAME_SPREAD)
    precision = np.maximum(mean * (1 - mean) / spread**2 - 1, 1.0)
    tail = stats.betabinom.sf(same - 1, answers, mean * precision, (1 - mean) * precision)
    straight = STRAIGHT * CALIBRATOR * np.maximum(tail, 1e-12) ** (CALIBRATOR - 1)
    table = (
        (GUESSED / passed) ** right * missed,
        np.minimum(time, MOST_TIME),
        np.where(answers > 0, 1 - STRAIGHT + straight, 1.0),
        np.minimum([of.against_care for of in people], MOST_AGREEMENT),
    )
    return np.column_stack(table), usual[0]


def _mixed(
    part: float, density: FloatArray, values: FloatArray, usual: tuple[float, float]
) -> FloatArray:
    """Return ratios of which a part of the careless show the sign, with this density; 1 where it is
    unknown."""
    middle, spread = usual
    honest = stats.t.pdf((values - middle) / spread, 8) / spread
    ratios: FloatArray = np.nan_to_num(1 - part + part * density / honest, nan=1.0)
    return ratios


def _middle(values: FloatArray, honest: FloatArray, least: float) -> tuple[float, float]:
    """Return honest annotators' median and the spread around it; NaN for few values."""
    if np.count_nonzero(~np.isnan(values)) < LEAST_TIMED:
        return np.nan, np.nan
    middle = _median(values, honest)
    return middle, max(1.4826 * _median(np.abs(values - middle), honest), least)


def _median(values: FloatArray, weights: FloatArray) -> float:
    """Return the weighted median without missing values; 0 if there are none."""
    order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]
    if not len(order):
        return 0.0
    cumulated = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulated, cumulated[-1] / 2)])
