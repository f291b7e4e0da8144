"""Each sentence on agreement comes from what is shown: better, worse, or not shown."""

from functools import cache
from itertools import product

import pytest

from geval.reports.verdicts.verdict import Evidence, Verdict, verdict_of
from geval.reports.words import _caution
from geval.statistics.agreement import BehindARater
from geval.statistics.resampling import Interval
from geval.statistics.types import Estimate
from tests.reports.test_evidence import null
from tests.thresholds.test_verdicts_at_their_borders import evidence

# How a judge ranks beside a rater: shown like one, not shown, shown below.
LIKE, UNKNOWN, BELOW = (
    BehindARater(value, error, 99) for value, error in ((0.0, 0.01), (-0.1, 0.1), (-0.3, 0.03))
)
SHOWN, NOT_SHOWN, REVERSED = Interval(0.4, 0.6), Interval(-0.1, 0.6), Interval(-0.6, -0.4)
WITHIN = (
    None,
    evidence(interval=SHOWN),
    evidence(interval=SHOWN, behind=UNKNOWN),
    evidence(interval=NOT_SHOWN),
    evidence(interval=SHOWN, passes=False),
    evidence(interval=REVERSED),
)
P_BEYOND = (None, 0.025, 0.026)
FILLED = (
    None,
    evidence(interval=SHOWN),
    evidence(interval=SHOWN, behind=UNKNOWN),
    evidence(interval=SHOWN, passes=False),
)
LENGTH = null("length", ahead=Interval(-0.1, 0.2))


def states() -> list[Evidence]:
    """Every combination of what may be shown of a judge."""
    return [
        evidence(
            behind=behind,
            passes=passes,
            p_nearer=p_nearer,
            interval=interval,
            in_place=Estimate(in_place),
            nulls=nulls,
            within=within,
            p_beyond=beyond,
            filled=filled,
        )
        for behind, passes, p_nearer, interval, in_place, nulls, within, beyond, filled in product(
            (LIKE, UNKNOWN, BELOW),
            (True, False),
            (0.001, 0.2),
            (SHOWN, NOT_SHOWN, REVERSED),
            (0.6, 0.2),
            ((), (LENGTH,)),
            WITHIN,
            P_BEYOND,
            FILLED,
        )
    ]


@cache
def said() -> list[tuple[Evidence, Verdict, str]]:
    """Each state with its verdict and what is said of it."""
    verdicts = [(state, verdict_of(state)) for state in states()]
    return [(state, of, _caution(state, of, is_lowest_bar=False)) for state, of in verdicts]


SENTENCES = {
    "Ranks below one rater": lambda e: e.ranks_below_a_rater,
    "Not shown to rank like a rater": lambda e: (
        not e.ranks_like_a_rater and not e.ranks_below_a_rater
    ),
    "It ranks like a rater": lambda e: e.ranks_like_a_rater,
    "Its scores are as close as one rater's": lambda e: e.scores_like_a_rater,
    "; its scores are not shown to be as close": lambda e: not e.scores_like_a_rater,
    "not shown to be closer to the raters": lambda e: not e.beats_a_constant,
    "orders these systems as a rater does; within a system it is not shown": lambda e: (
        e.scores_like_a_rater and e.ranks_like_a_rater and not e.within.ranks_like_a_rater
    ),
    "within a system its scores are not shown to be as close": lambda e: (
        e.within.ranks_like_a_rater and not e.within.scores_like_a_rater
    ),
    "where it gave scores; with the missing ones it is not shown": lambda e: (
        not e.filled.ranks_like_a_rater and e.holds_within
    ),
    "with the missing ones its scores are not shown to be as close": lambda e: (
        not e.filled.scores_like_a_rater and e.holds_within
    ),
    "standing in takes scores of": lambda e: (
        e.scores_like_a_rater and e.holds_within and e.filled.holds_within
    ),
    "Among like texts it is not shown": lambda e: (
        not e.adds_to_length and (e.within is None or e.within.is_related)
    ),
    "only a text's length or group": lambda e: e.within is None,
    "It ranks against people": lambda e: e.is_reversed,
    "Within a system it ranks against people": lambda e: e.within.is_reversed,
    "Within a system it is not shown": lambda e: (
        not e.within.is_related and not e.within.is_reversed
    ),
    "No judge is shown to rank": lambda e: not e.is_related,
    "may rank as well": lambda e: bool(e.nulls_that_may_rank_as_well),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_is_said_only_in_its_state(sentence: str) -> None:
    holds, seen = SENTENCES[sentence], 0
    for state, _verdict, text in said():
        if sentence in text:
            seen += 1
            assert holds(state), text

    assert seen > 0


def test_every_state_without_the_strongest_verdict_has_a_sentence() -> None:
    for state, verdict, text in said():
        assert bool(text) is (verdict != Verdict.STANDS_IN)
        assert "below" not in text or state.ranks_below_a_rater
