"""The cost of calls, and estimates of a text's tokens. Pure.

Prices are per million tokens, in the currency that the endpoint bills. Tokens are estimated from
characters: without the model's tokeniser nothing better is available before the first call.
"""

import math
from dataclasses import dataclass, replace
from decimal import Decimal

from geval.llm.replies import Reply

# OpenAI's rule of thumb for English.
CHARACTERS_A_TOKEN = 4.0
# For budgets, where an underestimate costs money: no common tokeniser needs more tokens than this
# for running text.
FEWEST_BYTES_A_TOKEN = 2.0
BATCH_DISCOUNT = Decimal("0.5")
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Prices:
    """Prices per million input tokens, output tokens and cached input tokens (None: like other
    input), and the factor by which they are multiplied (0.5 in batches)."""

    tokens_in: Decimal
    tokens_out: Decimal
    share: Decimal = Decimal(1)
    tokens_cached: Decimal | None = None


def cost(
    prompt_tokens: int, completion_tokens: int, prices: Prices | None, *, cached_tokens: int = 0
) -> Decimal | None:
    """Return what tokens cost; None without prices.

    Args:
        cached_tokens: how many of the prompt's tokens were cached; 0 means that all are at the full
            price, as before a call.
    """
    if prices is None:
        return None
    full = (prompt_tokens * prices.tokens_in + completion_tokens * prices.tokens_out) / _MILLION
    if prices.tokens_cached is not None:
        full -= cached_tokens * (prices.tokens_in - prices.tokens_cached) / _MILLION
    return full * prices.share


def estimated_tokens(characters: int) -> int:
    """Estimate the tokens of a text from its number of characters."""
    return math.ceil(characters / CHARACTERS_A_TOKEN)


def with_counts(reply: Reply, prompt_tokens: int) -> Reply:
    """Return a reply with token counts: those that the server does not state, and zeros for a
    text, are estimated, so that budgets hold.

    Args:
        prompt_tokens: an estimate of the prompt's.
    """
    if reply.prompt_tokens and reply.completion_tokens:
        return reply
    written = sum(len(choice.text) + len(choice.thought) for choice in reply.choices)
    written_tokens = estimated_tokens(written)
    if reply.completion_tokens is None:
        written_tokens = max(1, written_tokens)
    return replace(
        reply,
        prompt_tokens=reply.prompt_tokens or prompt_tokens,
        completion_tokens=reply.completion_tokens or written_tokens,
    )


def most_tokens(utf8_bytes: int) -> int:
    """Return an upper bound on the tokens of running text, for reserving budget."""
    return math.ceil(utf8_bytes / FEWEST_BYTES_A_TOKEN)
