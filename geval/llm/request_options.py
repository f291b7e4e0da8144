"""Additional fields of a judge's requests: a checked JSON object for the provider, such as
`{"reasoning_effort": "low"}`. Pure."""

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from geval.llm.requests import OWN_PARAMETERS
from geval.texts.spelling import storable

# Longer or deeper options are a mistake: they are sent with each call, and are part of each digest.
MOST_CHARACTERS = 4_000
MOST_DEPTH = 6
# PostgreSQL accepts any integer, the digest of a request only these.
MOST_INTEGER = 2**63 - 1
# What providers document for chat completions and responses as settings of sampling, reasoning,
# service, safety and the form of text, and a judge does not set. All else is refused: a list of
# what may not be sent has gaps.
ALLOWED = frozenset(
    {
        # OpenAI, Azure OpenAI; the last two of the Responses API
        "seed", "frequency_penalty", "presence_penalty", "logit_bias", "reasoning_effort",
        "verbosity", "service_tier", "prompt_cache_retention", "text", "truncation",
        # OpenRouter; reasoning is also of the Responses API
        "reasoning", "include_reasoning", "provider", "usage", "top_k", "top_a", "min_p",
        "repetition_penalty",
        # Anthropic, DeepSeek, Qwen, Ollama; Gemini, whose extra_body has options once more; Mistral
        "thinking", "thinking_budget", "enable_thinking", "think", "keep_alive", "extra_body",
        "google", "safety_settings", "thinking_config", "safe_prompt", "random_seed", "prompt_mode",
        # vLLM, SGLang
        "chat_template_kwargs", "guided_json", "guided_regex", "guided_choice", "guided_grammar",
        "guided_decoding_backend", "guided_whitespace_pattern", "structured_outputs", "min_tokens",
        "priority", "skip_special_tokens", "spaces_between_special_tokens", "separate_reasoning",
        "regex", "ebnf",
        # llama.cpp; Groq has reasoning_format too; LiteLLM
        "repeat_penalty", "repeat_last_n", "typical_p", "mirostat", "mirostat_tau", "mirostat_eta",
        "dynatemp_range", "dynatemp_exponent", "dry_multiplier", "dry_base", "dry_allowed_length",
        "dry_penalty_last_n", "xtc_probability", "xtc_threshold", "samplers", "grammar",
        "json_schema", "cache_prompt", "reasoning_format", "reasoning_budget", "cache",
    }
)  # fmt: skip
# Compared with names without dashes and underscores; "max_tokens" is not a secret token.
_SECRET_NAME = re.compile(
    r"keys?$|auth|secret|passw|credential|cookie|bearer|headers?$|jwt|session|signature|certificate"
    r"|token$|^tokens$|passphrase"
)
_SECRET_VALUE = re.compile(
    r"\b(?:bearer|basic|token|apikey) +\S|(?<![a-z0-9])(?:[sprg]k|gsk|hf|xai|nvapi|pplx|gh[a-z]"
    r"|github_pat|glpat|xox[a-z])[-_]\w|-----begin|(?:key|token|secret|password)\s*[=:]",
    re.IGNORECASE,
)
# Longer runs are words, such as HARM_CATEGORY_HARASSMENT, or google-vertex/us-central1.
_RUN = re.compile(r"[\w+/=.~:-]{16,}")
_WORD = re.compile(r"(?:[A-Z]?[a-z]{2,14}(?:[A-Z][a-z]{2,14})*|[A-Z]{1,14}|[a-z])\d{0,2}|\d{1,4}")
_BETWEEN_WORDS = re.compile(r"[-_/.:=~+]+")
# Gateways would send the call to these addresses, with their own keys.
_ADDRESS_NAME = re.compile(
    r"ur[il]s?$|endpoint|^(?:api)?base$|host|prox(?:y|ies)|webhook|callback|address|server|domain"
)
_ADDRESS_VALUE = re.compile(
    r"//|\\\\|(?:^|\s)/\w|\.\./|%[0-9a-f]{2}"
    r"|(?:data|javascript|file|unix|mailto|urn|https?|wss?|ftp):|localhost"
    r"|\d\.\d+\.\d+\.\d|0x[0-9a-f]{7}|[0-9a-f]:{1,2}[0-9a-f]*:|::[0-9a-f]"
    r"|[a-z][\w.-]{0,63}:\d{2,5}\b|\w@\w|\w\.[a-z]{2,}(?![\w(])",
    re.IGNORECASE,
)
# What a server's template is given by the request itself.
_OF_TEMPLATES = frozenset(
    {"chat_template", "conversation", "documents", "messages", "tokenize", "tools"}
)
_ENDPOINTS = "; keys, addresses and headers belong to the endpoint"


def read_options(options: Any) -> dict[str, Any]:
    """Read and check options, from JSON or its text; empty for none.

    Raises:
        ValueError: they may not be sent; the message says why and what to do.
    """
    if isinstance(options, str):
        try:
            options = json.loads(options) if options.strip() else {}
        except (ValueError, RecursionError):
            raise ValueError(
                'request options are a JSON object, such as {"reasoning_effort": "low"}'
            ) from None
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError('request options are a JSON object, such as {"reasoning_effort": "low"}')
    stored = _storable(options)
    _check_names(stored)
    for name, value, _depth in _parts(stored):
        _check_secrets(name, value)
    return stored


def why_refused(options: Mapping[str, Any]) -> str:
    """Return why stored options, which an earlier version accepted or an archive brought, may not
    be sent, as a sentence; empty if they may."""
    try:
        read_options(options)
    except ValueError as error:
        return f"The judge's request options cannot be sent: {error}. Edit the judge."
    return ""


def options_text(options: Mapping[str, Any]) -> str:
    """Return options as JSON for editing and showing; empty for none."""
    return json.dumps(options, ensure_ascii=False) if options else ""


RequestOptions = Annotated[dict[str, Any], BeforeValidator(read_options)]


def _storable(options: Mapping[str, Any]) -> dict[str, Any]:
    for name, value, depth in _parts(options):
        _check(name, value, depth)
    if len(json.dumps(options, ensure_ascii=False)) > MOST_CHARACTERS:
        raise ValueError(f"request options have at most {MOST_CHARACTERS} characters")
    return dict(options)


# As they are stored; what may be sent is decided when a run starts or resumes, and at each call.
StoredOptions = Annotated[dict[str, Any], AfterValidator(_storable)]


def _check_names(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name in OWN_PARAMETERS:
            raise ValueError(f"“{name}” is set by the judge itself; leave it out")
        if name not in ALLOWED:
            raise ValueError(
                f"“{name}” is not an option that a judge may send{_ENDPOINTS}; allowed are"
                f" {', '.join(sorted(ALLOWED))}"
            )
        if name == "text" and isinstance(value, Mapping) and "format" in value:
            raise ValueError("“text.format” is set by the judge itself; leave it out")
        if name == "chat_template_kwargs" and isinstance(value, Mapping):
            for inner in sorted(_OF_TEMPLATES & value.keys()):
                raise ValueError(f"“{name}.{inner}” changes what is asked; leave it out")
        # Gateways put what is in there beside the rest.
        if name in ("extra_body", "google") and isinstance(value, Mapping):
            _check_names(value)


def _check_secrets(name: str, value: Any) -> None:
    bare = re.sub(r"[\W_]", "", _folded(name).lower())
    texts = [_folded(text) for text in (name, value) if isinstance(text, str)]
    runs = [run for text in texts for run in _RUN.findall(text)]
    if (
        _SECRET_NAME.search(bare)
        or any(map(_SECRET_VALUE.search, texts))
        or not all(map(_are_words, runs))
    ):
        raise ValueError(f"“{name[:30]}” has or names what looks like a key{_ENDPOINTS}")
    if _ADDRESS_NAME.search(bare) or any(map(_ADDRESS_VALUE.search, texts)):
        raise ValueError(f"“{name[:30]}” has or names what looks like an address{_ENDPOINTS}")


def _are_words(run: str) -> bool:
    *words, last = _BETWEEN_WORDS.split(run)
    return all(map(_WORD.fullmatch, words)) and (not last or _WORD.fullmatch(last) is not None)


def _folded(text: str) -> str:
    shown = (sign for sign in text if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFKC", "".join(shown)).replace("。", ".")


def _parts(options: Mapping[str, Any]) -> Iterator[tuple[str, Any, int]]:
    """Yield each value at any depth with its name (for a list's values: the list's) and its
    depth."""
    waiting: list[tuple[str, Any, int]] = [("", options, 0)]
    while waiting:
        name, value, depth = waiting.pop()
        yield name, value, depth
        if depth > MOST_DEPTH:
            continue  # the caller raises the error
        if isinstance(value, Mapping):
            waiting += [(inner, each, depth + 1) for inner, each in value.items()]
        elif isinstance(value, list):
            waiting += [(name, each, depth + 1) for each in value]


def _check(name: Any, value: Any, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise ValueError(f"request options are nested at most {MOST_DEPTH} deep")
    if not isinstance(name, str) or storable(name) != name:
        raise ValueError("a name in request options is not a text that can be stored")
    if value is None or isinstance(value, bool | Mapping | list):
        return
    if isinstance(value, str):
        if storable(value) != value:
            raise ValueError(f"“{name}” has characters that cannot be stored")
    elif isinstance(value, int):
        if abs(value) > MOST_INTEGER:
            raise ValueError(f"“{name}” is a number beyond 64 bits")
    elif not isinstance(value, float) or not math.isfinite(value):
        raise ValueError(f"“{name}” is no JSON number")
