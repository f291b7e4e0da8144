"""What calls cost, and how many tokens a text will be. Pure.

Prices are in money for a million tokens, in whatever currency the endpoint bills. Tokens are
estimated from characters: without a model's own tokeniser nothing better is known before the first
call.
"""

import math
from dataclasses import dataclass
from decimal import Decimal

CHARACTERS_A_TOKEN = 4.0
# For budgets, where being wrong costs money: no common tokeniser needs more tokens than this for
# running text.
FEWEST_BYTES_A_TOKEN = 2.0
BATCH_DISCOUNT = Decimal("0.5")
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Prices:
    """Prices of a million tokens in and out, and of those in that were cached (None: as others),
    with the share that is left of them (0.5 in batches)."""

    tokens_in: Decimal
    tokens_out: Decimal
    share: Decimal = Decimal(1)
    tokens_cached: Decimal | None = None


def cost(
    prompt_tokens: int, completion_tokens: int, prices: Prices | None, *, cached_tokens: int = 0
) -> Decimal | None:
    """Money for tokens; None without prices.

    Args:
        cached_tokens: how many of the prompt's were; all are at the full price where nothing is
            known of them, as before a call.
    """
    if prices is None:
        return None
    full = (prompt_tokens * prices.tokens_in + completion_tokens * prices.tokens_out) / _MILLION
    if prices.tokens_cached is not None:
        full -= cached_tokens * (prices.tokens_in - prices.tokens_cached) / _MILLION
    return full * prices.share


def estimated_tokens(characters: int) -> int:
    """About how many tokens a text of so many characters is."""
    return math.ceil(characters / CHARACTERS_A_TOKEN)


def most_tokens(utf8_bytes: int) -> int:
    """An upper bound of the tokens of running text, for reservations."""
    return math.ceil(utf8_bytes / FEWEST_BYTES_A_TOKEN)
