"""Which rating a reply holds, or which named reason there is for none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.evaluators.pairwise import FORM, WITH_TIE
from geval.llm.parsing import Failure, Rating, Reason, parse_rating
from geval.llm.replies import ReplyChoice
from geval.statistics.scales import Scale

ONE_TO_FIVE = Scale(1, 5)
YES_NO = Scale(0, 1, labels={"Yes": 1.0, "No": 0.0})


def parsed(
    text: str, *, scale: Scale = ONE_TO_FIVE, criterion: str = "coherence", **fields: str
) -> Rating | Failure:
    return parse_rating(ReplyChoice(text, **fields), scale=scale, criterion=criterion)


def test_a_cut_reply_says_that_it_was_cut() -> None:
    failure = parsed("The summary is coherent because", finish_reason="length")

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.CUT


@pytest.mark.parametrize(
    "reply", ["Coherence: 1", "4", "4 out", "Coherence: 4 or", "I would give it a 4.", "80", "Yes"]
)
def test_a_number_at_the_edge_of_a_cut_reply_is_no_rating(reply: str) -> None:
    for scale in (ONE_TO_FIVE, Scale(0, 100), YES_NO):
        failure = parsed(reply, scale=scale, finish_reason="length")

        assert isinstance(failure, Failure), failure
        assert failure.reason == Reason.CUT


@pytest.mark.parametrize("reply", ["Coherence: 4\n\nThe text is", "4\nThe", "Yes\nThe"])
def test_a_rating_on_a_whole_line_of_a_cut_reply_counts(reply: str) -> None:
    scale = YES_NO if "Yes" in reply else ONE_TO_FIVE

    assert isinstance(parsed(reply, scale=scale, finish_reason="length"), Rating)


def test_a_refusal_field_is_a_refusal_whatever_the_text() -> None:
    failure = parsed("4", refusal="I can't help with that.")

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.REFUSAL


@pytest.mark.parametrize(
    "reply",
    [
        "No sentence of the summary is wrong.",
        "There is no support.",
        "Yes\nNo",
        "Yesterday it sailed",
    ],
)
def test_words_of_a_sentence_are_no_points(reply: str) -> None:
    assert isinstance(parsed(reply, scale=YES_NO), Failure)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("A", 1),
        ("- Better: B", 0),
        ("Text A is better", 1),
        ("B is clearly better.", 0),
        ("C", 0.5),
        ("Tie", 0.5),
        ("A > B", 1),
        ("B > A", 0),
        ("[[A]]", 1),
        ("[[B>>A]]", 0),
        ("A is better than B", 1),
        ("I prefer text B.", 0),
        ('{"better": "A"}', 1),
        ("<answer>B</answer>", 0),
        ("Text A: short\nText B: long\nBetter: A", 1),
    ],
)
def test_a_letter_names_a_text(reply: str, value: float) -> None:
    rating = parsed(reply, scale=WITH_TIE, criterion=FORM)

    assert isinstance(rating, Rating), rating
    assert rating.value == value


@pytest.mark.parametrize(
    "reply",
    [
        "A is not better", "A is hardly better", "A (worse)", "A, B", "A or B", "A/B", "A?",
        "A < B", "Neither A nor B", "Text A: long. Text B: short.", "A - 8, B - 6",
        "If it were shorter, A would be better.", "I would not choose A",
    ],
)  # fmt: skip
def test_a_letter_that_does_not_win_names_no_text(reply: str) -> None:
    assert isinstance(parsed(reply, scale=WITH_TIE, criterion=FORM), Failure)


@pytest.mark.parametrize("reply", ["A summary should be short.", "A is about a ferry", "a"])
def test_an_article_names_no_text(reply: str) -> None:
    assert isinstance(parsed(reply, scale=WITH_TIE, criterion=FORM), Failure)


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


@given(st.text(max_size=300))
def test_any_reply_gives_a_rating_on_the_scale_or_a_named_reason(text: str) -> None:
    found = parsed(text)

    if isinstance(found, Rating):
        assert ONE_TO_FIVE.holds(found.value)
        assert 0 <= found.position < len(text)
    else:
        assert found.reason in Reason
        assert found.detail
