"""What a hostile endpoint answers: a named mode each, as bytes on the wire or as a way to misbehave
on a connection.

A mode of BODIES is the JSON of a chat completion (or what stands in its place), sent with status
200. A mode of RAW is the whole HTTP reply. A mode of WIRE is a coroutine that has the connection.
"""

import asyncio
import gzip
import json
import struct
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

Writer = asyncio.StreamWriter


def completion(**changes: Any) -> dict[str, Any]:
    """A good chat completion that rates 4, and the same as a legacy completion with echoed
    tokens."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "4"},
        "finish_reason": "stop",
        "logprobs": {"content": [token("4", -0.1)]},
    }
    return {
        "id": "x",
        "object": "chat.completion",
        "model": "m",
        "choices": [choice],
        "usage": {"prompt_tokens": 20, "completion_tokens": 1},
    } | changes


def token(text: Any, logprob: Any, **more: Any) -> dict[str, Any]:
    return {
        "token": text,
        "logprob": logprob,
        "top_logprobs": [{"token": text, "logprob": logprob}],
    } | more


def choice(**changes: Any) -> dict[str, Any]:
    return completion(choices=[completion()["choices"][0] | changes])


def saying(content: Any, **message: Any) -> dict[str, Any]:
    logprobs = {"content": [token(content, -0.1)]} if isinstance(content, str) else None
    return choice(message={"role": "assistant", "content": content} | message, logprobs=logprobs)


def with_tokens(*tokens: Any) -> dict[str, Any]:
    return choice(logprobs={"content": list(tokens)})


def text(found: Any) -> bytes:
    return json.dumps(found).encode()


def swapped(found: Any, marker: str, written: str) -> bytes:
    """JSON with something in the place of a marker that `json` would not write."""
    return text(found).replace(f'"{marker}"'.encode(), written.encode())


_CONTENTS: dict[str, Any] = {
    "number": 4, "float": 4.5, "list of numbers": [4], "empty list": [], "list of nothing": [None],
    "true": True,
    "image part": [{"type": "image_url"}], "text part": [{"type": "text", "text": "4"}],
    "object": {"text": "4"},
    "part without text": [{"type": "text"}], "part with number": [{"type": "text", "text": 4}],
    "nothing": None, "empty": "", "blanks": " " * 50_000, "line breaks": "\n" * 50_000,
    "NUL": "4\0", "only NUL": "\0",
    "NUL within": "Score:\0 4", "lone surrogate": "4 \ud83d", "low surrogate": "\ude00 4",
    "only surrogate": "\ud800",
    "score and blanks": "score" + " " * 30_000, "score( many times": "score(" * 5_300,
    "a megabyte": "x" * 2**20,
    "five megabytes": "x" * 5 * 2**20, "5,000 digits": "9" * 5_000,
    "score 5,000 digits": "Score: " + "4" * 5_000,
    "direction marks": "\u202e4\u2066", "control characters": "\x01\x02 4 \x1f",
    "HTML": "<script>alert(4)</script>",
    "JSON": '{"score": 4}', "two ratings": "Score: 4\nScore: 2", "out of scale": "9",
    "negative": "-4", "NaN": "NaN",
    "infinity": "Infinity", "1e309": "1e309", "full-width": "４", "superscript": "⁴",
    "Thai digit": "๔", "refusal":
    "I'm sorry, but I cannot rate this.", "template": "{{Document}} %s {x}",
    "SQL": "4'; DROP TABLE x; --",
    "emoji": "😀" * 5_000, "combining": "4" + "\u0301" * 20_000, "dots": "." * 50_000,
    "dashes": "1-" * 20_000,
}  # fmt: skip

BODIES: dict[str, bytes] = {
    f"content: {name}": text(saying(content)) for name, content in _CONTENTS.items()
}

for _name, _value in {
    "number": 7, "object": {"a": 1}, "list": [1], "huge": "m" * 100_000, "NUL": "a\0b",
    "null": None, "true": True,
}.items():  # fmt: skip
    BODIES[f"id: {_name}"] = text(completion(id=_value))
    BODIES[f"model: {_name}"] = text(completion(model=_value))
    BODIES[f"finish_reason: {_name}"] = text(choice(finish_reason=_value))
    BODIES[f"refusal: {_name}"] = text(saying("4", refusal=_value))

for _name, _value in {
    "negative": -5, "2**40": 2**40, "2**63": 2**63, "10**400": 10**400, "fraction": 1.5,
    "text": "7", "list": [1],
    "object": {}, "null": None, "true": True, "-2**31": -(2**31),
}.items():  # fmt: skip
    BODIES[f"usage: {_name}"] = text(
        completion(usage={"prompt_tokens": _value, "completion_tokens": _value})
    )
for _name, _value in {
    "null": None,
    "list": [1, 2],
    "text": "many",
    "number": 5,
    "empty": {},
}.items():
    BODIES[f"usage is {_name}"] = text(completion(usage=_value))

for _name, _value in {
    "null": None, "empty": [], "object": {"0": 1}, "text": "4", "number": 4, "nulls": [None],
    "lists": [[]],
    "no message": [{"index": 0}], "message null": [{"message": None}],
    "message text": [{"message": "4"}],
    "message list": [{"message": ["4"]}], "100,000 of them": [completion()["choices"][0]] * 20_000,
    "empty message": [{"message": {}}], "nested": [[[[{"message": {"content": "4"}}]]]],
}.items():  # fmt: skip
    BODIES[f"choices: {_name}"] = text(completion(choices=_value))

for _name, _value in {
    "nan as text": "nan", "inf as text": "inf", "number as text": "-0.1", "null": None, "list": [],
    "positive": 3.0,
    "1e308": 1e308, "true": True, "object": {}, "-1e308": -1e308,
}.items():  # fmt: skip
    BODIES[f"logprob: {_name}"] = text(with_tokens(token("4", _value)))
for _constant in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 5_000):
    BODIES[f"logprob: {_constant[:10]}"] = swapped(
        with_tokens(token("4", "HERE")), "HERE", _constant
    )
for _name, _value in {
    "number": 4, "null": None, "NUL": "4\0", "surrogate": "\ud800", "list": ["4"], "empty": "",
    "huge": "4" * 100_000,
}.items():  # fmt: skip
    BODIES[f"token: {_name}"] = text(with_tokens(token(_value, -0.1)))
for _name, _value in {
    "null": None, "object": {"4": -0.1}, "number": 20, "lists": [["4", -0.1]], "texts": ["4"],
    "100,000": [{"token": "4", "logprob": -9.0}] * 100_000, "without logprob": [{"token": "4"}],
}.items():  # fmt: skip
    BODIES[f"top_logprobs: {_name}"] = text(with_tokens(token("4", -0.1, top_logprobs=_value)))
for _name, _value in {
    "list": [], "number": 4, "text": "none", "content null": {"content": None},
    "content object": {"content": {}},
    "content empty": {"content": []}, "content nulls": {"content": [None]},
    "40,000 tokens": {"content": [{"token": "4", "logprob": -0.1}] * 40_000},
}.items():  # fmt: skip
    BODIES[f"logprobs: {_name}"] = text(choice(logprobs=_value))

for _name, _value in {
    "null": None, "empty": [], "text": "4", "number": 4, "nulls": [None], "lists": [[]],
    "no content": [{"type": "message"}], "content text": [{"type": "message", "content": "4"}],
    "parts null": [{"type": "message", "content": [None]}],
    "text null": [{"type": "message", "content": [{"type": "output_text", "text": None}]}],
    "reasoning alone": [{"type": "reasoning", "summary": [{"text": "4"}]}],
    "unknown items": [{"type": "mcp_call", "output": "4"}],
    "10,000 messages": [{"type": "message", "content": []}] * 10_000,
}.items():  # fmt: skip
    BODIES[f"output: {_name}"] = text({"object": "response", "output": _value})
for _name, _value in {
    "queued": {"status": "queued"}, "status number": {"status": 5}, "failed": {"status": "failed"},
    "error text": {"status": "failed", "error": "no"}, "error list": {"error": [1]},
    "error code": {"status": "failed", "error": {"code": ["x"], "message": {"a": 1}}},
    "cut text": {"status": "incomplete", "incomplete_details": "max_output_tokens"},
}.items():  # fmt: skip
    BODIES[f"response: {_name}"] = text({"object": "response", "output": [], **_value})

BODIES |= {
    "JSON: empty": b"", "JSON: HTML": b"<html><body>Welcome</body></html>",
    "JSON: cut": text(completion())[:60],
    "JSON: trailing": text(completion()) + b"}}}",
    "JSON: BOM": b"\xef\xbb\xbf" + text(completion()),
    "JSON: UTF-16": json.dumps(completion()).encode("utf-16"),
    "JSON: not UTF-8": b'{"choices": "\xff\xfe"}',
    "JSON: deep list": b"[" * 100_000,
    "JSON: deep object": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "JSON: deep content": b'{"choices": [{"message": {"content": '
    + b"[" * 50_000 + b"]" * 50_000 + b"}}]}",
    "JSON: list": b"[]", "JSON: number": b"4", "JSON: null": b"null", "JSON: text": b'"4"',
    "JSON: blanks": b" " * 10**6,
    "JSON: twice the same name": b'{"choices": [], ' + text(completion())[1:],
    "JSON: single quotes": b"{'choices': []}",
    "JSON: lines": text(completion()) + b"\n" + text(completion()),
    "JSON: 10**5 digits": b"1" + b"0" * 10**5,
    "JSON: stream": b"data: " + text(completion()) + b"\n\ndata: [DONE]\n\n",
    "JSON: NUL byte": b"\0" + text(completion()),
    "JSON: error in 200": text({"error": {"message": "no", "code": 500}}),
    "JSON: raw NUL in text": b'{"choices": [{"message": {"content": "4\x00"}}]}',
}  # fmt: skip


def reply(status: str = "200 OK", *headers: str, body: bytes = b"") -> bytes:
    """A whole reply; its length is told unless a header already says how long it is."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers]
    if not any(
        header.lower().startswith(("content-length", "transfer-encoding")) for header in headers
    ):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def error(message: Any = "No.", **more: Any) -> bytes:
    return text({"error": {"message": message, "type": "x", "code": None} | more})


GOOD = text(completion())
RAW: dict[str, bytes] = {
    f"status {status}": reply(f"{status} X", body=error())
    for status in (201, 204, 206, 226, 299, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413,
        415, 418, 422, 425,
                   426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 507, 508, 511, 520, 529,
                   599, 600, 999)
}  # fmt: skip
RAW |= {
    f"429, Retry-After {after[:30]}": reply("429 X", f"Retry-After: {after}", body=error())
    for after in ("0", "-5", "inf", "nan", "1000000000", "86400", "soon",
        "Wed, 21 Oct 2015 07:28:00 GMT",
                  "Fri, 31 Dec 9999 23:59:59 GMT", "9" * 4_000, "")
}  # fmt: skip
RAW |= {
    "503, a day": reply("503 X", "Retry-After: 86400", body=error()),
    "429, no quota": reply("429 X", body=error(code="insufficient_quota")),
    "redirect to itself": reply("301 X", "Location: /v1/chat/completions"),
    "redirect to a cloud's metadata": reply("302 X",
        "Location: http://169.254.169.254/latest/meta-data/"),
    "redirect of the method": reply("307 X", "Location: http://127.0.0.1:1/v1/chat/completions"),
    "redirect to nowhere": reply("302 X"),
    "redirect to a file": reply("302 X", "Location: file:///etc/passwd"),
    "error as a list": reply("400 X", body=b'[{"error": "no"}]'),
    "error as a text": reply("400 X", body=b"no"),
    "error with a NUL": reply("400 X", body=error("a\0b")),
    "error with a surrogate": reply("400 X", body=error("\ud800")),
    "error of a megabyte": reply("400 X", body=error("x" * 2**20)),
    "error of deep JSON": reply("400 X", body=b"[" * 100_000),
    "error with a number": reply("400 X", body=error(7)),
    "error with an object": reply("400 X", body=error({"a": [1]})),
    "error without a body": reply("500 X"),
    "error in HTML": reply("502 X", body=b"<html>Bad gateway</html>"),
    "broken status line": b"HTTP/1.1 hello\r\n\r\n",
    "status line without a status": b"HTTP/1.1\r\n\r\n",
    "not HTTP": b"220 mail.example.com ESMTP\r\n",
    "HTTP/0.9": b"4\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/9.9": b"HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "noise": bytes(range(256)) * 20,
    "a header of 200 KB": reply("200 OK", "X-Long: " + "x" * 200_000, body=GOOD),
    "5,000 headers": reply("200 OK", *(f"X-{number}: 1" for number in range(5_000)), body=GOOD),
    "a header without a colon": reply("200 OK", "nonsense", body=GOOD),
    "a header with a NUL": reply("200 OK", "X-Odd: a\0b", body=GOOD),
    "an odd request id": reply("200 OK", "x-request-id: " + "\u00ff" * 500, body=GOOD),
    "a length that is too short": reply("200 OK", "Content-Length: 20", body=GOOD),
    "a length that is too long": reply("200 OK", "Content-Length: 100000", body=GOOD),
    "a negative length": reply("200 OK", "Content-Length: -1", body=GOOD),
    "a huge length": reply("200 OK", "Content-Length: 99999999999999999999", body=GOOD),
    "two lengths": reply("200 OK", "Content-Length: 2", f"Content-Length: {len(GOOD)}", body=GOOD),
    "no length": reply("200 OK", "Transfer-Encoding: identity", body=GOOD),
    "bad chunk sizes": reply("200 OK", "Transfer-Encoding: chunked",
        body=b"zz\r\nabc\r\n0\r\n\r\n"),
    "a chunk of 2**60": reply("200 OK", "Transfer-Encoding: chunked",
        body=b"fffffffffffffff\r\nabc"),
    "a long chunk extension": reply("200 OK", "Transfer-Encoding: chunked",
        body=b"2;" + b"x" * 100_000 + b"\r\n{}"),
    "gzip that is none": reply("200 OK", "Content-Encoding: gzip", body=GOOD),
    "gzip that is cut": reply("200 OK", "Content-Encoding: gzip", body=gzip.compress(GOOD)[:30]),
    "gzip in gzip": reply("200 OK", "Content-Encoding: gzip, gzip",
        body=gzip.compress(gzip.compress(GOOD))),
    "gzip of 100 MB": reply("200 OK", "Content-Encoding: gzip",
        body=gzip.compress(bytes(100 * 2**20), 1)),
    "deflate of 100 MB": reply("200 OK", "Content-Encoding: deflate",
        body=zlib.compress(bytes(100 * 2**20), 1)),
    "a good gzip": reply("200 OK", "Content-Encoding: gzip", body=gzip.compress(GOOD)),
    "Brotli": reply("200 OK", "Content-Encoding: br", body=GOOD),
    "zstd": reply("200 OK", "Content-Encoding: zstd", body=GOOD),
    "an unknown encoding": reply("200 OK", "Content-Encoding: rot13", body=GOOD),
    "an unknown charset": b"HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=klingon\r\n"
    + f"Content-Length: {len(GOOD)}\r\n\r\n".encode() + GOOD,
    "100 before 200": b"HTTP/1.1 100 Continue\r\n\r\n" * 50 + reply(body=GOOD),
    "switching protocols": b"HTTP/1.1 101 Switching Protocols\r\n"
    b"Upgrade: x\r\nConnection: upgrade\r\n\r\n",
    "cookies": reply("200 OK", *("Set-Cookie: a=b" for _ in range(50)), body=GOOD),
}  # fmt: skip


async def close_at_once(writer: Writer) -> None:
    writer.close()


async def reset(writer: Writer) -> None:
    writer.get_extra_info("socket").setsockopt(
        1, 13, struct.pack("ii", 1, 0)
    )  # SO_LINGER: close by a reset
    writer.close()


async def close_within_the_body(writer: Writer) -> None:
    writer.write(reply("200 OK", "Content-Length: 500", body=GOOD[:40]))


async def close_within_the_headers(writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Ty")


async def say_nothing(_writer: Writer) -> None:
    await asyncio.sleep(600)


async def hang_within_the_body(writer: Writer) -> None:
    writer.write(reply("200 OK", "Content-Length: 500", body=GOOD[:40]))
    await writer.drain()
    await asyncio.sleep(600)


async def trickle(writer: Writer) -> None:
    writer.write(reply("200 OK", "Content-Length: 100000"))
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.2)


async def trickle_headers(writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(10_000):
        writer.write(f"X-{number}: 1\r\n".encode())
        await writer.drain()
        await asyncio.sleep(0.2)


async def endless_body(writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    await _pour(writer, b'{"a": "' + b"x" * 2**16, b"x" * 2**16)


async def endless_chunks(writer: Writer) -> None:
    writer.write(reply("200 OK", "Transfer-Encoding: chunked"))
    piece = b"10000\r\n" + b"x" * 2**16 + b"\r\n"
    await _pour(writer, piece, piece)


async def endless_gzip(writer: Writer) -> None:
    """Three gigabytes in three megabytes, and more where it came from."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
    packer = zlib.compressobj(wbits=31)
    zeros = bytes(2**22)
    for _ in range(1_000):
        writer.write(packer.compress(zeros) + packer.flush(zlib.Z_SYNC_FLUSH))
        await writer.drain()


async def endless_headers(writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    await _pour(writer, b"x", b"x" * 2**16)


async def endless_informing(writer: Writer) -> None:
    piece = b"HTTP/1.1 102 Processing\r\n\r\n" * 1_000
    await _pour(writer, piece, piece)


async def _pour(writer: Writer, first: bytes, piece: bytes) -> None:
    writer.write(first)
    for _ in range(100_000):
        writer.write(piece)
        await writer.drain()


WIRE: dict[str, Callable[[Writer], Awaitable[None]]] = {
    function.__name__.replace("_", " "): function
    for function in (
        close_at_once, reset, close_within_the_body, close_within_the_headers, say_nothing,
        hang_within_the_body,
        trickle, trickle_headers, endless_body, endless_chunks, endless_gzip, endless_headers,
        endless_informing,
    )
}  # fmt: skip
MODES = (*BODIES, *RAW, *WIRE)
