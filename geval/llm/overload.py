"""Learn from refused calls how many concurrent calls a server answers. Pure.

An overloaded server refuses some calls immediately: with 503, or by not accepting the connection.
The other calls that were open at the time and not refused show how many it can answer at once. That
number becomes the limit; when it has worked for a while a few more are tried, more and more rarely
while they are refused.

Servers also refuse single calls for other reasons, which are ignored: only refusals in such close
succession that chance does not explain them count (Page, 1954). If lowering the limit repeatedly
does not change the share of refusals, they do not depend on concurrency and are ignored for some
time. A call that is refused while no other is open says nothing about concurrency.
"""

import statistics
from collections import deque

from geval.llm.signs import ENOUGH, LIMITED_WEIGHT, PASSED_WEIGHT, REMEMBERED_CALLS

# After this many rounds (a round is as many answers as the limit) a higher limit is tried; each
# attempt that is refused doubles the rounds.
PATIENT_ROUNDS, MOST_PATIENT_ROUNDS = 8, 64
# Once a limit is known, half the evidence is enough to lower it: other clients may be using a part
# of the capacity.
ENOUGH_IF_KNOWN = ENOUGH / 2
# After this many cuts without effect in a row, refusals are ignored for this many answers.
VAIN_CUTS, VAIN_ANSWERS = 3, 1000


class Capacity:
    """The number of concurrent calls that a server can answer.

    `most` is the limit, None while no number is known to be too high. `proven` calls were answered
    at once; where `most` is higher, more are being tried.
    """

    def __init__(self) -> None:
        self.most: int | None = None
        self.proven = 0
        # The calls sent since the last change, in order: for a refused call how many other open
        # calls were not refused, None for others. An open call counts as answered, because refusals
        # arrive immediately and replies do not.
        self._calls: deque[int | None] = deque(maxlen=REMEMBERED_CALLS)
        self._count = self._since = 0
        self._calm = 0
        self._rounds, self._step = PATIENT_ROUNDS, 1
        self._cuts = 0
        self._before: int | None = None
        self._deaf_for = 0

    def leave(self) -> int:
        """Record that a call is sent now; return its number."""
        self._calls.append(None)
        self._count += 1
        return self._count - 1

    def answered(self, number: int, at_once: int) -> None:
        """Record an answer to a call; `at_once` is how many calls were open when it was sent."""
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
        """Record a refused call; `beside` is how many other open calls were not refused. Return
        whether the limit has changed."""
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
        """Return how many calls are answered at once, judged by refusals that chance does not
        explain; None if there are none."""
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
