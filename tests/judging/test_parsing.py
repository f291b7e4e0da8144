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
        ("Coherence: 4 … In short, coherence: 4", 4),
        ("Coherence - 4", 4),
        ("The coherence of this text is 4.", 4),
        ("The score of this evaluation is 4 out of 5. This is high.", 4),
        ("4\n\nI would give its fluency a 3.", 4),
        ("Coherence:\n4", 4),
        ("| Metric | Score |\n|---|---|\n| Coherence | 4 |", 4),
        ("| Coherence | 1-5 | 4 |", 4),
        ('{"coherence": 4, "reason": "2 errors"}', 4),
        ("$\\boxed{4}$", 4),
        ("Four", 4),
        ("Coherence: four", 4),
        ("٤", 4),
        ("④", 4),
        ("4点", 4),
        ("4分", 4),
        ("评分：4分（满分5分）", 4),
        ("四分", 4),
        ("mit 4 von 5", 4),
        ("Bewertung: 4 Punkte", 4),
        ("Ich bewerte die Kohärenz mit 4 von 5 Punkten.", 4),
        ("Note : 4/5", 4),
        ("La cohérence est de 4 sur 5.", 4),
        ("Puntuación: 4 puntos", 4),
        ("1 (poor) to 5 (good): my rating is 3", 3),
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
        ("1. The sentence is clear", Reason.NO_RATING),
        ("1. Relevance: The article tells what happened.", Reason.NO_RATING),
        ("1. Read the text.\n2. Note its points.\n3. Assign a score.", Reason.NO_RATING),
        ("2) The text", Reason.NO_RATING),
        ("Evaluation:\n1. The text is clear.", Reason.NO_RATING),
        ("The man, 5, was found.", Reason.NO_RATING),
        ("1. 1.1\n- 1.1.1 The text", Reason.NO_RATING),
        ("The form is only available for forms with a score of 1.", Reason.NO_RATING),
        ("I cannot give 5 out of 5", Reason.REFUSAL),
        ("This does not deserve a 5.", Reason.NO_RATING),
        ("The score of the match was 3 to 1.", Reason.NO_RATING),
        ("Coherence: 1-5", Reason.NO_RATING),
        ("Coherence: 1 = poor, 5 = good", Reason.NO_RATING),
        ("1 - poor, 2 - fair, 3 - good", Reason.TWO_RATINGS),
        ("Coherence: one of the best", Reason.NO_RATING),
        ("Score: two-thirds", Reason.NO_RATING),
        ("Coherence: 4.5.6", Reason.NO_RATING),
        ("4/5/2024", Reason.NO_RATING),
        ("I would say 2. Coherence: 4", Reason.TWO_RATINGS),
        ("Es tut mir leid, ich kann diesen Text nicht bewerten.", Reason.REFUSAL),
        ("申し訳ありませんが、評価できません。", Reason.REFUSAL),
        ("抱歉，我无法给这段文字打分。", Reason.REFUSAL),
        ("Je ne peux pas noter ce texte.", Reason.REFUSAL),
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
    ("reply", "value"),
    [
        ("Yes", 1),
        ("no.", 0),
        ("Answer: No", 0),
        ("- Coherence: Yes", 1),
        ("No, it adds a date.", 0),
        ("**Yes** - all of it is supported", 1),
        ("| Coherence | Yes |", 1),
    ],
)
def test_words_name_points_where_the_scale_has_labels(reply: str, value: float) -> None:
    rating = parsed(reply, scale=YES_NO)

    assert isinstance(rating, Rating)
    assert rating.value == value


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
    ("criterion", "reply"),
    [
        ("Kohärenz", "Kohärenz: 4"),
        ("tool_use", "- **tool_use**: 4"),
        ("tool_use", "Tool use: 4"),
        ("fact-check", "Fact-check (1-5): 4"),
        ("Q1", "Q1: 4"),
        ("流暢さ", "流暢さ：4"),
        ("连贯性", "连贯性：4分"),
        ("连贯性", "这篇文章的连贯性：4"),
        ("連貫性", "連貫性は4点"),
        ("C++ (style)", "C++ (style): 4"),
    ],
)
def test_a_criterion_may_have_any_name(criterion: str, reply: str) -> None:
    rating = parsed(reply, criterion=criterion)

    assert isinstance(rating, Rating), rating
    assert rating.value == 4


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
