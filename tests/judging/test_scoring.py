"""G-Eval's weighting on hand-made replies: score = sum p(s)·s over the scale's points."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.llm.parsing import Failure, Reason
from geval.llm.replies import ReplyChoice, Token
from geval.llm.scoring import (
    Scored,
    score_by_logprobs,
    score_by_samples,
    score_directly,
    why_not_by_logprobs,
)
from geval.llm.structured import ReplyForm
from geval.statistics.scales import Scale

ONE_TO_FIVE = Scale(1, 5)
ONE_TO_TEN = Scale(1, 10)


def token(text: str, **alternatives: float) -> Token:
    return place(text, alternatives)


def place(text: str, alternatives: dict[str, float]) -> Token:
    """A token with alternatives given by probability."""
    logs = {other: math.log(p) if p > 0 else -9999.0 for other, p in alternatives.items()}
    return Token(text, logs.get(text, -0.1), tuple(logs.items()))


def score(*tokens: Token, scale: Scale = ONE_TO_FIVE) -> Scored | Failure:
    text = "".join(one.text for one in tokens)
    return score_by_logprobs(ReplyChoice(text, tokens=tokens), scale=scale, criterion="coherence")


def scored(*tokens: Token, scale: Scale = ONE_TO_FIVE) -> Scored:
    result = score(*tokens, scale=scale)
    assert isinstance(result, Scored), result
    return result


def test_the_score_is_the_probability_weighted_sum() -> None:
    result = scored(place("4", {"4": 0.5, "5": 0.3, "3": 0.2}))

    assert result.value == pytest.approx(0.5 * 4 + 0.3 * 5 + 0.2 * 3)
    assert result.distribution == pytest.approx({3: 0.2, 4: 0.5, 5: 0.3})
    assert result.coverage == pytest.approx(1)


def test_probabilities_are_normalised_over_the_points_and_their_mass_is_the_coverage() -> None:
    result = scored(place("4", {"4": 0.4, "2": 0.4, "The": 0.1, "\n": 0.1}))

    assert result.value == pytest.approx(3)
    assert result.coverage == pytest.approx(0.8)


def test_blanks_full_stops_and_full_width_digits_are_the_same_point() -> None:
    result = scored(place("4", {"4": 0.25, " 4": 0.25, "4.": 0.25, "４": 0.15, "3": 0.1}))

    assert result.distribution == pytest.approx({4: 0.9, 3: 0.1})


def test_a_chosen_token_that_the_top_list_leaves_out_counts_all_the_same() -> None:
    chosen = Token("5", math.log(0.1), ((" 4", math.log(0.6)), ("3", math.log(0.3))))

    result = scored(chosen)

    assert result.distribution == pytest.approx({3: 0.3, 4: 0.6, 5: 0.1})


def test_ten_in_two_tokens_divides_the_mass_of_one_by_what_follows() -> None:
    result = scored(
        place("1", {"1": 0.8, "9": 0.2}), place("0", {"0": 0.75, "\n": 0.25}), scale=ONE_TO_TEN
    )

    # 10 has 0.8 x 0.75, 1 has 0.8 x 0.25
    assert result.distribution == pytest.approx({1: 0.2, 9: 0.2, 10: 0.6})


def test_ten_in_two_tokens_is_ten_also_where_the_whole_number_is_among_the_alternatives() -> None:
    result = scored(
        place("1", {"1": 0.8, "10": 0.1, "2": 0.1}), place("0", {"0": 1.0}), scale=ONE_TO_TEN
    )

    assert result.distribution == pytest.approx({2: 0.1, 10: 0.9})


def test_a_token_that_repeats_the_end_of_the_scale_is_its_rating() -> None:
    result = scored(place("4/5", {"4/5": 0.5, "3/5": 0.2, "4/10": 0.1, "5": 0.2}))

    assert result.distribution == pytest.approx({3: 0.2 / 0.9, 4: 0.5 / 0.9, 5: 0.2 / 0.9})
    assert result.coverage == pytest.approx(0.9)


def test_a_beginning_that_hardly_ever_comes_costs_coverage_and_not_the_item() -> None:
    result = scored(place("9", {"9": 0.99, "8": 0.009, "1": 1e-3}), scale=ONE_TO_TEN)

    assert result.distribution == pytest.approx({8: 0.009 / 0.999, 9: 0.99 / 0.999})
    assert result.coverage == pytest.approx(0.999)


def test_an_unasked_continuation_is_refused_with_its_reason() -> None:
    failure = score(place("9", {"9": 0.6, "1": 0.4}), scale=ONE_TO_TEN)

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.SPLIT_NUMBER


def test_exactly_one_percent_on_beginnings_is_as_if_off_the_scale() -> None:
    result = scored(place("9", {"9": 0.99, "1": 0.0003, " 1": 0.0097}), scale=ONE_TO_TEN)

    assert math.exp(math.log(0.0003)) + math.exp(math.log(0.0097)) == 0.01
    assert result.distribution == {9: 1.0}


def test_number_whose_end_is_not_listed_is_split() -> None:
    failure = score(place("1", {"1": 0.6, "9": 0.3, "The": 0.1}), scale=ONE_TO_TEN)

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.SPLIT_NUMBER


def test_texts_with_more_than_the_whole_probability_are_refused() -> None:
    failure = score(place("4", dict.fromkeys("12345", 1.0)))

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.NO_LOGPROBS


@pytest.mark.parametrize(
    ("after", "note"), [("-5", "30% of the probability"), (".5", "30%"), (" because", "")]
)
def test_rating_that_goes_on_has_a_note(after: str, note: str) -> None:
    result = scored(place("4", {"4": 1.0}), place(".", {".": 0.7, after: 0.3}))

    assert note in result.note
    assert bool(note) == bool(result.note)


FENCED = ("```", "json", "\n", '{"', "rating", '":', " ")


@pytest.mark.parametrize(
    ("text", "before", "form"),
    [
        ('{"rating": 4}', FENCED, "rating"),
        ("\n4", ("Ċ",), "text"),
        ("Score: 4", ("Score", ":", "Ġ"), "text"),
    ],
)
def test_message_is_weighed_where_it_is_within_the_tokens(
    text: str, before: tuple[str, ...], form: ReplyForm
) -> None:
    after = (token("}"), token("\n```")) if form == "rating" else ()
    tokens = (*map(token, before), place("4", {"4": 0.75, "2": 0.25}), *after)
    choice = ReplyChoice(text, tokens=tokens)

    result = score_by_logprobs(choice, scale=ONE_TO_FIVE, criterion="coherence", form=form)

    assert isinstance(result, Scored), result
    assert result.value == pytest.approx(3.5)


@pytest.mark.parametrize("tokens", [("5",), ("4", "\n", "2", "\n", "4"), ("Fine",)])
def test_message_that_is_not_within_the_tokens_once_has_no_score(tokens: tuple[str, ...]) -> None:
    choice = ReplyChoice("4", tokens=tuple(map(token, tokens)))

    failure = score_by_logprobs(choice, scale=ONE_TO_FIVE, criterion="coherence")

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.TOKENS


def test_rating_beside_a_character_in_parts_is_weighed() -> None:
    tokens = (place("4", {"4": 0.75, "2": 0.25}), token("\n"), token("\ufffd"), token("\ufffd"))

    result = score_by_logprobs(
        ReplyChoice("4\n\u597d", tokens=tokens), scale=ONE_TO_FIVE, criterion="coherence"
    )

    assert isinstance(result, Scored), result
    assert result.value == pytest.approx(3.5)


def test_order_of_two_texts_is_weighed_at_the_better_one() -> None:
    letters = Scale(0, 1, 0.5, labels={"A": 1.0, "C": 0.5, "B": 0.0})

    result = scored(place("A", {"A": 0.75, "B": 0.25}), token(" >"), token(" B"), scale=letters)

    assert result.value == pytest.approx(0.75)


def test_what_follows_a_beginning_may_end_its_sentence() -> None:
    result = scored(
        place("1", {"1": 0.8, "9": 0.2}),
        place("0.", {"0.": 0.5, "0": 0.25, ". ": 0.25}),
        scale=ONE_TO_TEN,
    )

    assert result.distribution == pytest.approx({1: 0.2, 9: 0.2, 10: 0.6})


def test_a_hundred_in_three_tokens_is_divided_at_each() -> None:
    result = scored(
        place("1", {"1": 1.0}), place("0", {"0": 0.5, "2": 0.25, "\n": 0.25}),
        place("0", {"0": 0.5, " ": 0.5}), scale=Scale(0, 100),
    )  # fmt: skip

    assert result.distribution == pytest.approx({1: 0.25, 10: 0.25, 12: 0.25, 100: 0.25})


def test_a_hundred_is_not_read_where_a_full_stop_ends_the_ten() -> None:
    result = scored(
        place("1", {"1": 1.0}), place("0", {"0": 0.5, "0.": 0.5}), place("0", {"0": 1.0}),
        scale=Scale(0, 100),
    )  # fmt: skip

    assert result.distribution == pytest.approx({10: 0.5, 100: 0.5})


def test_what_spells_no_point_has_no_share() -> None:
    result = scored(
        place("1", {"1": 0.8, "01": 0.1, "9": 0.1}),
        place("0", {"0": 0.5, "7": 0.5}),
        scale=ONE_TO_TEN,
    )

    assert result.distribution == pytest.approx({9: 0.2, 10: 0.8})
    assert result.coverage == pytest.approx(0.5)


def test_a_token_that_goes_on_in_words_counts_for_what_begins_like_it() -> None:
    result = scored(place("Score:4", {"Score:4": 0.5, "Score:2": 0.25, "4": 0.125, "Text:5": 0.1}))

    assert result.distribution == pytest.approx({2: 1 / 3, 4: 2 / 3})
    assert result.coverage == pytest.approx(0.75)


def test_a_number_in_words_counts_where_the_reply_spells_it() -> None:
    words = scored(place("four", {"four": 0.5, "2": 0.25, "Two": 0.25}))

    assert words.distribution == pytest.approx({2: 0.5, 4: 0.5})
    for written in ("4", "4/5"):
        digits = scored(place(written, {written: 0.5, "two": 0.5}))
        assert (digits.distribution, digits.coverage) == ({4: 1.0}, pytest.approx(0.5))


def test_a_word_over_several_tokens_has_no_place_of_its_own() -> None:
    failure = score(place("Ye", {"Ye": 1.0}), token("s"), scale=Scale(0, 1))

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.SPLIT_NUMBER


def test_a_minus_before_a_digit_is_its_sign() -> None:
    result = scored(place("3", {"3": 0.5, "-3": 0.25, "−3": 0.125, "-3/5": 0.125}))

    assert (result.distribution, result.coverage) == ({3: 1.0}, pytest.approx(0.5))


def test_a_score_is_brought_onto_another_scale_by_the_line_between_their_ends() -> None:
    found = Scored(0.5, {-1.0: 0.25, 1.0: 0.75}, 0.9, "cut").brought(Scale(-1, 1), Scale(2, 10))

    assert found == Scored(8.0, {2.0: 0.25, 10.0: 0.75}, 0.9, "cut")
    assert Scored.plain(1 / 3).brought(Scale(0, 1), Scale(0, 2)).value == 0.666666667


@pytest.mark.parametrize(
    ("shares", "bits"),
    [({4: 1.0}, 0.0), ({3: 0.5, 4: 0.5}, 1.0), ({1: 0.25, 2: 0.25, 5: 0.5, 4: 0.0}, 1.5)],
)
def test_the_entropy_of_a_distribution_is_in_bits(shares: dict[float, float], bits: float) -> None:
    assert Scored(4.0, shares).entropy == bits


def test_a_direct_score_of_a_reply_without_a_rating_is_its_failure() -> None:
    failure = score_directly(ReplyChoice("Fine."), scale=ONE_TO_FIVE, criterion="coherence")

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.NO_RATING
    assert score_directly(
        ReplyChoice("Fluency: 2\nCoherence: 4"), scale=ONE_TO_FIVE, criterion="coherence",
        others=("fluency",),
    ) == Scored(4.0, {4.0: 1.0})  # fmt: skip


def test_words_that_name_points_are_weighted_too() -> None:
    labelled = Scale(0, 1, labels={"Yes": 1.0, "No": 0.0})

    result = scored(place("Yes", {"Yes": 0.6, " yes": 0.1, "No": 0.3}), scale=labelled)

    assert result.value == pytest.approx(0.7)


def test_without_log_probabilities_there_is_no_score_and_no_fallback() -> None:
    failure = score_by_logprobs(ReplyChoice("4"), scale=ONE_TO_FIVE, criterion="coherence")

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.NO_LOGPROBS


def test_samples_give_the_shares_of_their_ratings() -> None:
    result = score_by_samples([4, 4, 5, 3])

    assert result.value == 4
    assert result.distribution == {3: 0.25, 4: 0.5, 5: 0.25}
    assert result.coverage == 1.0


@given(st.lists(st.sampled_from([1, 1.5, 2, 2.5, 3, 4, 5]), min_size=1, max_size=40))
def test_a_score_of_samples_is_their_exact_mean(values: list[float]) -> None:
    exact = sum(Fraction(value) for value in values) / len(values)

    assert score_by_samples(values).value == float(exact)


def test_scales_that_tokens_cannot_spell_are_refused_beforehand() -> None:
    assert why_not_by_logprobs(ONE_TO_FIVE) == ""
    assert why_not_by_logprobs(ONE_TO_TEN) == ""
    assert "steps of 0.5" in why_not_by_logprobs(Scale(1, 5, step=0.5))
    assert why_not_by_logprobs(Scale(-2, 2))


tokens_at_the_rating = st.dictionaries(
    st.one_of(
        st.sampled_from(["1", " 2", "3.", "４", "5", "10", "The", "", "\n"]), st.text(max_size=4)
    ),
    st.floats(0.0001, 1),
    max_size=20,
)


@given(st.sampled_from(["1", "2", "3", "4", "5"]), tokens_at_the_rating)
def test_a_distribution_sums_to_one_and_the_score_lies_on_the_scale(
    chosen: str, others: dict[str, float]
) -> None:
    total = sum(others.values()) + 1
    result = score(place(chosen, {text: p / total for text, p in ({chosen: 1.0} | others).items()}))

    if isinstance(result, Scored):
        assert math.fsum(result.distribution.values()) == pytest.approx(1)
        assert 1 <= result.value <= 5
        assert 0 < result.coverage <= 1


@given(st.data(), tokens_at_the_rating)
def test_the_order_of_alternatives_changes_nothing(
    data: st.DataObject, others: dict[str, float]
) -> None:
    alternatives = [(text, math.log(p)) for text, p in others.items() if text != "4"]
    shuffled = data.draw(st.permutations(alternatives))

    first = score(Token("4", -0.5, tuple(alternatives)))
    second = score(Token("4", -0.5, tuple(shuffled)))

    assert type(first) is type(second)
    if isinstance(first, Scored) and isinstance(second, Scored):
        assert first.value == pytest.approx(second.value, abs=1e-12)
