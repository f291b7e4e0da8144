"""What a verdict's evidence says by itself: shares, intervals, and which reason is missing."""

from dataclasses import replace
from typing import Any

import pytest

from geval.reports.verdicts.null_judges import NullDraw, NullJudge
from geval.reports.verdicts.verdict import Evidence, Verdict, verdict_of
from geval.statistics.agreement import BehindARater
from geval.statistics.resampling import Interval
from geval.statistics.types import Estimate
from tests.thresholds.test_verdicts_at_their_borders import evidence

NOTHING = Estimate.undefined("nothing")
NO_ENDS = Interval(None, None, "no ends")


def null(name: Any, *, passes: bool = False, ahead: Interval | None = None) -> NullJudge:
    draw = NullDraw(Estimate(0.5), Interval(0.4, 0.6), 0.0, passes, Estimate(0.1), ahead=ahead)
    return NullJudge(name, (draw,))


@pytest.mark.parametrize(
    ("ceiling", "in_place", "share"),
    [(0.8, 0.4, 0.5), (0.8, -0.4, -0.5), (0.5, 0.6, 1.2), (-0.1, 0.4, None), (0.0, 0.4, None),
     (None, 0.4, None), (0.8, None, None)],
)  # fmt: skip
def test_the_share_is_of_what_one_rater_reaches(
    ceiling: float | None, in_place: float | None, share: float | None
) -> None:
    sides = [NOTHING if one is None else Estimate(one) for one in (ceiling, in_place)]

    found = evidence(ceiling=sides[0], in_place=sides[1]).share

    assert found == (None if share is None else pytest.approx(share))


@pytest.mark.parametrize(
    ("ceiling", "low", "agree"),
    [(0.5, 0.1, True), (0.5, None, True), (0.5, 0.0, False), (0.5, -0.1, False),
     (0.5, -1.0, False), (0.0, 0.1, False), (-0.2, None, False), (None, None, False),
     (0.5, 0.5, True), (0.9, 0.01, True)],
)  # fmt: skip
def test_raters_agree_where_the_interval_of_one_rater_lies_above_0(
    ceiling: float | None, low: float | None, agree: bool
) -> None:
    found = evidence(
        ceiling=NOTHING if ceiling is None else Estimate(ceiling),
        ceiling_interval=NO_ENDS if low is None else Interval(low, 0.9),
    )

    assert found.raters_agree is agree


@pytest.mark.parametrize(
    ("value", "low", "is_related"),
    [(0.5, 0.1, True), (0.5, 0.0, False), (0.5, -0.1, False), (1.0, None, True),
     (1 - 1e-10, None, True), (0.99, None, False), (-1.0, None, False), (None, None, False)],
)  # fmt: skip
def test_a_judge_is_related_where_its_interval_lies_above_0_or_it_never_errs(
    value: float | None, low: float | None, is_related: bool
) -> None:
    found = evidence(
        correlation=NOTHING if value is None else Estimate(value),
        interval=NO_ENDS if low is None else Interval(low, 0.9),
    )

    assert found.is_related is is_related
    assert found.low == (low if low is not None or not is_related else value)


@pytest.mark.parametrize(
    ("high", "is_reversed"), [(-0.1, True), (0.0, False), (0.1, False), (None, False)]
)
def test_a_judge_is_reversed_where_its_interval_lies_below_0(
    high: float | None, is_reversed: bool
) -> None:
    interval = NO_ENDS if high is None else Interval(-0.9, high)

    assert evidence(interval=interval).is_reversed is is_reversed


@pytest.mark.parametrize("compared", [0, 1, 2, 5])
def test_the_error_is_shared_among_judges(compared: int) -> None:
    assert evidence(compared=compared).error == pytest.approx(0.05 / max(1, compared))


@pytest.mark.parametrize(
    ("ahead", "may"),
    [(Interval(0.01, 0.3), False), (Interval(0.0, 0.3), True), (Interval(-0.1, 0.3), True),
     (Interval(-0.3, -0.1), True), (NO_ENDS, True), (None, False)],
)  # fmt: skip
def test_a_judge_has_to_be_shown_to_rank_better_than_length(
    ahead: Interval | None, may: bool
) -> None:
    length = null("length", ahead=ahead)

    found = evidence(nulls=(null("constant"), length))

    assert found.nulls_that_may_rank_as_well == ((length,) if may else ())
    assert found.ranks_like_a_rater is not may


@pytest.mark.parametrize("name", ["system", "document"])
def test_what_people_said_of_other_texts_counts_where_systems_cannot_be_looked_into(
    name: str,
) -> None:
    known = null(name, passes=True, ahead=Interval(-0.1, 0.1))

    alone, within = (evidence(nulls=(known,), within=inside) for inside in (None, evidence()))

    assert alone.rivals == (known,)
    assert not alone.ranks_like_a_rater
    assert within.rivals == ()
    assert within.ranks_like_a_rater


@pytest.mark.parametrize(
    ("passes", "p", "farther", "as_near"),
    [(True, 0.05, 0.4, True), (True, 0.051, 0.4, False), (True, None, 0.4, False),
     (False, 0.01, 0.4, False), (True, 0.05, 0.05, False), (True, 0.05, 0.051, True),
     (True, 0.05, None, True)],
)  # fmt: skip
def test_a_judge_has_to_be_shown_to_be_closer_than_length_where_that_scores_like_a_rater(
    passes: bool, p: float | None, farther: float | None, as_near: bool
) -> None:
    length = null("length", passes=passes)
    draw = replace(length.draws[0], p_nearer=p, p_farther=farther)
    length = replace(length, draws=(draw,))

    found = evidence(nulls=(length,), passes=True, p_nearer=0.001)

    assert found.nulls_that_score_like_a_rater == ((length,) if as_near else ())
    assert found.scores_like_a_rater is not as_near


def test_of_shuffled_scores_more_than_chance_have_to_be_near() -> None:
    far = null("shuffled", passes=True)
    near = replace(far.draws[0], p_nearer=0.01)

    one, two = (replace(far, draws=(near,) * count + far.draws * (20 - count)) for count in (1, 2))

    assert not one.scores_like_a_rater(0.05)
    assert two.scores_like_a_rater(0.05)


def test_null_judges_that_pass_are_named() -> None:
    nulls = (null("constant", passes=True), null("length"))

    assert evidence(nulls=nulls).nulls_that_pass == nulls[:1]
    assert evidence().nulls_that_pass == ()


@pytest.mark.parametrize(
    ("changes", "ranks"),
    [({}, True), ({"in_place": Estimate(0.0)}, False), ({"in_place": Estimate(0.001)}, True),
     ({"in_place": NOTHING}, False), ({"in_place": Estimate(-0.1)}, False),
     ({"interval": Interval(-0.1, 0.5)}, False),
     ({"behind": BehindARater(None, reason="none")}, False)],
)  # fmt: skip
def test_a_judge_ranks_like_a_rater_only_if_it_agrees_with_people(
    changes: dict[str, Any], ranks: bool
) -> None:
    assert evidence(**changes).ranks_like_a_rater is ranks


APART = Interval(-0.2, 0.1)


@pytest.mark.parametrize(
    ("within", "verdict"),
    [({}, "stands"), ({"interval": APART}, "keep"), ({"interval": Interval(0.0, 0.2)}, "keep"),
     ({"passes": False}, "spot"), ({"p_nearer": 0.06}, "spot"),
     ({"behind": BehindARater(-0.12, 0.01, 99)}, "spot")],
)  # fmt: skip
def test_a_judge_stands_in_if_it_passes_within_systems_too_and_has_to_follow_people_there(
    within: dict[str, Any], verdict: str
) -> None:
    found = evidence(within=evidence(**within))

    assert verdict_of(found) == verdict
    assert found.reads is (verdict != "keep")
    assert found.scores_like_a_rater is found.reads is found.ranks_like_a_rater


@pytest.mark.parametrize(
    ("own", "filled", "verdict"),
    [({}, {}, "spot"), ({}, {"passes": False}, "spot"), ({"passes": False}, {}, "spot"),
     ({}, {"interval": APART}, "keep")],
)  # fmt: skip
def test_with_missing_scores_no_judge_stands_in_and_the_weaker_verdict_counts(
    own: dict[str, Any], filled: dict[str, Any], verdict: str
) -> None:
    assert verdict_of(evidence(**own, filled=evidence(**filled))) == verdict


@pytest.mark.parametrize(
    ("behind", "below"),
    [(BehindARater(-0.2, 0.1, 99), True), (BehindARater(-0.19, 0.1, 99), False),
     (BehindARater(0.1, 0.01, 99), False), (BehindARater(None, reason="none"), False)],
)  # fmt: skip
def test_below_a_rater_is_said_only_where_it_is_shown(behind: BehindARater, below: bool) -> None:
    assert evidence(behind=behind).ranks_below_a_rater is below


@pytest.mark.parametrize(
    ("changes", "scores"),
    [({}, True), ({"passes": False}, False), ({"on_scale": False}, False),
     ({"p_nearer": None}, False), ({"p_nearer": 0.06}, False)],
)  # fmt: skip
def test_a_judge_scores_like_a_rater_on_the_scale_and_nearer_than_a_constant(
    changes: dict[str, Any], scores: bool
) -> None:
    assert evidence(**changes).scores_like_a_rater is scores


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"outputs": 7}, "a verdict takes 30 outputs with ratings and scores; there are 7"),
        ({"raters": 1}, "a verdict takes 3 people who rated, each by name; there is 1"),
        ({"raters": 2}, "a verdict takes 3 people who rated, each by name; there are 2"),
        ({"ceiling": NOTHING}, "nothing"),
        ({"untested": "too few annotators"}, "too few annotators"),
        ({"untested": "another scale", "on_scale": False}, ""),
        ({"interval": NO_ENDS}, "no ends"),
        ({"behind": BehindARater(-0.1, reason="few documents")}, "few documents"),
    ],
)
def test_what_is_missing_for_a_verdict_is_said(changes: dict[str, Any], reason: str) -> None:
    found: Evidence = evidence(**changes)

    assert found.missing == reason
    assert found.too_few == (reason if reason.startswith("a verdict takes") else "")
    assert (verdict_of(found) == Verdict.TOO_EARLY) is bool(reason)
