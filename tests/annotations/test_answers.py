"""Answers are read exactly, or refused with what is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.answering.answers import (
    Question,
    Shape,
    fields_of,
    read_answer,
)
from annotations.errors import AnnotationError
from geval.files.answers.pairs import PreferencePair, preference_pairs
from geval.statistics.scales import Scale

COHERENCE, FLUENCY = Question(7, "coherence", Scale(1, 5)), Question(8, "fluency", Scale(0, 1, 0.5))
OVERALL = Question(0, "overall")
RATING = Shape("rating", (COHERENCE, FLUENCY), (31,))
PAIR = Shape("pairwise", (OVERALL,), (42, 41))


def test_ratings_become_points_of_their_scales() -> None:
    answer = read_answer(
        RATING, {"score-7": "4", "score-8": "0.5", "comment": " why \0not ", "flagged": "1"}
    )

    assert answer == {"scores": {"7": 4.0, "8": 0.5}, "comment": "why not", "flagged": True}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "Rate coherence."),
        ("6", "coherence: 6 is not a point of its scale 1-5."),
        ("0", "coherence: 0 is not a point"),
        ("3.5", "coherence: 3.5 is not a point"),
        ("-1", "is not a point"),
        ("nan", "is not a point"),
        ("four", "is not a point"),
        ("1e400", "is not a point"),
    ],
)
def test_a_rating_off_the_scale_is_refused_at_its_field(written: str, message: str) -> None:
    with pytest.raises(AnnotationError) as refused:
        read_answer(RATING, {"score-7": written, "score-8": "1"})

    assert set(refused.value.fields) == {"score-7"}
    assert message in refused.value.message


def test_a_strong_choice_needs_a_campaign_with_strength() -> None:
    with pytest.raises(AnnotationError, match="not one of the choices"):
        read_answer(PAIR, {"choice-0": "2"})

    strong = Shape("pairwise", (OVERALL,), (42, 41), strength=True)
    assert read_answer(strong, {"choice-0": "-2"})["choices"] == {"0": -2}


def test_best_and_worst_cannot_be_the_same() -> None:
    shape = Shape("best_worst", (OVERALL,), (1, 2, 3))

    with pytest.raises(AnnotationError, match="cannot be the same"):
        read_answer(shape, {"best-0": "2", "worst-0": "2"})
    with pytest.raises(AnnotationError, match="Choose the worst"):
        read_answer(shape, {"best-0": "2", "worst-0": "9"})


def test_every_text_needs_a_rank() -> None:
    shape = Shape("ranking", (OVERALL,), (1, 2))

    with pytest.raises(AnnotationError, match="Give every text a rank") as refused:
        read_answer(shape, {"rank-0-1": "1", "rank-0-2": "3"})

    assert set(refused.value.fields) == {"rank-0-2"}


@pytest.mark.parametrize(
    "written",
    [
        '[{"start": 3, "end": 2, "category": "Omission"}]',
        '[{"start": 0, "end": 99, "category": "Omission"}]',
        '[{"start": 0, "end": 2, "category": "Rudeness"}]',
        '[{"start": 0, "end": 2, "category": "Omission", "quote": "xx"}]',
        '{"start": 0}',
        "[1]",
        "not json",
        "[" * 10_000,
        '[{"start": 1e999, "end": 2, "category": "Omission"}]',
    ],
)
def test_a_span_that_does_not_fit_the_text_is_refused(written: str) -> None:
    shape = Shape("rating", (COHERENCE,), (1,), categories=("Omission",), text="A short text")

    with pytest.raises(AnnotationError, match="mark it again"):
        read_answer(shape, {"score-7": "3", "spans": written})


def test_spans_count_code_points() -> None:
    shape = Shape("rating", (COHERENCE,), (1,), categories=("Omission",), text="Ein 🚢 fährt")

    answer = read_answer(
        shape, {"score-7": "3", "spans": '[{"start": 4, "end": 5, "category": "Omission"}]'}
    )

    assert answer["spans"][0]["quote"] == "🚢"


def test_a_choice_of_the_left_output_prefers_it_whatever_its_id() -> None:
    left_has_the_higher_id = read_answer(PAIR, {"choice-0": "1"})

    assert preference_pairs(left_has_the_higher_id, (42, 41)) == [
        PreferencePair(41, 42, 0, -1, False)
    ]
    assert preference_pairs(left_has_the_higher_id, (41, 42)) == [
        PreferencePair(41, 42, 0, 1, True)
    ]


def test_best_and_worst_say_something_of_every_pair_with_one_of_them() -> None:
    answer = {"best": {"0": 3}, "worst": {"0": 1}}

    found = {(p.output_a, p.output_b): p.value for p in preference_pairs(answer, (1, 2, 3, 4))}

    assert found == {(2, 3): -1, (1, 3): -1, (3, 4): 1, (1, 2): -1, (1, 4): -1}


def test_a_ranking_says_something_of_every_pair_and_equal_ranks_are_ties() -> None:
    answer = {"ranks": {"5": {"1": 2, "2": 1, "3": 2}}}

    found = {
        (p.output_a, p.output_b, p.criterion): p.value for p in preference_pairs(answer, (3, 1, 2))
    }

    assert found == {(1, 2, 5): -1, (1, 3, 5): 0, (2, 3, 5): 1}


@given(
    st.permutations([11, 12, 13]),
    st.lists(st.integers(1, 3), min_size=3, max_size=3),
    st.text(max_size=20),
)
def test_the_fields_of_an_answer_give_the_answer_again(
    shown: list[int], ranks: list[int], comment: str
) -> None:
    shape = Shape("ranking", (OVERALL, COHERENCE), tuple(shown))
    given_ranks = {
        f"rank-{key}-{pk}": str(rank)
        for key in (0, 7)
        for pk, rank in zip(shown, ranks, strict=True)
    }
    answer = read_answer(shape, given_ranks | {"comment": comment})

    assert read_answer(shape, fields_of(answer)) == answer
