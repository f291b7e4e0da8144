"""Reading a reply takes a time that grows with its length, whatever is in it: twice the text, about
twice the time."""

import contextlib
import time
from collections.abc import Callable

import pytest

from geval.llm.parsing import parse_rating
from geval.llm.replies import ReplyChoice
from geval.llm.written_steps import StepsError, read_steps
from geval.statistics.scales import Scale

SCALES = (Scale(1, 5), Scale(0, 1, 0.5, labels={"A": 1.0, "C": 0.5, "B": 0.0}), Scale(-2, 2))
PIECES = (
    "score ", "score(", "score\n", "score (", "Score: ", "score =", "rating is ", " ", "\n",
    "\n\n#", "- ", "1", "1 ",
    "1.", "1,2", "1-5", "1 to ", "1 /", "1 out of ", "1.1.", "٣", "A", "\n-", "\n- ", "•",
    "I rate it ", "give ",
    "given a ", "(", "**", "score**", "#", "\n#", "\n*", "Evaluation Form", "1\n", "% ", "1%",
    "coherence ", "−1",
)  # fmt: skip
GROWTH = 10
# Quadratic patterns take 100 times as long for 10 times the text; linear ones about 10 times.
MOST = 40


def seconds(function: Callable[[], object]) -> float:
    """The shortest of some tries: what the machine does beside it only ever adds."""
    took = []
    for _ in range(3):
        began = time.process_time()
        function()
        took.append(time.process_time() - began)
    return min(took)


def read(text: str) -> None:
    for scale in SCALES:
        for finish_reason in ("stop", "length"):
            parse_rating(ReplyChoice(text, finish_reason), scale=scale, criterion="coherence")
    with contextlib.suppress(StepsError):
        read_steps(ReplyChoice(text))


@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_text_and_not_with_its_square(piece: str) -> None:
    short = piece * (1_500 // len(piece))
    long = piece * (GROWTH * 1_500 // len(piece))
    read(short)

    floor = 0.002  # below it the clock and the calls themselves are what is measured

    assert seconds(lambda: read(long)) < MOST * max(seconds(lambda: read(short)), floor)


@pytest.mark.parametrize("begin", ["score", "1", "", "rate "])
@pytest.mark.parametrize("run", [" ", "\n", "9", "(", "#", "*", "-"])
def test_a_long_run_of_one_character_is_read_like_any_text(begin: str, run: str) -> None:
    text = begin + run * 30_000

    assert seconds(lambda: read(text)) < 200 * max(seconds(lambda: read("a " * 1_000)), 0.002)


def test_a_number_of_thousands_of_digits_is_outside_every_scale() -> None:
    found = parse_rating(
        ReplyChoice("Score: " + "9" * 5_000), scale=Scale(1, 5), criterion="coherence"
    )

    assert getattr(found, "reason", None) == "out_of_scale"
