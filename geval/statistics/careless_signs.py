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
# Answers without reading take at least this share of honest annotators' time, as a logarithm.
MOST_SAVED = 4.0
# Of people who do not read, so many show a sign of time, of no regard to length, of one answer.
HASTY, REGARDLESS, STRAIGHT = 0.5, 0.8, 0.2
# Neither time nor agreement alone names anybody, as models of them are rough.
MOST_TIME, MOST_AGREEMENT = 25.0, 10.0
# A p-value p counts as CALIBRATOR * p ** (CALIBRATOR - 1) (Sellke, Bayarri and Berger, 2001).
CALIBRATOR = 0.3
CARELESS = 0.5  # share before anything is known
ROUNDS = 6


@dataclass(frozen=True)
class ReadingTimes:
    """The times of `answers`: `pace` is the median logarithm of an answer's time over that of
    reading its texts, `follows` Fisher's z of the correlation of both logarithms, None where the
    texts are equally long."""

    answers: int
    pace: float
    follows: float | None

    @classmethod
    def of(cls, seconds: Sequence[float], words: Sequence[int]) -> "ReadingTimes | None":
        """Return None for fewer than `LEAST_TIMES` answers."""
        if len(seconds) < LEAST_TIMES:
            return None
        took = np.log(np.maximum(seconds, 0.1))
        reading = np.log(SECONDS_PER_ANSWER + SECONDS_PER_WORD * np.asarray(words))
        follows = None
        if min(took.std(), reading.std()) > 1e-9:
            follows = float(np.arctanh(np.clip(np.corrcoef(took, reading)[0, 1], -0.99, 0.99)))
        return cls(len(took), float(np.median(took - reading)), follows)


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
    usual_pace: float | None = None

    @property
    def ratio(self) -> float:
        return self.checks * self.time * self.same * self.agreement

    @property
    def are_enough(self) -> bool:
        """Whether the signs together name the annotator."""
        return self.items >= SUSPECT_ITEMS and self.ratio >= SIGNS_RATIO


def signs_of(people: Sequence[RaterWork]) -> list[Signs]:
    """Return the signs of each annotator of a campaign."""
    honest, signs = np.ones(len(people)), []
    for _ in range(ROUNDS):
        usual = _Usual.of(people, honest)
        signs = [usual.signs(person) for person in people]
        odds = np.array([sign.ratio for sign in signs]) * CARELESS / (1 - CARELESS)
        honest = 1 / (1 + odds)
    return signs


@dataclass(frozen=True)
class _Usual:
    """What honest annotators do: the share of passed checks, and the middle and the spread of their
    pace and of how far time follows length (None for few), and the spread of equal answers."""

    passed: float
    pace: tuple[float, float] | None
    follows: tuple[float, float] | None
    same_spread: float

    @classmethod
    def of(cls, people: Sequence[RaterWork], honest: FloatArray) -> "_Usual":
        """Return what is usual.

        Args:
            honest: shape (people,), how likely each is honest.
        """
        checks, right = np.array([(person.checks, person.right) for person in people]).T
        # One of two more checks is passed, so that there is always a share.
        passed = (honest @ right + 1) / (honest @ checks + 2)
        times = [(person.times, weight) for person, weight in zip(people, honest, strict=True)]
        paces = [(time.pace, weight) for time, weight in times if time]
        following = [
            (time.follows, time.answers, weight)
            for time, weight in times
            if time and time.follows is not None
        ]
        apart = [
            (abs(person.same / person.answers - person.expected), weight)
            for person, weight in zip(people, honest, strict=True)
            if person.answers
        ]
        error = float(np.median([answers - 3 for _, answers, _ in following] or [1])) ** -0.5
        return cls(
            float(np.clip(passed, LEAST_PASSED, MOST_PASSED)),
            _middle(paces, TIME_SPREAD),
            _middle([(follows, weight) for follows, _, weight in following], error),
            max(_median(np.array(apart)) if apart else 0.0, SAME_SPREAD),
        )

    def signs(self, person: RaterWork) -> Signs:
        wrong = person.checks - person.right
        passed = (GUESSED / self.passed) ** person.right
        missed = ((1 - GUESSED) / (1 - self.passed)) ** wrong
        return Signs(
            person.items, passed * missed, self._time(person.times), self._same(person),
            min(person.against_care, MOST_AGREEMENT), self.pace and self.pace[0],
        )  # fmt: skip

    def _time(self, times: ReadingTimes | None) -> float:
        ratio = 1.0
        if times and self.pace:
            middle, spread = self.pace
            saved = middle - times.pace
            hasty = 1 / MOST_SAVED if 0 < saved < MOST_SAVED else 0.0
            usual = stats.t.pdf(saved / spread, 8) / spread
            ratio *= 1 - HASTY + HASTY * hasty / usual
        if times and self.follows and times.follows is not None:
            middle, spread = self.follows
            blind = stats.norm.pdf(times.follows, 0, (times.answers - 3) ** -0.5)
            usual = stats.t.pdf((times.follows - middle) / spread, 8) / spread
            ratio *= 1 - REGARDLESS + REGARDLESS * blind / usual
        return float(min(ratio, MOST_TIME))

    def _same(self, person: RaterWork) -> float:
        if not person.answers:
            return 1.0
        mean = float(np.clip(person.expected, 0.02, 0.98))
        precision = max(mean * (1 - mean) / self.same_spread**2 - 1, 1.0)
        ends = (mean * precision, (1 - mean) * precision)
        tail = float(stats.betabinom.sf(person.same - 1, person.answers, *ends))
        ratio = CALIBRATOR * float(max(tail, 1e-12) ** (CALIBRATOR - 1))
        return 1 - STRAIGHT + STRAIGHT * ratio


def _middle(weighted: Sequence[tuple[float, float]], least: float) -> tuple[float, float] | None:
    """Return the weighted median and the spread around it; None for few values."""
    if len(weighted) < LEAST_TIMED:
        return None
    pairs = np.array(weighted)
    middle = _median(pairs)
    apart = np.column_stack([np.abs(pairs[:, 0] - middle), pairs[:, 1]])
    return middle, max(1.4826 * _median(apart), least)


def _median(pairs: FloatArray) -> float:
    """Return the weighted median; shape (values, 2): values and weights."""
    ordered = pairs[np.argsort(pairs[:, 0])]
    cumulated = np.cumsum(ordered[:, 1])
    return float(ordered[np.searchsorted(cumulated, cumulated[-1] / 2), 0])
