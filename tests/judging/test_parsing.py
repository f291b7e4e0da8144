"""Which rating a reply holds, or which named reason there is for none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.llm.parsing import Failure, Rating, Reason, parse_rating
from evaluations.llm.replies import ReplyChoice
from evaluations.scales import Scale

ONE_TO_FIVE = Scale(1, 5)
YES_NO = Scale(0, 1, labels={"Yes": 1.0, "No": 0.0})


def parsed(
    text: str, *, scale: Scale = ONE_TO_FIVE, reasons_first: bool = False, **fields: str
) -> Rating | Failure:
    return parse_rating(
        ReplyChoice(text, **fields), scale=scale, criterion="coherence", reasons_first=reasons_first
    )


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("4", 4),
        (" 4", 4),
        ("4.", 4),
        ("４", 4),
        ("**4**", 4),
        ("- Coherence: 4", 4),
        ("Coherence: 4/5", 4),
        ("Coherence (1-5): 4", 4),
        ("Score: 2 out of 5", 2),
        ("- **Coherence**: 3\n", 3),
        ("Good (3)", 3),
        ("2 (somewhat coherent)", 2),
        ("3.5", 3.5),
        ("3,5", 3.5),
        ("I would give it a 4.", 4),
        ("1. 4", 4),
        ("Rating = 5", 5),
        ("On a scale of 1 to 5: the rating is 2", 2),
        ("4 points", 4),
        ("3 stars out of 5", 3),
        ("I'd say 3.5 out of 5", 3.5),
        ("4 because it reads well", 4),
        ("4 - good", 4),
        ("4-4", 4),
        ("The response keeps to the topic and is a pleasure to read (4).", 4),
    ],
)
def test_the_rating_is_found_however_a_model_writes_it(reply: str, value: float) -> None:
    rating = parsed(reply)

    assert isinstance(rating, Rating), rating
    assert rating.value == value


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", Reason.EMPTY),
        ("  \n", Reason.EMPTY),
        ("7", Reason.OUT_OF_SCALE),
        ("0", Reason.OUT_OF_SCALE),
        ("Coherence: 4\nCoherence: 2", Reason.TWO_RATINGS),
        ("4\n5", Reason.TWO_RATINGS),
        ("4/10", Reason.OUT_OF_SCALE),
        ("Score: 4 out of 10", Reason.OUT_OF_SCALE),
        ("Rating: 3/3", Reason.OUT_OF_SCALE),
        ("-1", Reason.OUT_OF_SCALE),
        ("Coherence: -3", Reason.OUT_OF_SCALE),
        ("Score: 3-4", Reason.TWO_RATINGS),
        ("Score: 4 to 5", Reason.TWO_RATINGS),
        ("3 or 4", Reason.TWO_RATINGS),
        ("I would give it a 3 or a 4", Reason.TWO_RATINGS),
        ("4 5", Reason.TWO_RATINGS),
        ("3, 4", Reason.TWO_RATINGS),
        ("2 sentences are wrong, so 1", Reason.NO_RATING),
        ("2 sentences are wrong", Reason.NO_RATING),
        ("3 of 5 sentences are fine", Reason.NO_RATING),
        ("Score: 40%", Reason.NO_RATING),
        ("I'm sorry, I can't rate this text.", Reason.REFUSAL),
        ("As an AI I cannot judge.", Reason.REFUSAL),
        (
            "The text is about 3 ferries and 12 islands in the north, which are far away.",
            Reason.NO_RATING,
        ),
        ("Excellent!", Reason.NO_RATING),
    ],
)
def test_a_reply_without_one_rating_has_a_named_reason(reply: str, reason: Reason) -> None:
    failure = parsed(reply)

    assert isinstance(failure, Failure), failure
    assert failure.reason == reason
    assert failure.detail


def test_a_cut_reply_says_that_it_was_cut() -> None:
    failure = parsed("The summary is coherent because", finish_reason="length")

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.CUT


def test_a_refusal_field_is_a_refusal_whatever_the_text() -> None:
    failure = parsed("4", refusal="I can't help with that.")

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.REFUSAL


def test_the_last_rating_counts_when_the_reply_reasons_first() -> None:
    rating = parsed("Rating: 2 at first sight.\nOn reflection, rating: 4", reasons_first=True)

    assert isinstance(rating, Rating)
    assert rating.value == 4


@pytest.mark.parametrize(
    ("reply", "value"), [("Yes", 1), ("no.", 0), ("Answer: No", 0), ("- Coherence: Yes", 1)]
)
def test_words_name_points_where_the_scale_has_labels(reply: str, value: float) -> None:
    rating = parsed(reply, scale=YES_NO)

    assert isinstance(rating, Rating)
    assert rating.value == value


@pytest.mark.parametrize(
    ("reply", "scale", "value"),
    [
        ("Score: .5", Scale(0, 1, 0.1), 0.5),
        ("80%", Scale(0, 1, 0.1), 0.8),
        ("80%", Scale(0, 100), 80),
        ("Score: 80 %", Scale(0, 100), 80),
        ("Yes", Scale(0, 1), 1),
        ("No (0)", Scale(0, 1), 0),
    ],
)
def test_shares_and_yes_or_no_are_ratings_on_scales_of_that_kind(
    reply: str, scale: Scale, value: float
) -> None:
    rating = parsed(reply, scale=scale)

    assert isinstance(rating, Rating), rating
    assert rating.value == value


@pytest.mark.parametrize(("reply", "value"), [("10", 10), ("Score: 10/10", 10), ("1", 1)])
def test_two_digit_scales_are_read_whole(reply: str, value: float) -> None:
    rating = parsed(reply, scale=Scale(1, 10))

    assert isinstance(rating, Rating)
    assert rating.value == value


def test_negative_points_exist_on_scales_that_have_them() -> None:
    rating = parsed("-2", scale=Scale(-3, 3))

    assert isinstance(rating, Rating)
    assert rating.value == -2


@given(st.text(max_size=300))
def test_any_reply_gives_a_rating_on_the_scale_or_a_named_reason(text: str) -> None:
    found = parsed(text)

    if isinstance(found, Rating):
        assert ONE_TO_FIVE.holds(found.value)
        assert 0 <= found.position < len(text)
    else:
        assert found.reason in Reason
        assert found.detail


@given(
    st.integers(1, 5),
    st.sampled_from(["{}", " {}", "{}.", "Score: {}", "coherence: {}\n", "**{}**", "{}/5"]),
)
def test_a_rating_in_a_usual_wrapping_is_always_found(point: int, wrapping: str) -> None:
    found = parsed(wrapping.format(point))

    assert isinstance(found, Rating)
    assert found.value == point
