"""Texts in several languages: `[de]` begins the part for readers of German, alone on a line of a
text, and within a name, which has one line."""

import re

# The languages of annotators' pages and mails, by code, each with its own name.
LANGUAGES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "pt": "Português",
    "ja": "日本語",
    "zh-hans": "简体中文",
    "ar": "العربية",
}
_CODE = rf"\[({'|'.join(map(re.escape, LANGUAGES))})\]"
# A code at the end of a line is part of the text: "Rate texts [de]".
_IN_LINE = re.compile(rf"(?<![ \t])(?:^|[ \t]+){_CODE}[ \t]+(?=\S)", re.IGNORECASE)
_ON_A_LINE = re.compile(rf"^[ \t]*{_CODE}[ \t]*\r?$\n?", re.MULTILINE | re.IGNORECASE)


def part_in(text: str, language: str) -> str:
    """Return the part of a text for a language.

    Args:
        text: the part before the first code is for all languages without their own part; if it is
            empty, the first part is.
        language: a code of `LANGUAGES`.

    >>> part_in("Rate it.\\n[de]\\nBewerten Sie.", "de")
    'Bewerten Sie.'
    """
    return _part(_ON_A_LINE, text, language)


def name_in(name: str, language: str = "") -> str:
    """Return the part of a name, a title or a question for a language.

    Args:
        name: one line; see `part_in`.
        language: a code of `LANGUAGES`; "" for the part without a language.

    >>> name_in("Summaries [de] Zusammenfassungen", "de")
    'Zusammenfassungen'
    >>> name_in("Summaries [de] Zusammenfassungen")
    'Summaries'
    """
    return _part(_IN_LINE, name, language)


def _part(code: re.Pattern[str], text: str, language: str) -> str:
    first, *others = code.split(text)
    if not others:
        return text
    parts: dict[str, str] = {
        code.lower(): part.strip() for code, part in zip(*[iter(others)] * 2, strict=True)
    }
    return parts.get(language, first.strip() or next(iter(parts.values())))
