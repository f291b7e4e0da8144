"""How many calls at once a server answers, learned from those that it refuses. Pure.

A server that is overloaded by calls refuses some of them at once: with 503, or by not taking their
connection. Of the calls that were open beside a refused one, those that were not refused are what
the server answers at once. So many are open from then on; and where that has gone well for a while
a few more are tried, ever more rarely as long as they are refused.

Servers refuse single calls for other reasons as well. These are no sign: only refusals in so close
a sequence that chance does not explain them are (Page, 1954). Where fewer calls, time and again, do
not change the share of refusals, they do not depend on the number of calls, and nothing is done
about them for some time. A call that is refused while no other is open says nothing about their
number.
"""

import statistics
from collections import deque

from geval.llm.signs import ENOUGH, LIMITED_WEIGHT, PASSED_WEIGHT, REMEMBERED_CALLS

# After so many times as many answers as calls are open one more is tried; twice as many with each
# one that is refused.
PATIENT_ROUNDS, MOST_PATIENT_ROUNDS = 8, 64
# Where a number is known already, others may use a part of it, or use less: half as much is enough.
ENOUGH_IF_KNOWN = ENOUGH / 2
# So many cuts in a row are in vain; refusals do not count for so many answers from then on.
VAIN_CUTS, VAIN_ANSWERS = 3, 1000


class Capacity:
    """How many calls may be open at once.

    `most` is None while no number is known to be too high. `proven` of them were answered; more are
    being tried where `most` is higher.
    """

    def __init__(self) -> None:
        self.most: int | None = None
        self.proven = 0
        # The calls that left since the last change, in this order: beside how many others each was
        # refused, None for those that were not. One that is still out counts as answered: refusals
        # come at once, replies do not.
        self._calls: deque[int | None] = deque(maxlen=REMEMBERED_CALLS)
        self._count = self._since = 0
        self._calm = 0
        self._rounds, self._step = PATIENT_ROUNDS, 1
        self._cuts = 0
        self._before: int | None = None
        self._deaf_for = 0

    def leave(self) -> int:
        """Note that a call leaves now; its number."""
        self._calls.append(None)
        self._count += 1
        return self._count - 1

    def answered(self, number: int, at_once: int) -> None:
        """Note an answer to a call that was one of so many when it left."""
        self._deaf_for = max(0, self._deaf_for - 1)
        if self.most is None or number < self._since or at_once < self.most:
            return
        self._calm += 1
        if self._calm >= self.most:
            self._cuts = 0
        if self.most > self.proven and self._calm >= self.most:
            self.proven, self._step, self._rounds = self.most, 2 * self._step, PATIENT_ROUNDS
            self._try(self.proven + self._step)
        elif self.most == self.proven and self._calm >= self._rounds * self.most:
            self._try(self.proven + self._step)

    def refused(self, number: int, beside: int) -> bool:
        """Note that a call was refused beside so many others that were not; whether another number
        holds from now on."""
        if self._deaf_for or not beside or number < self._since:
            return False
        if self.most is not None and self.most > self.proven and beside >= self.proven:
            self.proven = beside
            self._rounds = min(MOST_PATIENT_ROUNDS, 2 * self._rounds)
            self._step = 1
            self._try(self.proven)
            return True
        index = number - (self._count - len(self._calls))
        if index >= 0:
            self._calls[index] = beside
        answered = self._answered_beside()
        if answered is not None:
            self._cut(answered)
        return answered is not None

    def _answered_beside(self) -> int | None:
        """How many calls are answered at once, by refusals that chance does not explain; None if
        there are none."""
        enough = ENOUGH if self.most is None else ENOUGH_IF_KNOWN
        evidence, besides = 0.0, list[int]()
        for beside in self._calls:
            evidence += PASSED_WEIGHT if beside is None else LIMITED_WEIGHT
            if beside is not None:
                besides.append(beside)
            if evidence <= 0:
                evidence, besides = 0.0, []
            if evidence >= enough:
                return statistics.median_low(besides)
        return None

    def _cut(self, answered: int) -> None:
        if not self._cuts:
            self._before = self.most
        self._cuts += 1
        self._step, self._rounds = 1, PATIENT_ROUNDS
        if self._cuts == VAIN_CUTS:
            self._cuts, self._deaf_for = 0, VAIN_ANSWERS
            self.proven = self._before or 0
            self._try(self._before)
        else:
            self.proven = answered
            self._try(answered)

    def _try(self, most: int | None) -> None:
        self.most = most
        self._calm = 0
        self._calls.clear()
        self._since = self._count
