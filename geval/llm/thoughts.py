"""Remove a model's thoughts from its reply before anything reads it. Pure.

A reasoning model thinks before it answers. Some servers send the thought separately; others leave
it in the reply between tags, or without the opening tag where the chat template wrote that into the
prompt. A number in a thought is not a rating, and a thought is not an evaluation step.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from geval.llm.replies import ReplyChoice, Token

# One name for each pair: <think>, [THINK], <|START_THINKING|>, ◁think▷ and similar tags.
_NAMES = r"think(?:ing)?|thoughts?|reasoning|seed:think"
_TAG = re.compile(
    rf"(?P<open><(?:{_NAMES})>|\[think\]|◁think▷|<\|start_thinking\|>|<\|begin_of_thought\|>"
    # Harmony's channels: all but the final one are thoughts.
    r"|<\|thinking\|>|<unused94>(?:thought)?|<\|channel\|>(?!final)[^<>|]{0,60}<\|message\|>|<\|channel>thought)"
    rf"|(?P<close></(?:{_NAMES})>|\[/think\]|◁/think▷|<\|end_thinking\|>|<\|end_of_thought\|>"
    r"|<channel\|>|<\|/thinking\|>|<unused95>)"
    r"|(?P<frame><\|start\|>[^<>|]{0,40}|<\|channel\|>final[^<>|]{0,60}<\|message\|>"
    r"|<\|(?:end|return|call)\|>)",
    re.I,
)
# Where a server removed harmony's special tokens, only the names of its channels are left.
_BARE_HARMONY = re.compile(r"\s*analysis(?![a-z \n,.:;])")
_BARE_FINAL = "assistantfinal"


def without_thoughts(choice: ReplyChoice) -> ReplyChoice:
    """Reduce a reply to its answer; the thought is kept in `thought`, and `tokens` are those of the
    answer. A thought that never ended leaves no answer."""
    spans = answer_spans(choice.text)
    is_whole = spans == [(0, len(choice.text))] or not choice.text.strip()
    answer = choice.text if is_whole else "".join(choice.text[start:end] for start, end in spans)
    thought = choice.thought or ("" if is_whole else _outside(choice.text, spans))
    tokens = choice.tokens
    if tokens:
        tokens = _tokens_of(tokens, answer, has_thought=bool(thought))
    if is_whole and tokens is choice.tokens:
        return choice
    return replace(choice, text=answer.strip("\n"), thought=thought, tokens=tokens)


def answer_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the answer in a reply, as (start, end) of its parts."""
    if _BARE_HARMONY.match(text):
        final = text.rfind(_BARE_FINAL)
        return [(final + len(_BARE_FINAL), len(text))] if final >= 0 else []
    spans: list[tuple[int, int]] = []
    begins, thinking = 0, False
    for tag in _TAG.finditer(text):
        if tag["open"]:
            if not thinking:
                spans.append((begins, tag.start()))
            thinking = True
            continue
        if tag["close"] and not thinking:
            spans = []  # the template opened it: everything before is thought
        elif tag["frame"] and not thinking:
            spans.append((begins, tag.start()))
        begins, thinking = tag.end(), False
    if not thinking:
        spans.append((begins, len(text)))
    return [(start, end) for start, end in spans if text[start:end].strip()]


def _outside(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the part of a reply that is not its answer, without tags."""
    parts, begins = [], 0
    for start, end in [*spans, (len(text), len(text))]:
        parts.append(text[begins:start])
        begins = end
    return _TAG.sub("\n", "\n".join(parts)).strip()


def _tokens_of(
    tokens: tuple[Token, ...], answer: str, *, has_thought: bool
) -> tuple[Token, ...] | None:
    """Return the tokens of the answer; None where those of the thought cannot be separated."""
    joined = "".join(token.text for token in tokens)
    if _TAG.search(joined) or _BARE_HARMONY.match(joined):
        return _cut_tokens(tokens, answer_spans(joined))
    wanted = answer.strip()
    if not has_thought or joined.strip() == wanted:
        return tokens
    # The server removed the thought from the text, but not from the tokens.
    start = joined.rfind(wanted) if wanted else -1
    return _cut_tokens(tokens, [(start, start + len(wanted))]) if start >= 0 else None


def _cut_tokens(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> tuple[Token, ...]:
    """Return the tokens within spans of their joined text; a token across an edge is cut to the
    part inside."""
    kept: list[Token] = []
    begins = 0
    for token in tokens:
        ends = begins + len(token.text)
        for start, end in spans:
            low, high = max(begins, start), min(ends, end)
            if low < high:
                kept.append(_part(token, low - begins, high - begins))
        begins = ends
    return tuple(kept)


def _part(token: Token, low: int, high: int) -> Token:
    """Cut a token to a range of characters; alternatives that begin differently are left out."""
    if (low, high) == (0, len(token.text)):
        return token
    before = token.text[:low]
    alternatives = tuple(
        (text[low:], logprob) for text, logprob in token.alternatives if text.startswith(before)
    )
    return Token(token.text[low:high], token.logprob, alternatives)
