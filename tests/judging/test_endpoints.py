"""Errors of endpoints have named kinds, whatever the server or the network did."""

import asyncio
import html
import json
import re
import time
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind, status_error
from geval.llm.network import MASK, spellings
from geval.llm.replies import ReplyChoice, Token
from geval.llm.reply_structure import choices_from_json, choices_to_json
from geval.llm.requests import ChatRequest
from tests.processes import StandInProcess, free_port


def error_of(
    base_url: str, *, key: str = "", timeout: float = 10, prompt: str = "Hello"
) -> EndpointError:
    async def ask() -> None:
        async with Client(base_url, key, timeout=timeout, allow_private=True) as client:
            await client.chat(ChatRequest(model="m", prompt=prompt))

    with pytest.raises(EndpointError) as raised:
        asyncio.run(ask())
    return raised.value


@pytest.mark.parametrize(
    ("switches", "kind"),
    [
        (("--error-rate", "1"), ErrorKind.SERVER),
        (("--rate-limit-rate", "1", "--retry-after", "3"), ErrorKind.RATE_LIMIT),
        (("--api-key", "right"), ErrorKind.AUTHENTICATION),
        (("--context-tokens", "0"), ErrorKind.CONTEXT_LENGTH),
        (("--hang-rate", "1"), ErrorKind.TIMEOUT),
    ],
)
def test_an_endpoint_that_fails(
    start_standin: Callable[..., StandInProcess], switches: tuple[str, ...], kind: ErrorKind
) -> None:
    error = error_of(start_standin(*switches).base_url, key="wrong", timeout=1)

    assert error.kind == kind
    assert error.retry_after == (3 if kind == ErrorKind.RATE_LIMIT else None)


def test_a_server_that_is_not_there() -> None:
    assert error_of(f"http://127.0.0.1:{free_port()}/v1").kind == ErrorKind.CONNECTION


@pytest.mark.parametrize(
    ("status", "kind", "stops_run"),
    [
        (301, ErrorKind.REDIRECT, True),
        (400, ErrorKind.BAD_REQUEST, False),
        (401, ErrorKind.AUTHENTICATION, True),
        (402, ErrorKind.QUOTA, True),
        (403, ErrorKind.AUTHENTICATION, True),
        (404, ErrorKind.MODEL_NOT_FOUND, True),
        (408, ErrorKind.TIMEOUT, False),
        (429, ErrorKind.RATE_LIMIT, False),
        (500, ErrorKind.SERVER, False),
        (503, ErrorKind.OVERLOADED, False),
        (529, ErrorKind.OVERLOADED, False),
    ],
)
def test_statuses(status: int, kind: ErrorKind, *, stops_run: bool) -> None:
    error = status_error(status, "Said.", base_url="http://x/v1", model="m")

    assert (error.kind, error.kind.stops_run) == (kind, stops_run)


@pytest.mark.parametrize("header", ["86400", "1000000000", "1e300"])
def test_a_wait_of_hours_stops_the_run_and_says_so(header: str) -> None:
    error = status_error(
        429, "Slow down.", base_url="b", model="m", headers={"retry-after": header}
    )

    assert error.kind == ErrorKind.LONG_WAIT
    assert error.kind.stops_run
    assert "asks to wait" in error.message


def test_a_quota_that_is_used_up_is_no_rate_limit() -> None:
    error = status_error(
        429, "You have no quota.", base_url="b", model="m", codes=["insufficient_quota"]
    )

    assert (error.kind, error.kind.stops_run) == (ErrorKind.QUOTA, True)


def test_a_key_that_comes_back_in_an_error_is_masked(
    start_standin: Callable[..., StandInProcess],
) -> None:
    key = "sk-very-secret-key"
    address = start_standin(
        "--only-model", key
    ).base_url  # the error names the model that was asked for

    async def ask() -> None:
        async with Client(address, key, timeout=10, allow_private=True) as client:
            await client.chat(ChatRequest(model=f"not {key}", prompt="Hello"))

    with pytest.raises(EndpointError) as raised:
        asyncio.run(ask())

    assert "[key hidden]" in raised.value.message


def as_numbers(text: str) -> str:
    return "".join(f"\\u{unit.hex().upper()}" for unit in units(text))


def units(text: str) -> Iterator[bytes]:
    encoded = text.encode("utf-16-be")
    return (encoded[at : at + 2] for at in range(0, len(encoded), 2))


@pytest.mark.parametrize("times", range(4), ids="{} times in JSON of JSON".format)
@pytest.mark.parametrize("key", ["sk-secret/AAAA+BBBB.1234", "sk-\\secret\\\\AAAA-\U0001f511é"])
@pytest.mark.parametrize(
    "escape",
    [
        lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
        lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
        as_numbers,
    ],
    ids=["plain", "slashes", "numbers"],
)
def test_a_key_is_masked_however_json_spells_it(
    key: str, escape: Callable[[str], str], times: int
) -> None:
    body = f'"bad key {escape(key)}."'
    for _ in range(times):
        body = json.dumps(body)

    read = spellings(key).sub(MASK, body.encode()).decode()

    for _ in range(times + 1):
        read = json.loads(read)
    assert read == "bad key [key hidden]."


@pytest.mark.parametrize("times", range(1, 4))
@pytest.mark.parametrize("key", ["sk-secret/AAAA+BB=&<'é>%2", "%25" * 4 + "secret"])
@pytest.mark.parametrize("is_small", [False, True])
def test_a_key_is_masked_in_an_address_and_in_html(key: str, times: int, is_small: bool) -> None:
    address = key
    for _ in range(times):
        address = quote(address, safe="")
        if is_small:
            address = re.sub("%[0-9A-F]{2}", lambda found: found.group().lower(), address)
    body = f"<a href='/?key={address}'>{html.escape(key)}</a> {key[:-1]}"

    read = spellings(key).sub(MASK, body.encode()).decode()

    assert read == f"<a href='/?key=[key hidden]'>[key hidden]</a> {key[:-1]}"


@pytest.mark.parametrize("key", ["%25" * 30, "\\" * 30 + "secret", "u005c" * 30 + "\\" * 3])
@pytest.mark.parametrize("piece", [b"%25", b"\\u005c", b"sk-secre\\"])
def test_masking_takes_time_in_proportion_to_a_replys_length(key: str, piece: bytes) -> None:
    pattern = spellings(key)

    def seconds(length: int) -> float:
        body = piece * (length // len(piece))
        begun = time.process_time()
        pattern.sub(MASK, body)
        return time.process_time() - begun

    assert seconds(400_000) < 20 * seconds(40_000) + 0.2


def test_what_is_stored_of_a_reply_comes_back_the_same() -> None:
    choices = (
        ReplyChoice("4", tokens=(Token("4", -0.1, (("4", -0.1), ("５", -2.5))),)),
        ReplyChoice("", "content_filter", refusal="No."),
        ReplyChoice("3", "length", tokens=()),
    )

    assert choices_from_json(choices_to_json(choices)) == choices


def test_a_request_says_only_what_was_asked() -> None:
    plain = ChatRequest(model="m", prompt="p").body()
    probabilities = ChatRequest(model="m", prompt="p", top_logprobs=20).body()

    assert plain == {
        "model": "m",
        "messages": [{"role": "user", "content": "p"}],
        "temperature": 0.0,
        "max_tokens": 32,
    }
    assert probabilities == plain | {"logprobs": True, "top_logprobs": 20}
