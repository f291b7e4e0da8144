"""HTTP to servers that users name: checked connections and bounded bodies.

All outgoing calls use `checked_session` (plain aiohttp) or `BoundedTransport` (for the openai
package). Neither follows redirects: a redirect is an error like any other.
"""

import asyncio
import contextlib
import html
import re
import socket
from collections.abc import Callable, Collection, Iterator
from typing import Any
from urllib.parse import quote

import aiohttp
import httpx2
from yarl import URL

from geval.llm.addresses import check_ip, ip_of, proxy_for

# Far above the calls of a worker, whose own limits decide; aiohttp's default is 100.
CONNECTIONS = 512
CHUNK_BYTES = 2**16
# Larger replies are read one after the other, to limit the memory that they take together.
USUAL_BYTES = 2**18
MASK = b"[key hidden]"
# A shorter key is not a secret, and its characters may well occur in an answer.
SHORTEST_MASKED = 8


class BodyTooLargeError(Exception):
    """A body is longer than allowed, after decompression."""


class BrokenReplyError(Exception):
    """A reply ended early, cannot be decompressed, or is not HTTP."""


def checked_session(
    *, allow_private: bool, timeout: aiohttp.ClientTimeout
) -> aiohttp.ClientSession:
    """Create a session that connects only to addresses that may be called: each is checked when its
    socket is created.

    Raises (from its requests):
        ForbiddenAddressError: the address must not be called.
    """
    connector = aiohttp.TCPConnector(
        limit=CONNECTIONS, socket_factory=_checked_socket(allow_private)
    )
    return aiohttp.ClientSession(
        connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()
    )


def _checked_socket(allow_private: bool) -> Callable[[Any], socket.socket]:
    def make(address_info: Any) -> socket.socket:
        family, kind, protocol, _name, address = address_info
        host = str(address[0])
        check_ip(ip_of(host), host=host, allow_private=allow_private)
        return socket.socket(family, kind, protocol)

    return make


def spellings(secret: str) -> re.Pattern[bytes]:
    r"""Return a pattern for a key as it may be escaped in JSON, or in JSON within strings of JSON,
    as proxies write it: each character unchanged, after backslashes, or as \u and its number; and
    as in a URL or in HTML.

    The number of backslashes is bounded and no backslash may follow, so that there is only one way
    to match them: a reply full of them takes linear time. Backslashes at a key's start need not
    match.
    """
    each, has_backslashes = [], False
    for part in re.findall(r"\\+|[^\\]", secret.lstrip("\\"), re.DOTALL):
        if part.startswith("\\"):
            most = min(_MOST_BACKSLASHES * len(part), 4 * _MOST_BACKSLASHES)
            each.append(rf"\\{{1,{most}}}(?:u(?i:005c)\\{{0,{most}}}){{0,{2 * len(part)}}}")
        else:
            # The backslashes before it were matched together with the key's own.
            escapes = "" if has_backslashes else rf"\\{{0,{_MOST_BACKSLASHES}}}"
            each.append(f"{escapes}(?:{re.escape(part)}|{_as_numbers(part)})")
        has_backslashes = part.startswith("\\")
    spelled = [re.escape(secret), *(["".join(each)] if each else [])]
    spelled += ["".join(map(_in_an_address, secret)), re.escape(html.escape(secret))]
    return re.compile("|".join(spelled).encode())


# The backslashes of a character in JSON that is nested four deep.
_MOST_BACKSLASHES = 16


# A URL within a URL escapes % as %25 again.
_MOST_TIMES_ENCODED = 4


def _in_an_address(character: str) -> str:
    """Return a pattern for a character in a URL: unchanged, or each byte as % and its number."""
    plain = re.escape(character)
    if quote(character, safe="") == character:
        return plain
    again = f"(?:25){{0,{_MOST_TIMES_ENCODED - 1}}}"
    return f"(?:{''.join(f'%{again}(?i:{byte:02x})' for byte in character.encode())}|{plain})"


def _as_numbers(character: str) -> str:
    units = character.encode("utf-16-be").hex()
    parts = (f"u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))
    return rf"\\{{1,{_MOST_BACKSLASHES}}}".join(parts)


class BoundedTransport(httpx2.AsyncBaseTransport):
    """HTTP over aiohttp, with connections checked and replies read up to a limit.

    Bodies are decompressed here in chunks, so that a small reply cannot become a huge one. A key
    that is repeated in a reply, as in "Incorrect API key provided: sk-…", is masked.

    Args:
        limit: bytes of a reply's body, decompressed.
        secrets: the key and other values that are sent with requests.
    """

    def __init__(self, *, allow_private: bool, limit: int, secrets: Collection[str] = ()) -> None:
        self.limit = limit
        self._secrets = [spellings(each) for each in secrets if len(each) >= SHORTEST_MASKED]
        self._allow_private = allow_private
        self._large = asyncio.Semaphore(1)
        self._session: aiohttp.ClientSession | None = None
        self._through_proxy: aiohttp.ClientSession | None = None
        self._proxies: dict[tuple[str, str | None], str | None] = {}

    @contextlib.contextmanager
    def larger(self, limit: int) -> Iterator[None]:
        """Allow bodies of up to `limit` bytes within the context: for files instead of replies."""
        usual, self.limit = self.limit, limit
        try:
            yield
        finally:
            self.limit = usual

    def _session_for(self, proxy: str | None) -> aiohttp.ClientSession:
        no_limit = aiohttp.ClientTimeout(total=None)  # callers limit the time of a whole call
        if proxy is None:
            self._session = self._session or checked_session(
                allow_private=self._allow_private, timeout=no_limit
            )
            return self._session
        # The proxy is the operator's, so it may be in a private network.
        self._through_proxy = self._through_proxy or checked_session(
            allow_private=True, timeout=no_limit
        )
        return self._through_proxy

    def _proxy_for(self, url: URL) -> str | None:
        """Cache `addresses.proxy_for` per server, as it reads the whole environment."""
        server = url.scheme, url.raw_host
        if server not in self._proxies:
            self._proxies[server] = proxy_for(url)
        return self._proxies[server]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = URL(str(request.url), encoded=True)
        proxy = self._proxy_for(url)
        headers = [
            (name, value)
            for name, value in request.headers.multi_items()
            if name != "transfer-encoding"
        ]
        # Only what we can decompress within the limit, whatever packages are installed.
        headers = [(n, v) for n, v in headers if n != "accept-encoding"] + [
            ("accept-encoding", "gzip, deflate")
        ]
        try:
            async with self._session_for(proxy).request(
                request.method,
                url,
                headers=headers,
                data=await request.aread(),
                allow_redirects=False,
                proxy=proxy,
            ) as reply:
                body = await read_body(reply, self.limit, self._large)
                packed = ("content-encoding", "content-length", "transfer-encoding")
                kept = [(n, v) for n, v in reply.headers.items() if n.lower() not in packed]
                return httpx2.Response(
                    reply.status,
                    headers=[
                        (self._masked(n.encode(*_HEADER)), self._masked(v.encode(*_HEADER)))
                        for n, v in kept
                    ],
                    content=self._masked(body),
                    request=request,
                )
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError) as error:
            raise BrokenReplyError(
                "the connection broke off before the reply was complete"
            ) from error
        except aiohttp.ClientResponseError as error:
            raise BrokenReplyError(
                f"it does not speak HTTP as it should ({error.message or error})"
            ) from error

    def _masked(self, content: bytes) -> bytes:
        for secret in self._secrets:
            content = secret.sub(MASK, content)
        return content

    async def aclose(self) -> None:
        for session in (self._session, self._through_proxy):
            if session is not None:
                with contextlib.suppress(asyncio.CancelledError):
                    await session.close()


_HEADER = ("utf-8", "surrogateescape")


async def read_body(reply: aiohttp.ClientResponse, limit: int, large: asyncio.Semaphore) -> bytes:
    """Read a reply's body and decompress it.

    Args:
        large: held while reading the rest of a body that is larger than usual.

    Raises:
        BodyTooLargeError: it is longer than `limit` bytes, or its header says so.
    """
    if (reply.content_length or 0) > limit:
        raise BodyTooLargeError
    body = bytearray()
    async with contextlib.AsyncExitStack() as held:
        async for part in reply.content.iter_chunked(CHUNK_BYTES):
            if len(body) <= USUAL_BYTES < len(body) + len(part):
                await held.enter_async_context(large)
            body += part
            if len(body) > limit:
                reply.close()
                body.clear()  # the error's traceback would keep it in memory
                raise BodyTooLargeError
    return bytes(body)
