"""Normalise texts by their looks: without invisible characters, in a single spelling. Pure.

Two texts that look the same are the same here, so that none can pass for another by letters that
only look like others. `storable` and `for_xml` change only what cannot be written.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Any
from unicodedata import category, decimal, normalize

# Invisible characters that are neither format nor control characters: joiners, fillers, the empty
# pattern of Braille, and the rest of Unicode's Default_Ignorable_Code_Point.
_UNSEEN = frozenset(
    map(
        chr,
        (
            *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xFFF0, 0xFFF9),
            *range(0xE0000, 0xE1000),
        ),
    )
)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
# Small letters that look like Latin ones: Cyrillic, Greek, Armenian, and Latin itself. Unicode's
# confusables.txt has more; no list is complete.
_LOOKALIKES = str.maketrans(
    "авсԁеһіјӏкмнорԛѕтѵѡхуүԝ" + "αεικνορτυχγϲσ" + "հոօզսցյ" + "ɑɡıɩᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "abcdehijlkmhopqstvwxyyw" + "aeikvoptuxyco" + "hnoqugj" + "agiiabcdeghijklmnoprstuvwyz",
)

# Letters that only one of two cases confuses with others, as the Greek nu does with N and v, and
# digits that look like letters. Not for display: whole groups become one letter.
_GROUPS = str.maketrans("vhyl10ηνυβζμ", "nnuiionnubzm")
# What looks like a letter of a group is of the group, too.
_GROUPED = (
    {letter: _GROUPS.get(like, like) for letter, like in _LOOKALIKES.items()}
    | _GROUPS
    | dict.fromkeys(map(ord, _UNSEEN))
)
_NEITHER_LETTER_NOR_DIGIT, _DIGIT = re.compile(r"[\W_]+"), re.compile(r"\d")


def folded(text: str) -> str:
    """Return what identifies a text: its letters and digits alone, by their looks, in lower case
    and without accents. Blanks, marks and look-alikes make no other text."""
    text = text.casefold()
    if not text.isascii():
        # Compatible forms of a letter have cases of their own, and these other forms.
        text = normalize("NFKD", normalize("NFKD", text).casefold())
        text = _DIGIT.sub(lambda digit: str(decimal(digit[0])), text)
    return _NEITHER_LETTER_NOR_DIGIT.sub("", text.translate(_GROUPED))


def plain(text: str) -> str:
    """Return a text as it looks: lower case, NFKC, no invisible characters."""
    return "".join(plain_characters(text))


def plain_characters(text: str, start: int = 0) -> Iterator[str]:
    """Yield the visible characters from a position on."""
    for place in range(start, len(text)):
        character = text[place]
        if character.isascii() and character.isprintable():
            yield character.lower()
        elif is_seen(character):
            yield from normalize("NFKC", character).casefold().translate(_LOOKALIKES)


def is_seen(character: str) -> bool:
    """Return whether a character is visible, or shown as a space."""
    if character.isspace():
        return True
    return character not in _UNSEEN and category(character) not in ("Cf", "Cc")


def storable(text: str) -> str:
    """Make a text storable in PostgreSQL: NUL and lone surrogates become replacement characters."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def storable_value(value: Any) -> Any:
    """Make all texts in a JSON value storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [storable_value(part) for part in value]
    if isinstance(value, dict):
        return {storable(name): storable_value(part) for name, part in value.items()}
    return value


def as_name(text: str) -> str:
    """Return a name as names are stored and compared: NFC, without characters that nobody sees and
    white space around it; joiners stay, as they change how letters look."""
    if text.isascii():
        return text.strip()
    seen = (letter for letter in normalize("NFC", text) if letter in JOINERS or is_seen(letter))
    return "".join(seen).strip() or text.strip()


def for_xml(text: str) -> str:
    """Make a text valid in XML: control and other non-printable characters become spaces."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))
