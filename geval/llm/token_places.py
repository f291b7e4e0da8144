"""Where a character of a message is within the reply's tokens. Pure.

The message is what is read, the tokens are what is weighted, and the two may differ: servers list
tokens that they took off the message (a code fence around JSON), or write blanks as tokenizers do
("Ġ", "▁", "Ċ").
"""

import re
from collections.abc import Sequence

from geval.llm.replies import Token

_SOLID = re.compile(r"[^\s▁ĠĊ]")


def place_in_tokens(tokens: Sequence[Token], text: str, position: int) -> tuple[int, int] | None:
    """Return the index of the token that holds a character of the message, and the character's
    offset in it; None where the message is not within the tokens, or more than once."""
    joined = "".join(token.text for token in tokens)
    if joined != text:
        places = [match.start() for match in _SOLID.finditer(joined)]
        listed, message = _solid(joined), _solid(text)
        start = listed.find(message)
        if start < 0 or listed.find(message, start + 1) >= 0:
            return None
        position = places[start + len(_solid(text[:position]))]
    return _token_at(tokens, position)


def _solid(text: str) -> str:
    return "".join(_SOLID.findall(text))


def _token_at(tokens: Sequence[Token], position: int) -> tuple[int, int] | None:
    begins = 0
    for index, token in enumerate(tokens):
        if begins <= position < begins + len(token.text):
            return index, position - begins
        begins += len(token.text)
    return None
