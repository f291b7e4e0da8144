"""How far around a number a reply is read, held just below each limit, at it and just above."""

import pytest

from geval.llm.parsing import (
    LONGEST_REPLY,
    Rating,
    Reason,
    parse_first_digit,
    parse_rating,
    reply_text,
    spelled_number,
)
from geval.llm.replies import ReplyChoice, Token
from geval.statistics.scales import Scale

ONE_TO_FIVE = Scale(1, 5)


def read(
    text: str,
    *,
    criterion: str = "coherence",
    scale: Scale = ONE_TO_FIVE,
    ended: str = "stop",
    others: tuple[str, ...] = (),
) -> float | Reason:
    """The value that is read, or why none is."""
    found = parse_rating(ReplyChoice(text, ended), scale=scale, criterion=criterion, others=others)
    return found.value if isinstance(found, Rating) else found.reason


@pytest.mark.parametrize(("length", "expected"), [(139, 4), (140, 4), (141, Reason.NO_RATING)])
def test_a_name_that_begins_140_characters_before_its_rating_counts(
    length: int, expected: float | Reason
) -> None:
    name = "c" * (length - 2)

    assert read(f"{name}: 4 (good)", criterion=name) == expected


@pytest.mark.parametrize(("length", "expected"), [(39, 4), (40, 4), (41, Reason.NO_RATING)])
@pytest.mark.parametrize("begin", ["", "Well.\n"])
def test_a_line_begins_with_a_bullet_of_40_characters_at_most(
    begin: str, length: int, expected: float | Reason
) -> None:
    bullet = "{0}-{0}1.{0}A: (".format(" " * 9)
    length -= bool(begin)  # the end of the line before belongs to it

    assert read(f"{begin}{bullet:<{length}}4)") == expected


@pytest.mark.parametrize(("numbers", "expected"), [(998, 4), (999, 4), (1000, Reason.NO_RATING)])
def test_a_rating_among_the_first_thousand_numbers_counts(
    numbers: int, expected: float | Reason
) -> None:
    assert read("in 1999 " * numbers + "\nCoherence: 4") == expected


@pytest.mark.parametrize(("words", "expected"), [(998, 1), (999, 1), (1000, Reason.NO_RATING)])
def test_a_word_among_the_first_thousand_that_name_points_counts(
    words: int, expected: float | Reason
) -> None:
    text = "with no end " * words + "\nCoherence: Yes"

    assert read(text, scale=Scale(0, 1)) == expected


@pytest.mark.parametrize(("length", "expected"), [(79, Reason.CUT), (80, 4), (81, 4)])
def test_a_rating_in_a_cut_line_counts_if_80_characters_follow(
    length: int, expected: float | Reason
) -> None:
    after = " because it is" + " read" * 20

    assert read("4" + after[:length], ended="length") == expected


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("\n", 4),
        (".", Reason.CUT),
        (". The", 4),
        ("; good", 4),
        (", it reads", 4),
        (", and it is well read", Reason.CUT),
        (", or 5", Reason.CUT),
        (", a", Reason.CUT),
        (", as good", 4),
    ],
)
def test_a_rating_in_a_cut_reply_counts_if_another_sentence_begins(
    after: str, expected: float | Reason
) -> None:
    assert read("Coherence: 4" + after, ended="length") == expected


@pytest.mark.parametrize(
    ("length", "expected"), [(59, Reason.TWO_RATINGS), (60, Reason.TWO_RATINGS), (61, 4)]
)
def test_another_point_that_is_explained_within_60_characters_is_a_second_rating(
    length: int, expected: float | Reason
) -> None:
    assert read("4" + f"{' - good':<{length - 4}} 3 =") == expected


@pytest.mark.parametrize(("digits", "expected"), [(20, 4), (21, Reason.OUT_OF_SCALE)])
def test_a_number_has_20_digits_at_most(digits: int, expected: float | Reason) -> None:
    assert read(f"Score: {4:0{digits}}") == expected


@pytest.mark.parametrize(
    ("length", "expected"), [(199_999, 199_999), (200_000, 200_000), (200_001, 200_000)]
)
def test_a_reply_is_read_up_to_its_200_000th_character(length: int, expected: int) -> None:
    assert LONGEST_REPLY == 200_000
    assert len(reply_text(ReplyChoice("x" * length))) == expected
    of_tokens = ReplyChoice("", tokens=(Token("x" * 1000, 0.0, ()),) * 201)
    assert len(reply_text(of_tokens)) == 200_000


@pytest.mark.parametrize(("reply", "digit"), [("2.5", 2), ("1. Coherence: 3", 1), ("About 42", 4)])
def test_published_releases_read_the_first_digit(reply: str, digit: int) -> None:
    found = parse_first_digit(ReplyChoice(reply))

    assert isinstance(found, Rating)
    assert (found.value, found.text) == (digit, str(digit))
    assert reply[found.position] == str(digit)


@pytest.mark.parametrize(
    ("written", "expected"),
    [("four", "4"), ("Five", "5"), ("４", "4"), ("٤", "4"), ("4", "4"), ("good", "good")],
)
def test_a_number_in_words_or_other_digits_is_spelled_in_ours(written: str, expected: str) -> None:
    assert spelled_number(written) == expected


FORM = "Coherence: 4\n- Fluency (1-5): 2\n1. Tool use | 5"


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [("coherence", 4), ("Fluency", 2), ("tool_use", 5), ("relevance", Reason.NO_RATING)],
)
def test_a_form_of_several_criteria_gives_each_what_follows_its_name(
    criterion: str, expected: float | Reason
) -> None:
    others = tuple({"coherence", "Fluency", "tool_use", "relevance"} - {criterion})

    assert read(FORM, criterion=criterion, others=others) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "1. Coherence: 4\n2. Fluency: 3",
        "Coherence: 4, fluency: 3",
        "Fluency - 3\nCoherence - 4",
        "## Coherence\n4\n## Fluency\n3",
        "**Fluency**\nScore: 3\n\n**Coherence**\nIt has 2 gaps. Score: 4",
        "| Criterion | Score |\n|---|---|\n| Coherence | 4 |\n| Fluency | 3 |",
        '{"fluency": 3, "coherence": 4}',
        "{'coherence': {'score': 4, 'reason': '2 gaps'}, 'fluency': {'score': 3}}",
        '[{"criterion": "coherence", "score": 4}, {"criterion": "fluency", "score": 3}]',
        "<fluency>3</fluency>\n<coherence>4</coherence>",
    ],
)
def test_a_line_or_a_place_in_it_belongs_to_the_name_that_follows(reply: str) -> None:
    assert read(reply, others=("fluency",)) == 4
    assert read(reply, criterion="fluency", others=("coherence",)) == 3


def test_of_two_names_that_begin_alike_the_longer_one_is_meant() -> None:
    reply, names = "Fluency: 2\nFluency (English): 4", ("Fluency", "Fluency (English)")

    assert read(reply, criterion=names[0], others=names[1:]) == 2
    assert read(reply, criterion=names[1], others=names[:1]) == 4


def test_a_criterion_that_a_form_rates_twice_has_two_ratings() -> None:
    reply = "Coherence: 4\nFluency: 2\nCoherence: 3"

    assert read(reply, others=("fluency",)) == Reason.TWO_RATINGS
    assert read(reply, criterion="fluency", others=("coherence",)) == 2


def test_the_place_of_a_rating_in_a_form_of_several_is_that_in_the_whole_reply() -> None:
    found = parse_rating(
        ReplyChoice(FORM), scale=ONE_TO_FIVE, criterion="fluency", others=("coherence", "tool use")
    )

    assert isinstance(found, Rating)
    assert (found.position, FORM[found.position]) == (FORM.index(" 2") + 1, "2")
