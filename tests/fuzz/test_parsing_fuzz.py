"""Whatever a model answers, reading it gives a rating or says why there is none; and whatever an
endpoint sends."""

import contextlib
import json
import os
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from geval.llm.parsing import Failure, parse_rating
from geval.llm.replies import ReplyChoice, Token
from geval.llm.responses import FailedError
from geval.llm.wire import MalformedError, read_chat_answer
from geval.statistics.scales import Scale
from tests.made_up_files import HOSTILE

EXAMPLES = os.environ.get("GEVAL_FUZZ_EXAMPLES")
PROFILE = settings(
    max_examples=int(EXAMPLES or 200), derandomize=EXAMPLES is None, deadline=None, print_blob=True
)
PIECES = (
    "Coherence", "Rating", "Score", ":", "-", "**", "4", "4.5", "4/5", "4 out of 5", "10", "Yes",
    "no", "\n", " ",
    "(1-5)",     "{", "}", '"rating": 3', "٤", "½", "９", "1e999", "-0", "٣.٥", "9" * 5000,
    "I cannot", "```json",
    "<think>", "</think>",
)  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from(PIECES) | st.sampled_from(HOSTILE), max_size=8).map("".join),
    st.text(max_size=60),
)
scales = st.sampled_from(
    [
        Scale(1, 5),
        Scale(0, 1),
        Scale(1, 3, 0.5),
        Scale(0, 100),
        Scale(-2, 2),
        Scale(0, 1, labels={"Yes": 1, "No": 0}),
    ]
)
logprobs = st.floats() | st.integers(-(10**30), 10**30)
tokens = st.builds(
    Token, texts, logprobs, st.lists(st.tuples(texts, logprobs), max_size=5).map(tuple)
)
choices = st.builds(
    ReplyChoice, texts,
    st.sampled_from(["stop", "length", "content_filter", ""]), texts | st.just(""),
    st.none() | st.lists(tokens, max_size=6).map(tuple),
)  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
answers = st.fixed_dictionaries(
    {},
    optional={
        "choices": (
            anything
            | st.lists(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "message": anything | st.fixed_dictionaries({"content": anything}),
                        "finish_reason": anything,
                        "logprobs": anything | st.fixed_dictionaries({"content": anything}),
                    },
                ),
                max_size=3,
            )
        ),
        "usage": anything,
        "model": anything,
        "id": anything,
        "error": anything,
    },
)


@PROFILE
@given(choice=choices, scale=scales, criterion=st.sampled_from(["Coherence", "", "(.*", "a\nb"]))
def test_reading_a_reply_gives_a_rating_on_the_scale_or_a_reason(
    choice: ReplyChoice, scale: Scale, criterion: str
) -> None:
    found: Any = parse_rating(choice, scale=scale, criterion=criterion)

    if isinstance(found, Failure):
        assert found.reason
        return
    value = getattr(found, "value", None)
    assert value is None or scale.holds(value)


@PROFILE
@given(body=answers | anything)
def test_reading_an_answer_gives_a_reply_or_an_error_of_the_endpoint(body: Any) -> None:
    content = json.dumps(body).encode()

    for sent in (content, content[: len(content) // 2], content.replace(b"null", b"\xff")):
        with contextlib.suppress(MalformedError, FailedError):
            assert read_chat_answer(sent).choices is not None
