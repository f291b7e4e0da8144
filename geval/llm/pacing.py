"""Learn from an endpoint's answers how fast it may be called. Pure: times, in seconds, are
arguments.

A `Pace` is shared by all workers. It assigns slots in which calls may be sent, and learns how many
were sent and how many met a rate limit. Calls are not limited until the first sign of a limit
(`pacer.py`); then they are paced:

- A rate limit starts a measurement. The server's allowance is then used up, so the share of calls
  that pass from then on is the share of the pace that the limit allows; the pace is set to it.
- Without rate limits the pace rises, slowly at first, so that a raised limit is noticed. The rate
  that held before the trouble is tried again, soon and then ever more rarely: it may have passed.
- If lowering the pace repeatedly does not change the share of rate limits, they do not depend on
  the pace: it is restored, and that share is taken as normal for a while.
- If hardly any call passes the endpoint is closed: single trial calls are made, more and more
  rarely, and the first that passes opens it.

This is additive increase and multiplicative decrease (Chiu and Jain, 1989) of a rate, with a
decrease that is measured rather than fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

# Slots are assigned for this many seconds at once.
BLOCK_SECONDS = 0.1
# Unused slots expire when they are older than this; it bounds bursts.
SLACK_SECONDS = 0.25
# The pace is set slightly below the measured one: a fully used allowance has no room for calls that
# arrive a moment early.
MARGIN = 0.985
SLOWEST, FASTEST = 1 / 60, 10_000.0
# A measurement takes at least this long and this many calls, unless this many rate limits end it
# earlier.
MEASURE_SECONDS, MEASURE_CALLS, MEASURE_LIMITED = 2.0, 30, 5
# So many refusals mean that the endpoint is closed for now, whatever the rate.
CLOSED_SHARE = 0.9
FIRST_CLOSED_SECONDS, LONGEST_CLOSED_SECONDS = 1.0, 6.0
# The share by which the pace rises per second; after this long and this many calls without a cut it
# doubles every few seconds.
RISE, UNSURE_RISE = 0.005, 0.3
PATIENT_SECONDS, PATIENT_CALLS, DOUBLING_SECONDS = 30.0, 300, 10.0
# Cuts within this time of each other have the same cause; a rate without a cut for longer, and for
# this many calls, has held.
SAME_TROUBLE_SECONDS, HELD_CALLS = 15.0, 60
# Without rate limits for so long and so many calls, doubled by each try in vain, the rate from
# before the trouble is tried again, if it is this many times as high; so often at most, and after
# many tries only until a lower rate has held. A try ends with so many rate limits within so long.
TRIED_AGAIN_SECONDS, TRIED_AGAIN_CALLS, TRIED_AGAIN_RATIO = 3.0, 10, 1.25
MANY_TRIES, MOST_TRIES, TRY_LIMITED, TRY_SECONDS = 3, 6, 2, 1.5
FIRST_TRY_CALLS = 3
# Of fewer calls a second a try would be a large part.
LEAST_HELD = 1.0
# After this many cuts in a row that leave this much of the share of rate limits, cutting has no
# effect; that share is taken as normal for some time.
VAIN_CUTS, VAIN_SHARE, VAIN_LEAST, USUAL_SECONDS = 3, 0.6, 0.05, 60.0
# Calls that do not use up the pace for this long need none.
UNUSED_SECONDS = 30.0
# A time without calls does not count as a time without rate limits; after a long one the pace is
# learned again.
IDLE_SECONDS, STALE_SECONDS = 2.0, 1800.0
# The pace rises at once by no more than in this many seconds.
LONGEST_STEP = 5.0


@dataclass(frozen=True)
class Sign:
    """A sign that an endpoint limits rates.

    `rate` is the rate that it seems to allow, in calls per second; `is_sure` says whether the
    server stated it; for `closed_for` seconds no call will pass. `held` is the rate of the calls
    before it, 0 if unknown.
    """

    rate: float
    is_sure: bool = False
    closed_for: float = 0.0
    held: float = 0.0


@dataclass(frozen=True)
class WorkerReport:
    """What a worker observed since its last report: calls of an epoch of the pace whose outcome is
    known, and how many of them met a rate limit; a sign of a limit; and whether a trial call to a
    closed endpoint passed (None: none was made)."""

    ended: int = 0
    limited: int = 0
    epoch: int = 0
    sign: Sign | None = None
    trial_passed: bool | None = None


@dataclass(frozen=True)
class Slots:
    """Slots for calls: `count` of them, starting at `at`, every `every` seconds. If `alone`, the
    call must end before the next slot is requested."""

    at: float
    every: float
    count: int
    alone: bool = False


@dataclass(frozen=True)
class Pace:
    """The rate that an endpoint allows, in calls per second (None: no limit is known).

    An epoch is a period in which the pace comes from the same measurement; the outcomes of calls
    sent in an earlier epoch say nothing about the current one. `held` is the rate before the
    trouble, 0 where none is known; `tries` is how often it was tried again in vain, `tried_from`
    the rate to which a try returns, `vain_at` when one did.
    """

    rate: float | None = None
    is_sure: bool = True
    epoch: int = 0
    next_at: float = 0.0
    seen_at: float = 0.0
    calm_since: float = 0.0
    unused_since: float | None = None
    closed_for: float = 0.0
    measured_since: float | None = None
    measured_calls: int = 0
    measured_limited: int = 0
    measured_passed: int = 0
    held: float = 0.0
    tries: int = 0
    tried_at: float | None = None
    tried_from: float = 0.0
    vain_at: float = 0.0
    cut_at: float = 0.0
    cut_share: float = 0.0
    cut_to: float = 0.0
    vain_cuts: int = 0
    rate_before: float = 0.0
    usual_share: float = 0.0
    usual_since: float = 0.0

    @property
    def is_free(self) -> bool:
        """Whether calls are not limited."""
        return self.rate is None and not self.closed_for

    def learned(self, seen: WorkerReport, now: float) -> Pace:
        """Return the pace updated with a worker's observations."""
        pace = self._fresh(now)
        passed = replace(pace, seen_at=now)
        if seen.trial_passed is not None and pace.closed_for:
            return passed._after_trial(seen.trial_passed, now)
        if seen.sign and pace.rate is None:
            passed = passed._entered(seen.sign, now)
        elif pace.rate is not None and not pace.closed_for:
            passed = passed._counted(seen, now, since=pace.seen_at)
        if seen.sign and seen.sign.closed_for:
            passed = passed.closed(now, seconds=seen.sign.closed_for)
        return passed

    def reserved(self, wanted: int, now: float) -> tuple[Pace, Slots]:
        """Reserve slots for up to `wanted` calls; return the updated pace and the slots."""
        if self.closed_for:
            at = max(now, self.next_at)
            return replace(self, next_at=at + self.closed_for), Slots(at, 0.0, 1, alone=True)
        if self.rate is None:
            return self, Slots(now, 0.0, wanted)
        earliest = now - SLACK_SECONDS
        unused_since = None
        if self.next_at < earliest:
            unused_since = now if self.unused_since is None else self.unused_since
            if now - unused_since > UNUSED_SECONDS:
                return Pace(seen_at=now, epoch=self.epoch + 1), Slots(now, 0.0, wanted)
        at = max(self.next_at, earliest)
        count = max(1, min(wanted, math.ceil(self.rate * BLOCK_SECONDS)))
        taken = replace(self, next_at=at + count / self.rate, unused_since=unused_since)
        return taken, Slots(at, 1 / self.rate, count)

    def closed(self, now: float, *, seconds: float = 0.0) -> Pace:
        """Close the endpoint for `seconds`; after that single trial calls are made."""
        return replace(
            self,
            closed_for=max(self.closed_for, FIRST_CLOSED_SECONDS),
            next_at=max(self.next_at, now + seconds),
            measured_since=None,
        )._troubled(now)

    def _troubled(self, now: float) -> Pace:
        """Remember the rate to come back to, in trouble that is seen now."""
        if self.tried_at is not None and now - self.tried_at <= SAME_TROUBLE_SECONDS:
            return replace(self, tries=self.tries + 1, tried_at=None, tried_from=0.0, vain_at=now)
        has_held = max(SAME_TROUBLE_SECONDS, HELD_CALLS / (self.rate or FASTEST))
        is_over = not self._is_lower or self.tries >= MANY_TRIES
        if self.rate and is_over and now - self._quiet_since > has_held:
            return replace(self, held=self.rate, tries=0)
        return self

    @property
    def _quiet_since(self) -> float:
        """When the last trouble was, or the last try."""
        return max(self.calm_since, self.vain_at, self.tried_at or 0.0)

    @property
    def _is_lower(self) -> bool:
        """Whether a much higher rate held before, which is tried again."""
        is_lower = self.rate is not None and self.rate * TRIED_AGAIN_RATIO < self.held
        return is_lower and self.held >= LEAST_HELD and self.tries <= MOST_TRIES

    def _fresh(self, now: float) -> Pace:
        """Drop measurements that are too old, and slots of a clock that has been set back."""
        idle, usual_idle = now - self.seen_at, IDLE_SECONDS + 3 / (self.rate or FASTEST)
        if idle > STALE_SECONDS:
            return Pace(closed_for=self.closed_for, epoch=self.epoch + 1)
        if idle > usual_idle:
            return replace(self, calm_since=self.calm_since + idle, measured_since=None)
        if idle < -IDLE_SECONDS:
            return replace(
                self, next_at=now, seen_at=now, calm_since=now, measured_since=None, cut_at=0.0,
                tried_at=None, vain_at=0.0,
            )  # fmt: skip
        return self

    def _entered(self, sign: Sign, now: float) -> Pace:
        rate = min(max(sign.rate * (MARGIN if sign.is_sure else 1.0), SLOWEST), FASTEST)
        entered = Pace(
            rate=rate, is_sure=sign.is_sure, next_at=now, seen_at=now, calm_since=now,
            closed_for=self.closed_for, epoch=self.epoch + 1, held=sign.held, tries=self.tries,
            tried_at=self.tried_at,
        )  # fmt: skip
        return entered._troubled(now)

    def _after_trial(self, passed: bool, now: float) -> Pace:
        if not passed:
            longer = min(LONGEST_CLOSED_SECONDS, 2 * self.closed_for)
            return replace(self, closed_for=longer, next_at=max(self.next_at, now + longer))
        opened = replace(
            self, closed_for=0.0, next_at=now, is_sure=False, calm_since=now, measured_since=None,
            vain_cuts=0, epoch=self.epoch + 1,
        )  # fmt: skip
        if self.tries or 0 < self.held < LEAST_HELD:
            return replace(opened, rate=None if self.rate is None else max(1.0, self.rate))
        lower = max(1.0, self.rate or 0.0)
        return replace(opened, rate=self.held or None, tried_at=now, tried_from=lower)

    def _counted(self, seen: WorkerReport, now: float, *, since: float) -> Pace:
        is_of_now = seen.epoch == self.epoch
        limited = seen.limited + (self.measured_limited if self.measured_since else 0)
        is_try = self.tried_at is not None and now - self.tried_at <= TRY_SECONDS
        if is_try and self.tried_from and is_of_now and limited >= TRY_LIMITED:
            return replace(
                self._troubled(now), rate=self.tried_from, epoch=self.epoch + 1,
                measured_since=None,
            )  # fmt: skip
        if self.measured_since is None:
            if not (seen.limited and is_of_now):
                return self._risen(min(max(0.0, now - since), LONGEST_STEP), now)
            # Earlier calls show how the allowance was used up, not how it refills.
            return replace(
                self, measured_since=now, measured_calls=0, measured_limited=0, measured_passed=0,
                epoch=self.epoch + 1,
            )  # fmt: skip
        if not is_of_now:
            return self
        measured = replace(
            self,
            measured_calls=self.measured_calls + seen.ended,
            measured_limited=self.measured_limited + seen.limited,
            measured_passed=0 if seen.limited else self.measured_passed + seen.ended,
        )
        took = now - self.measured_since
        if not (self.is_sure or self.tries) and measured.measured_passed >= FIRST_TRY_CALLS:
            # At a low pace a whole measurement would last longer than most troubles.
            if self._is_lower:
                return replace(measured, measured_since=None)._risen(took, now)
            if not self.held:  # a worker of several knows too few calls from before
                return Pace(seen_at=now, epoch=self.epoch + 1, tried_at=now)
        enough = MEASURE_LIMITED + measured._by_chance
        has_lasted = took >= MEASURE_SECONDS and measured.measured_calls >= MEASURE_CALLS
        if has_lasted or measured.measured_limited >= enough:
            return measured._judged(took, now)
        return measured

    @property
    def _by_chance(self) -> float:
        """The most rate limits in a measurement that chance explains."""
        usual = self.usual_share * self.measured_calls
        return usual + 2 * math.sqrt(usual)

    def _judged(self, took: float, now: float) -> Pace:
        """Return the pace after a measurement that took `took` seconds."""
        assert self.rate is not None
        share = min(1.0, self.measured_limited / max(1, self.measured_calls))
        is_known = now - self.usual_since <= USUAL_SECONDS
        usual_share = self.usual_share if is_known else 0.0
        measured = replace(self, measured_since=None, usual_share=usual_share)
        if share >= CLOSED_SHARE:
            slower = max(SLOWEST, self.rate / 4)
            closed = measured.closed(now, seconds=FIRST_CLOSED_SECONDS)
            return replace(closed, rate=slower)
        # One more may be due to a call that arrived a moment early.
        if self.measured_limited <= measured._by_chance + 1:
            return measured._risen(took, now)
        measured = measured._troubled(now)
        same_trouble = now - self.cut_at <= SAME_TROUBLE_SECONDS
        # Not where the rate from before was tried in between.
        is_cut = self.rate <= self.cut_to * TRIED_AGAIN_RATIO
        is_vain = same_trouble and is_cut and share >= max(VAIN_LEAST, VAIN_SHARE * self.cut_share)
        vain_cuts = self.vain_cuts + 1 if is_vain else 0
        is_recent = now - self.cut_at <= USUAL_SECONDS
        before = max(self.rate_before, self.rate) if is_recent else self.rate
        if vain_cuts >= VAIN_CUTS:
            return replace(
                measured, rate=before, rate_before=0.0, usual_share=min(share, 0.5),
                usual_since=now, vain_cuts=0, cut_share=0.0,
                calm_since=now - PATIENT_SECONDS - 3 * DOUBLING_SECONDS,
            )  # fmt: skip
        passing = (1 - share) / (1 - usual_share) if share > usual_share else 1.0
        cut_to = max(SLOWEST, self.rate * passing * MARGIN)
        if not same_trouble:
            # A pace that worked until it rose a little is not much too fast: an endpoint without a
            # burst allowance refuses every second call even at a pace that is barely too fast.
            cut_to = max(cut_to, min(self.rate, self.cut_to) * MARGIN)
        return replace(
            measured, rate=cut_to, cut_to=cut_to, is_sure=True,
            epoch=self.epoch + 1, calm_since=now, cut_at=now,
            cut_share=share, vain_cuts=vain_cuts, rate_before=before,
        )  # fmt: skip

    def _risen(self, seconds: float, now: float) -> Pace:
        assert self.rate is not None
        wait = max(TRIED_AGAIN_SECONDS, TRIED_AGAIN_CALLS / self.rate) * 2**self.tries
        if self._is_lower and now - self._quiet_since > wait:
            return replace(
                self, rate=self.held, epoch=self.epoch + 1, tried_at=now, tried_from=self.rate
            )
        patient = max(PATIENT_SECONDS, PATIENT_CALLS / self.rate)
        calm_since = max(self.calm_since, self.tried_at or self.calm_since)
        doublings = max(0.0, now - calm_since - patient) / DOUBLING_SECONDS
        rise = min(RISE * 2 ** min(doublings, 20.0), 1.0) if self.is_sure else UNSURE_RISE
        rate = self.rate * (1 + rise * seconds)
        return replace(self, rate=None if rate > FASTEST else rate)


@dataclass(frozen=True)
class PacingTurn:
    """What a worker gets: the pace, and slots on a clock whose time is `now`."""

    pace: Pace
    slots: Slots
    now: float
