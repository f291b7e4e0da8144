"""A reply as it is read: in plain characters, without what only machines write. Pure.

Every character keeps its position: what is removed becomes spaces.
"""

import html
import re
import unicodedata
from functools import lru_cache

from geval.llm.rating_names import CRITERION, any_of
from geval.llm.reply_words import TO
from geval.llm.thoughts import answer_spans
from geval.statistics.scales import Scale, short

# Stands for the scale where a reply repeats it.
SCALE = "\x03"
_GAP = r"[^\S\n]{0,9}"
_ENTITY = re.compile(r"&(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,5}|[A-Za-z]{2,8});")
# Marks of chat templates, and of tokenizers for the beginning and end of a text.
_SPECIAL = re.compile(
    r"<\|[^<>|\n]{1,40}\|>|</?s>|<(?:eos|bos|pad|unk|sep|end_of_turn|start_of_turn)>|\[/?INST\]"
    r"|<\?[^<>]{0,100}\?>",
    re.I,
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\u20e3]")
_STARS = re.compile(r"(?P<full>[★⭐🌟]\s?(?:[★⭐🌟]\s?){0,9})(?P<empty>(?:☆\s?){0,9})(?![★⭐🌟☆])")
# Emphasis, quotation and JSON, and the marks of tokenizers for the beginning of a word; a number
# sign is markup only before a space.
_MARKUP = re.compile(r"[*_`\"{}“”„«»▁Ġ]|#(?=#|[^\S\n])|(?<=#)#(?=\S)")
# Between numbers an asterisk multiplies.
_PRODUCT = re.compile(r"(?<=\d)[^\S\n]?\*{1,2}[^\S\n]?(?=\d)")
_DOLLARS = re.compile(r"\$(?P<inside>[^$\n]{1,80})\$")
_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}(?:\"|\Z)|“[^”\n]{1,300}(?:”|\Z)|„[^“\n]{1,300}(?:“|\Z)"
    r"|«[^»\n]{1,300}(?:»|\Z)|「[^」\n]{1,300}(?:」|\Z)|(?<!\w)'[^'\n]{1,300}'(?!\w)"
)
_MARKED_POINT = re.compile(r"(?:[(\[]|\*\*)(?P<point>-?\d+)(?:[)\]]|\*\*)")
_ANGLED = re.compile(r"<([^\S\n]?\d{1,4}(?:[.,]\d)?[^\S\n]?)>")
_LONE = re.compile(rf"\W*(?:[^\W\d]+|\d+(?:[.,]\d+)?(?:\s?/\s?\d+)?|{CRITERION}+)\W*")


def plain_characters(text: str) -> str:
    """Convert full-width characters and digits of any script to ASCII; every character keeps its
    position."""
    return text if text.isascii() else "".join(map(_ascii_character, text))


@lru_cache(maxsize=4096)
def _ascii_character(character: str) -> str:
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    normal = unicodedata.normalize("NFKC", character)
    return normal if len(normal) == 1 else character


def readable(text: str) -> str:
    """Return a reply in plain characters, without thoughts, special tokens and invisible
    characters."""
    plain = plain_characters(text)
    if "&" in plain:
        plain = _ENTITY.sub(_decoded, plain)
    kept = [" "] * len(plain)
    for start, end in answer_spans(plain):
        kept[start:end] = plain[start:end]
        if start:
            kept[start - 1] = "\n"
    plain = "".join(kept)
    plain = _SPECIAL.sub(lambda token: "\n" + " " * (len(token[0]) - 1), plain)
    return plain if plain.isascii() else _INVISIBLE.sub(" ", plain)


def _decoded(entity: re.Match[str]) -> str:
    character = html.unescape(entity[0])
    character = plain_characters(character) if len(character) == 1 else " "
    width = len(entity[0])
    return character.rjust(width) if character == "<" else character.ljust(width)


def with_counted_stars(text: str, scale: Scale) -> str:
    """Write rows of stars as their number: "★★★★☆" as 4 on a scale up to 5."""

    def counted(stars: re.Match[str]) -> str:
        full, empty = (sum(not sign.isspace() for sign in stars[part]) for part in (1, 2))
        is_row = full > 1 or empty
        if not is_row or (empty and full + empty != scale.highest):
            return stars[0]
        return str(full).ljust(len(stars[0])) if full < 10 else stars[0]

    return text if text.isascii() else _STARS.sub(counted, text)


def without_quotations(text: str) -> str:
    """Blank out what a sentence quotes; a quotation that is all of a line, or a lone word or
    number, is the reply's own."""

    def blanked(quotation: re.Match[str]) -> str:
        line = text.rfind("\n", 0, quotation.start()) + 1
        before = text[line : quotation.start()][-40:]
        is_reply = not re.search(rf"[\w{CRITERION}]", before) or _LONE.fullmatch(quotation[0])
        return quotation[0] if is_reply else " " * len(quotation[0])

    return _QUOTED.sub(blanked, text)


def without_markup(text: str) -> str:
    """Convert marks of emphasis, quotation and JSON to spaces."""
    if "$" in text:
        text = _DOLLARS.sub(lambda math: f" {math['inside']} ", text)
    if "*" in text:
        text = _PRODUCT.sub(lambda product: "×" * len(product[0]), text)
    return _MARKUP.sub(" ", _ANGLED.sub(r" \1 ", text))


def without_scale(text: str, scale: Scale) -> str:
    """Blank out the scale where the reply repeats it ("1-5", "on a scale of 1 (worst) to 5", "1, 2,
    3, 4, 5"), so that its ends are not read as ratings."""
    for pattern in scale_patterns(scale):
        text = pattern.sub(_without_range, text)
    return text


def _without_range(written: re.Match[str]) -> str:
    """Blank out a scale; where it begins a line, what follows begins one. Of points of which a
    single one is marked, that one stays: "1 2 3 (4) 5"."""
    marked = list(_MARKED_POINT.finditer(written[0]))
    if len(marked) == 1:
        start, end = marked[0].span("point")
        return f"{' ' * (start - 1)}\n{written[0][start:end]}\n{' ' * (len(written[0]) - end - 1)}"
    line = written.string.rfind("\n", 0, written.start()) + 1
    is_phrase = any(map(str.isalpha, written[0])) or "," in written[0]
    begins_line = is_phrase and not written.string[line : written.start()].strip(" -•*")
    return SCALE + " " * (len(written[0]) - 2) + ("\n" if begins_line else " ")


@lru_cache(maxsize=512)
def _patterns_of(lowest: str, highest: str, points: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    low, high = re.escape(lowest), re.escape(highest)
    to = any_of(TO)
    ends = (
        rf"(?:\b(?:on|using){_GAP}(?:an?|the){_GAP})?(?:\bscale{_GAP})?(?:\b(?:of|from|between){_GAP})?"
        rf"(?<![\d.,]){low}(?![\d.,]\d){_GAP}(?:\([^)\n]{{0,30}}\){_GAP})?"
        rf"(?:[-–—~]|(?:{to})(?![A-Za-z])){_GAP}{high}(?!\.?\d)(?:{_GAP}\([^)\n]{{0,30}}\))?"
        rf"(?:{_GAP}(?:points?{_GAP})?scale\b)?"
    )
    explained = (
        rf"\b(?:where|with){_GAP}{low}\b[^.,;\d\n]{{1,60}}(?:,?{_GAP}and)?{_GAP}{high}\b"
        r"[^.,;:\d\n]{0,60}"
    )
    each = (rf"[(\[*]{{0,2}}{re.escape(point)}[)\]*]{{0,2}}" for point in points)
    listed = r"[^\S\n,|/]{0,3}[,|/ ][^\S\n]{0,3}".join(each) + r"(?![\d.]\d)"
    patterns = [ends, explained] + ([listed] if 2 < len(points) <= 11 else [])
    return tuple(re.compile(pattern, re.I) for pattern in patterns)


def scale_patterns(scale: Scale) -> tuple[re.Pattern[str], ...]:
    points = tuple(map(short, scale.points)) if len(scale.points) <= 11 else ()
    return _patterns_of(short(scale.lowest), short(scale.highest), points)
