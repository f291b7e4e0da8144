"""What an endpoint sends is checked at the door: what decides a score is of its type, or the reply
is malformed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.llm.replies import ReplyChoice
from geval.llm.wire import (
    NEVER,
    MalformedError,
    read_batch,
    read_batch_list,
    read_chat_answer,
    read_echo_answer,
)


def answer(**changes: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "4"}
    return {"choices": [{"message": message, "finish_reason": "stop"}]} | changes


def with_message(**message: Any) -> bytes:
    return json.dumps(answer(choices=[{"message": message}])).encode()


def with_logprob(written: str) -> bytes:
    token = (
        f'{{"token": "4", "logprob": {written}, "top_logprobs": [{{"token": "4", "logprob":'
        f" {written}}}]}}"
    )
    choice = f'{{"message": {{"content": "4"}}, "logprobs": {{"content": [{token}]}}}}'
    return f'{{"choices": [{choice}]}}'.encode()


@pytest.mark.parametrize(
    "content",
    [
        b"", b"<html>", b"[]", b"4", b"null", b"{}", b'{"choices": null}', b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": {"0": {}}}', b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": "4"}]}',
        with_message(content=4), with_message(content={"text": "4"}), with_message(content=[4]),
        with_message(content=[{"type": "image_url"}]), with_message(content=[{"type": "text"}]),
        with_message(content=True), b"[" * 100_000, b"\xff\xfe",
        with_logprob('"nan"'), with_logprob('"-0.1"'), with_logprob("null"), with_logprob("[]"),
        with_logprob("NaN"),
        with_logprob("9" * 400),
        with_logprob("Infinity"), with_logprob("0.5"), with_logprob("1e308"), with_logprob("true"),
        b'{"choices": [{"message": {"content": "4"}, '
        b'"logprobs": {"content": [{"token": 4, "logprob": -1}]}}]}',
        b'{"choices": [{"message": {"content": "4"}, "logprobs": {"content": {"token": "4"}}}]}',
        b'{"choices": [{"message": {"content": "4"}, "logprobs": []}]}',
    ],
)  # fmt: skip
def test_an_answer_that_is_no_completion(content: bytes) -> None:
    with pytest.raises(MalformedError):
        read_chat_answer(content)


@pytest.mark.parametrize("deep", [90, 400, 500, 1000, 100_000])
@pytest.mark.parametrize("text", [rb"\u0000", rb"\ud83d", b"plain"])
def test_an_answer_of_many_brackets_is_read_or_malformed(text: bytes, deep: int) -> None:
    odd = b'"' + text + b'", ' + b"[" * deep + b"]" * deep
    content = b'{"choices": [{"message": {"content": "4"}}], "more": [' + odd + b"]}"

    try:
        reply = read_chat_answer(content)
    except MalformedError:
        assert deep > 90
    else:
        assert reply.choices[0].text == "4"


@pytest.mark.parametrize("odd", [4, {"a": 1}, ["x"], None, True])
def test_what_only_describes_a_reply_is_left_out_where_it_is_odd(odd: Any) -> None:
    content = json.dumps(answer(id=odd, model=odd)).encode()

    reply = read_chat_answer(content)

    assert (reply.model, reply.request_id, reply.choices[0].text) == ("", "", "4")


@pytest.mark.parametrize("odd", [-1, 10**12, 2.5, "7", None, True, [1], {}])
def test_a_count_of_tokens_that_cannot_be_is_not_known(odd: Any) -> None:
    content = json.dumps(answer(usage={"prompt_tokens": odd, "completion_tokens": 3})).encode()

    reply = read_chat_answer(content)

    assert (reply.prompt_tokens, reply.completion_tokens) == (None, 3)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"4\u0000", "4\N{REPLACEMENT CHARACTER}"),
        (r"4\ud83d", "4\N{REPLACEMENT CHARACTER}"),
        ("4\t", "4\t"),
        (r"\ud83d\ude00", "😀"),
    ],
)
def test_texts_are_cleaned_of_what_the_database_cannot_hold(written: str, read: str) -> None:
    content = f'{{"choices": [{{"message": {{"content": "{written}"}}}}]}}'.encode()

    assert read_chat_answer(content).choices[0].text == read


def test_a_content_in_parts_is_the_text_of_its_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "Sc"},
        {"type": "text", "text": "ore"},
    ]

    assert read_chat_answer(with_message(content=parts)).choices[0].text == "Score"


@pytest.mark.parametrize(
    ("written", "value"),
    [("-Infinity", NEVER), ("-1e300", NEVER), ("0", 0.0), ("-2", -2.0), ("-" + "9" * 400, NEVER)],
)
def test_practically_never_is_a_number(written: str, value: float) -> None:
    token = (read_chat_answer(with_logprob(written)).choices[0].tokens or ())[0]

    assert (token.logprob, token.alternatives) == (value, (("4", value),))


def test_more_choices_than_asked_for_are_not_even_looked_at() -> None:
    content = json.dumps({"choices": [answer()["choices"][0], {"message": 7}]}).encode()

    assert len(read_chat_answer(content, n=1).choices) == 1


def test_a_reply_far_beyond_the_length_that_was_asked_for_is_cut_and_says_so() -> None:
    choice = read_chat_answer(with_message(content="4" * 100_000), most_tokens=100).choices[0]

    assert (len(choice.text), choice.finish_reason) == (3200, "length")


def test_an_echo_has_a_log_probability_for_each_token() -> None:
    good = {"choices": [{"logprobs": {"tokens": ["A", " b"], "token_logprobs": [None, -1]}}]}
    bad = {"choices": [{"logprobs": {"tokens": ["A", " b"], "token_logprobs": [None]}}]}

    assert [
        token.logprob
        for token in read_echo_answer(json.dumps(good).encode()).choices[0].echoed or ()
    ] == [
        None,
        -1,
    ]
    with pytest.raises(MalformedError, match="one log-probability"):
        read_echo_answer(json.dumps(bad).encode())


@pytest.mark.parametrize(
    "record", [{"id": 7, "status": "x"}, {"id": "../x", "status": "x"}, {"id": "a"}, [], 7]
)
def test_a_batch_has_an_id_that_can_stand_in_an_address(record: Any) -> None:
    with pytest.raises(MalformedError):
        read_batch(json.dumps(record).encode())
    assert read_batch_list(json.dumps({"data": [record]}).encode()) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=12,
)
KNOWN = st.sampled_from(
    ["choices", "message", "content", "logprobs", "token", "logprob", "top_logprobs", "usage",
        "model", "id", "tokens",
     "token_logprobs", "prompt_tokens", "finish_reason", "refusal"]
)  # fmt: skip
ODD = st.recursive(
    JSON,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KNOWN, inner, max_size=6),
    max_leaves=30,
)


@given(ODD.map(lambda found: json.dumps(found).encode()) | st.binary(max_size=200))
def test_whatever_comes_is_a_reply_or_malformed(content: bytes) -> None:
    for read in (read_chat_answer, read_echo_answer, read_batch, read_batch_list):
        try:
            found = read(content)
        except MalformedError:
            continue
        for choice in getattr(found, "choices", ()):
            assert isinstance(choice, ReplyChoice)
            assert "\0" not in choice.text
            choice.text.encode()
