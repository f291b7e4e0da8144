"""Cutting a reply anywhere never changes its rating to another number: the rating stays, or there
is none."""

from hypothesis import given, settings
from hypothesis import strategies as st

from geval.llm.parsing import Failure, Rating, parse_rating
from geval.llm.replies import ReplyChoice
from geval.statistics.scales import Scale

PIECES = (
    "Coherence", "Score", "rating", ": ", " - ", "\n", "\n- ", "1", "2", "3", "4", "4.", "4.5",
    "10",
    "80", "%", "/5", "/", "10", " out of 5", " of ", " or ", " to ", "1-5", "(1-5)", "(", ")", ".",
    " ", "I would give it a ", "the coherence of the text is ", "not ", "Yes", "No", "A ",
    "the text ",
    "1. ", "- ", "| ", "points", "点", "分", "Four", "because it reads well and is a pleasure ",
)  # fmt: skip
replies = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join)
scales = st.sampled_from(
    [Scale(1, 5), Scale(0, 1), Scale(1, 10), Scale(0, 100), Scale(-2, 2), Scale(1, 3, 0.5)]
)


def rating_of(text: str, scale: Scale, finish_reason: str) -> Rating | Failure:
    return parse_rating(ReplyChoice(text, finish_reason), scale=scale, criterion="coherence")


@settings(max_examples=150)
@given(replies, scales, st.sampled_from(["stop", "length"]))
def test_a_cut_reply_has_the_same_rating_or_none(text: str, scale: Scale, ended: str) -> None:
    whole = rating_of(text, scale, ended)
    if isinstance(whole, Failure):
        return
    for end in range(len(text)):
        cut = rating_of(text[:end], scale, "length")
        assert isinstance(cut, Failure) or cut.value == whole.value, text[:end]
