"""Replies that cannot be read come with a cause, and with changes of the judge that may help."""

import pytest

from geval.llm.advice import advise
from geval.llm.parsing import Reason
from geval.llm.request_settings import Mode, RequestSettings

ALL = ("logprobs", "samples", "direct")


def settings(mode: Mode = "logprobs", *, max_tokens: int = 32) -> RequestSettings:
    return RequestSettings("m", mode, max_tokens=max_tokens)


def test_a_model_that_explains_itself_is_tried_in_the_other_modes() -> None:
    advice = advise(Reason.NO_RATING, settings(), ALL)

    assert [change.settings for change in advice.changes] == [
        {"mode": "samples"},
        {"mode": "direct"},
    ]
    assert advice.in_words.startswith("The model explains itself")
    assert "Change to samples or change to" in advice.in_words
    assert advice.in_words.endswith("one greedy reply.")


def test_a_mode_that_the_endpoint_does_not_allow_is_not_advised() -> None:
    advice = advise(Reason.NO_LOGPROBS, settings(), ("logprobs", "direct"))

    assert [change.key for change in advice.changes] == ["direct"]
    assert "samples" not in advice.in_words


@pytest.mark.parametrize(
    ("max_tokens", "lengths"),
    [
        (32, [256, 1024]),
        (128, [256, 1024]),
        (129, [1024, 4096]),
        (2048, [4096]),
        (2049, []),
    ],
)
def test_cut_replies_get_the_next_lengths_that_at_least_double_theirs(
    max_tokens: int, lengths: list[int]
) -> None:
    advice = advise(Reason.CUT, settings(max_tokens=max_tokens), ALL)

    assert [change.settings["max_tokens"] for change in advice.changes] == lengths
    assert f"at {max_tokens:,} tokens" in advice.cause
