"""Validate what an endpoint sends: from the bytes of a reply to what a judge reads. Pure.

What decides a score (texts, tokens, log-probabilities) must be of its type, or the reply is
malformed. What only describes the reply (ids, names, counts) is left out where it is invalid. Texts
are cleaned of what PostgreSQL cannot hold. Whatever a server sends, this module raises only
MalformedError, or FailedError where an answer reports an error.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NotRequired

import orjson
from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from geval.llm.decisions import Protocol, TypedQuestion, reply_text
from geval.llm.replies import TOOL_CALL, EchoedToken, Reply, ReplyChoice, Token
from geval.llm.responses import as_chat_completion, failure_in, is_response, usage_as_chat
from geval.llm.streams import data_lines, is_stream, joined
from geval.llm.thoughts import without_thoughts
from geval.texts.spelling import storable, storable_value

# "Practically never", as some servers write it; JSON has no infinity.
NEVER = -9999.0
# A server may round a certain token slightly above 0.
MOST_LOGPROB = 0.01
# No call has as many tokens; a wrong count would make costs absurd.
MOST_COUNT = 100_000_000
# Hardly any token is longer, so only replies beyond the limit of tokens are cut.
MOST_CHARACTERS_A_TOKEN = 32
# Types of content parts with a thought: Mistral's, and others'.
_THOUGHT_PARTS = ("thinking", "reasoning", "thought")
# The database's columns for models and ids of requests have this length.
LONGEST_NAME = 200
# No protocol offers more than 20.
MOST_ALTERNATIVES = 100


class MalformedError(ValueError):
    """A reply is not what was requested; the message says what is wrong with it."""


class NoObjectError(MalformedError):
    """What came is no JSON object: a page, or nothing. No model writes that."""


def _logprob(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ValueError("a log-probability is a number")
    if value > MOST_LOGPROB:
        raise ValueError("a log-probability is at most 0")
    # Compared before it is converted: an integer may have more digits than a float.
    return float(max(NEVER, value))


@dataclass(frozen=True)
class _Content:
    """The content of a message: its text, and its thought where that is sent as a part."""

    text: str = ""
    thought: str = ""


def _content(value: Any) -> _Content:
    """Validate the content of a message: a text, None, or parts, of which those with text or
    thought count."""
    if value is None:
        return _Content()
    if isinstance(value, list):
        parts = [part for part in value if isinstance(part, dict)]
        written = [part.get("text") for part in parts if part.get("type") == "text"]
        texts = [text for text in written if isinstance(text, str)]
        thoughts = [_thought_in(part) for part in parts if part.get("type") in _THOUGHT_PARTS]
        # A reply cut within its thought has no text.
        if len(texts) == len(written) and (texts or thoughts):
            return _Content("".join(texts), "\n".join(filter(None, thoughts)))
    if not isinstance(value, str):
        raise ValueError("the content of a message is a text")
    return _Content(value)


def _thought_in(part: dict[str, Any]) -> str:
    """Return the text of a part that holds a thought: a text, or parts again, under one of two
    names."""
    held = part.get("thinking") or part.get("text")
    if isinstance(held, list):
        held = "\n".join(
            inner["text"]
            for inner in held
            if isinstance(inner, dict) and isinstance(inner.get("text"), str)
        )
    return held if isinstance(held, str) else ""


def _name(value: Any) -> str:
    return value[:LONGEST_NAME] if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_COUNT
    return value if is_count else None


_Logprob = Annotated[float, BeforeValidator(_logprob)]
_Parts = Annotated[Any, BeforeValidator(_content)]
# Fields that only describe a reply may be invalid without harm.
_Thought = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
_Name = Annotated[str, BeforeValidator(_name)]
_Count = Annotated[int | None, BeforeValidator(_count)]
_STRICT = ConfigDict(strict=True)


@with_config(_STRICT)
class _Alternative(TypedDict):
    token: str
    logprob: _Logprob


@with_config(_STRICT)
class _Token(TypedDict):
    token: str
    logprob: _Logprob
    top_logprobs: NotRequired[list[_Alternative] | None]


@with_config(_STRICT)
class _Logprobs(TypedDict):
    content: NotRequired[list[_Token] | None]


@with_config(_STRICT)
class _Message(TypedDict):
    content: NotRequired[_Parts]
    refusal: NotRequired[_Name]
    # The name used by vLLM, SGLang, DeepSeek and llama.cpp; then by OpenRouter and newer vLLM.
    reasoning_content: NotRequired[_Thought]
    reasoning: NotRequired[_Thought]
    tool_calls: NotRequired[Any]
    function_call: NotRequired[Any]


@with_config(_STRICT)
class _Choice(TypedDict):
    message: _Message
    finish_reason: NotRequired[_Name]
    logprobs: NotRequired[_Logprobs | None]


@with_config(_STRICT)
class _EchoedLogprobs(TypedDict):
    tokens: list[str]
    token_logprobs: list[_Logprob | None]


@with_config(_STRICT)
class _EchoedChoice(TypedDict):
    logprobs: _EchoedLogprobs


@with_config(_STRICT)
class _Usage(TypedDict):
    prompt_tokens: NotRequired[_Count]
    completion_tokens: NotRequired[_Count]
    total_tokens: NotRequired[_Count]
    prompt_tokens_details: NotRequired[Any]
    completion_tokens_details: NotRequired[Any]


@with_config(_STRICT)
class BatchRecord(TypedDict):
    """A batch as the endpoint describes it."""

    id: Annotated[str, Field(pattern=r"^[\w.:-]{1,200}$")]
    status: Annotated[str, Field(max_length=50)]
    output_file_id: NotRequired[Annotated[str, Field(pattern=r"^[\w.:-]{1,200}$")] | None]
    error_file_id: NotRequired[Annotated[str, Field(pattern=r"^[\w.:-]{1,200}$")] | None]
    metadata: NotRequired[Any]
    errors: NotRequired[Any]


_CHOICES = TypeAdapter(Annotated[list[_Choice], Field(min_length=1)])
_ECHOED = TypeAdapter(Annotated[list[_EchoedChoice], Field(min_length=1)])
_USAGE = TypeAdapter(_Usage)
_BATCH = TypeAdapter(BatchRecord)


def read_chat_answer(
    sent: Any,
    *,
    request_id: str = "",
    n: int = 1,
    most_tokens: int = 32_000,
    limit: int = 0,
) -> Reply:
    """Read the fields that we use from a chat completion, or from a reply of the Responses API.

    Args:
        sent: its bytes, or its JSON as parsed, as in a batch's results.
        n: choices that were requested; any more are ignored.
        most_tokens: the length at which a choice is cut, for servers that ignore the limit of a
            reply's length.
        limit: the token limit of a response, for servers that do not report that they have cut it;
            0 for others.

    Raises:
        MalformedError: it is neither.
        FailedError: it reports an error.
    """
    if isinstance(sent, bytes):
        sent = _streamed(sent) if is_stream(sent) else loads(sent)
    answer = _object(sent)
    if is_response(answer):
        try:
            answer = as_chat_completion(answer, limit=limit)
        except ValueError as error:
            raise MalformedError(str(error)) from None
    choices = answer.get("choices")
    checked_choices = _checked(
        _CHOICES, choices[:n] if isinstance(choices, list) else choices, "choices"
    )
    return _reply(
        answer, request_id, tuple(_choice(choice, most_tokens) for choice in checked_choices)
    )


def _streamed(content: bytes) -> dict[str, Any]:
    lines, is_ended = data_lines(content)
    chunks = [_object(loads(line)) for line in lines]
    try:
        return joined(chunks, is_ended=is_ended)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        why = error if type(error) is ValueError else "a part of its stream is no part of a reply"
        raise MalformedError(str(why)) from None


def read_echo_answer(content: bytes) -> Reply:
    """Read the tokens and log-probabilities of a legacy completion's JSON.

    Raises:
        MalformedError: there are none.
    """
    answer = _object(loads(content))
    choices = answer.get("choices")
    first = choices[:1] if isinstance(choices, list) else choices
    logprobs = _checked(_ECHOED, first, "choices")[0]["logprobs"]
    if len(logprobs["tokens"]) != len(logprobs["token_logprobs"]):
        raise MalformedError("it has not one log-probability for each token")
    echoed = tuple(map(EchoedToken, logprobs["tokens"], logprobs["token_logprobs"]))
    reply = _reply(answer, "", ())
    if reply.completion_tokens:
        echoed = echoed[:-1]  # the one token that had to be generated
    return replace(reply, choices=(ReplyChoice("", echoed=echoed),))


def read_decision(
    content: bytes,
    *,
    protocol: Protocol,
    questions: Sequence[TypedQuestion],
    request_id: str = "",
) -> Reply:
    """Read a decision model's answers, as a reply whose text is `decisions.reply_text`.

    Args:
        questions: the questions that were asked.

    Raises:
        MalformedError: there is no answer to any question, or answers cannot be matched with
            questions.
    """
    answer = _object(loads(content))
    try:
        text = reply_text(answer.get("answers"), questions, protocol)
    except ValueError as error:
        raise MalformedError(str(error)) from None
    # These protocols use the token names of the Responses API.
    usage = usage_as_chat(answer.get("usage"))
    return _reply(answer | {"usage": usage}, request_id, (ReplyChoice(text),))


def read_batch(content: bytes) -> BatchRecord:
    """Read a batch's record.

    Raises:
        MalformedError: it is not a batch.
    """
    batch: BatchRecord = _checked(_BATCH, _object(loads(content)), "batch")
    return batch


def read_batch_list(content: bytes) -> list[BatchRecord]:
    """Read a list of batches; invalid records are left out.

    Raises:
        MalformedError: it is not a list.
    """
    batch_list = []
    for record in _listed(content, "batches"):
        try:
            batch_list.append(_BATCH.validate_python(record))
        except ValidationError:
            continue
    return batch_list


def read_model_list(content: bytes) -> list[str]:
    """Read the names in a list of models; invalid records are left out.

    Raises:
        MalformedError: it is not a list.
    """
    names = [record.get("id") for record in _listed(content, "models") if isinstance(record, dict)]
    return [name for name in names if isinstance(name, str) and 0 < len(name) <= 200]


def _listed(content: bytes, what: str) -> list[Any]:
    listed = _object(loads(content)).get("data")
    if not isinstance(listed, list):
        raise MalformedError(f"it has no list of {what}")
    return listed


def read_id(content: bytes) -> str:
    """Read the id of a record, such as an uploaded file.

    Raises:
        MalformedError: it has no id.
    """
    record_id = _object(loads(content)).get("id")
    if not isinstance(record_id, str) or not record_id:
        raise MalformedError("it has no id")
    return record_id


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NoObjectError("it is not a JSON object")
    # Of a response an error may be a refusal.
    if not is_response(value) and (failure := failure_in(value)):
        raise failure
    return value


def loads(content: bytes) -> Any:
    r"""Parse an object as servers write it in practice: NaN, control characters and half of a
    "\ud83d\ude00" are accepted; bytes before it, which keep a connection alive, are left out.

    Texts are cleaned of what PostgreSQL cannot hold.

    Raises:
        MalformedError: it is not JSON, or is nested too deeply for Python.
    """
    try:
        value = orjson.loads(content)
        is_clean = b"\\u0000" not in content
    except orjson.JSONDecodeError:
        is_clean = False
        try:
            text = content[max(0, content.find(b"{")) :].decode("utf-8", "replace")
            value = json.loads(text, strict=False)
        except ValueError:
            raise NoObjectError("it is no JSON") from None
        except RecursionError:
            raise MalformedError("its JSON is nested too deeply") from None
    try:
        return value if is_clean else storable_value(value)
    except RecursionError:
        raise MalformedError("its JSON is nested too deeply") from None


def _checked(adapter: TypeAdapter[Any], value: Any, where: str) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in (where, *first["loc"]))
        raise MalformedError(f"{place[:200]}: {first['msg']}") from None


def _reply(answer: dict[str, Any], request_id: str, choices: tuple[ReplyChoice, ...]) -> Reply:
    usage = answer.get("usage")
    counted: _Usage = _USAGE.validate_python(usage) if isinstance(usage, dict) else {}
    tokens_in, tokens_out = counted.get("prompt_tokens"), counted.get("completion_tokens")
    thought = _detail(counted.get("completion_tokens_details"), "reasoning_tokens")
    # The completion tokens of Grok, and of Gemini at some gateways, leave out the thought, which is
    # billed with them; the total includes it.
    if tokens_in is not None and tokens_out is not None:
        total = counted.get("total_tokens") or 0
        if total >= tokens_in + tokens_out + thought:
            tokens_out += thought
    return Reply(
        choices=choices,
        model=_name(answer.get("model")),
        request_id=storable(request_id)[:LONGEST_NAME] or _name(answer.get("id")),
        prompt_tokens=tokens_in,
        completion_tokens=tokens_out,
        cached_tokens=min(
            _detail(counted.get("prompt_tokens_details"), "cached_tokens"), tokens_in or 0
        ),
        reasoning_tokens=min(thought, tokens_out or 0),
    )


def _detail(details: Any, name: str) -> int:
    """Return a count from a usage's details; 0 where there is none."""
    return (_count(details.get(name)) or 0) if isinstance(details, dict) else 0


def _choice(choice: _Choice, most_tokens: int) -> ReplyChoice:
    message, logprobs = choice["message"], choice.get("logprobs") or {}
    listed = logprobs.get("content")
    content = message.get("content", _Content())
    thought = (
        content.thought or message.get("reasoning_content", "") or message.get("reasoning", "")
    )
    most_characters = most_tokens * MOST_CHARACTERS_A_TOKEN
    is_cut = len(content.text) > most_characters or len(listed or ()) > most_tokens
    calls_tool = not content.text.strip() and any(map(message.get, ("tool_calls", "function_call")))
    ended = TOOL_CALL if calls_tool else choice.get("finish_reason") or "stop"
    return without_thoughts(
        ReplyChoice(
            text=content.text[:most_characters],
            finish_reason="length" if is_cut else ended,
            refusal=message.get("refusal", ""),
            thought=thought[:most_characters].strip(),
            tokens=None if listed is None else tuple(map(_token, listed[:most_tokens])),
        )
    )


def _token(token: _Token) -> Token:
    alternatives = token.get("top_logprobs") or ()
    return Token(
        text=token["token"],
        logprob=token["logprob"],
        alternatives=tuple(
            (other["token"], other["logprob"]) for other in alternatives[:MOST_ALTERNATIVES]
        ),
    )
