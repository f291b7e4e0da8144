"""Texts that hold themselves in several languages: parts that begin with a line such as `[de]`."""

import re
from collections.abc import Collection


def part_in(text: str, language: str, languages: Collection[str]) -> str:
    """The part of a text for a language.

    Args:
        text: what stands before the first line such as `[de]` is for all languages without a part
            of their own; if nothing does, the first part is.
        language: a code of `languages`, in small letters.
        languages: the codes that begin a part; other lines in brackets are text.

    >>> part_in("Rate it.\\n[de]\\nBewerten Sie.", "de", ("de", "fr"))
    'Bewerten Sie.'
    >>> part_in("Rate it.\\n[de]\\nBewerten Sie.", "fr", ("de", "fr"))
    'Rate it.'
    """
    codes = "|".join(map(re.escape, languages))
    head = re.compile(rf"^[ \t]*\[({codes})\][ \t]*\r?$\n?", re.MULTILINE | re.IGNORECASE)
    first, *others = head.split(text)
    if not others:
        return text
    parts: dict[str, str] = {
        code.lower(): part.strip() for code, part in zip(*[iter(others)] * 2, strict=True)
    }
    return parts.get(language, first.strip() or next(iter(parts.values())))
