"""Check a record's fields; errors are collected with their place and what to do. Pure."""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import orjson

from geval.files.rater_names import words
from geval.files.rows import FileErrors, is_text
from geval.statistics.locked_rule import GROUP
from geval.statistics.scales import PAIRS, is_number, value_in_pair
from geval.texts.sentences import shortened
from geval.texts.spelling import as_name, storable
from geval.texts.spreadsheets import unguarded

# The lengths of the database's columns for names; beyond them a load would fail at its end.
ID_LIMIT = 200
CRITERION_LIMIT = 100
# Metadata are labels to filter by, not texts.
METADATA_LIMIT = 1000
# What annotators may write, and files may have, so that exported ratings can be loaded again.
COMMENT_LIMIT = 10_000
# What is noted where texts have characters that the database cannot store.
UNSTORABLE = "characters that cannot be stored, now �"
# The longest text that may name a point of a scale.
WORD_LIMIT = 200
SESSION = "session_id"
# Which of several scores of a judge for the same output.
REPEAT = "repeat"
# Not with three digits after the comma, unless a zero precedes: 1,234 may be a thousand.
DECIMAL_COMMA = re.compile(r"[+-]?(\d+,(\d{1,2}|\d{4,})|0,\d+)")
# Words such as "yes" or "very good": without digits, and not a program's NaN or infinity.
LABEL = re.compile(r"\s*(?!(nan|inf(inity)?|none|null|n\.a)\W*$)[^\W\d_][^\d]*", re.IGNORECASE)
# A judge's reply with a form: "<score>4</score>", {"score": 4}, "Score: 4". Others are sentences.
FORM = re.compile(
    r"<(\w+)>.*</\1>|^\s*(?:```\w*\s*)?\{.*\}"
    r"|^\s*\*\*[^*]+\*\*"
    r"|(?<!\w)(?:answer|category|class|decision|grade|judge?ment|label|rating|score|verdict)"
    r"\W{0,3}[:=]",
    re.IGNORECASE | re.DOTALL,
)
LEAST_OF_A_SENTENCE = 4
# What people, spreadsheets and programs write into a cell without a rating.
MISSING = frozenset(
    ("", "n/a", "na", "#n/a", "#na", "#nv", "n.a.", "<na>", "nan", "none", "null", "nil", "k.a.",
     "-", "--", "–", "—", ".")
)  # fmt: skip
# Those that may be a label.
MISSING_WORDS = frozenset(("n.a.", "none", "null", "nil"))
# Answers, where others only left a cell empty.
NOT_APPLICABLE = frozenset(
    ("n/a", "not applicable", "cannot assess", "can't assess", "cannot judge", "unable to assess")
)
# "1.000" may be a thousand beside whole numbers above 100, as "1,000" may be anywhere.
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
_NUMBER = r"(?P<number>[+-]?(?:0|[1-9]\d*)(?:[.,]\d+)?)"
_WORDS = r"[^\W\d_][^\d]*"
# A point with its name: "4 - good", "2: poor", "good (4)"; and with the highest one: "4/5".
_NAMED_POINT = re.compile(
    rf"{_NUMBER}\s*[-–—:=.)(|]\s*{_WORDS}|{_WORDS}\({_NUMBER.replace('number', 'behind')}\)"
)
_OUT_OF = re.compile(rf"{_NUMBER}\s*(?:/|out of|of|von|sur|de|di)\s*(?P<top>\d+)", re.IGNORECASE)
# Spreadsheets turn "4-5" into a date, which they write as 04.Mai or 5-Apr.
_MONTHS = words(
    """
    jan january januar janvier enero ene gennaio gen janeiro feb february februar février févr fév
    febrero febbraio fevereiro fev mar march märz mär mars marzo março apr april avril avr abril abr
    aprile may mai mayo maggio mag maio jun june juni juin junio giugno giu junho jul july juli
    juillet juil julio luglio lug julho aug august août agosto ago sep sept september septembre
    septiembre settembre set setembro oct october oktober okt octobre octubre ottobre ott outubro
    nov november novembre noviembre novembro dec december dezember dez décembre déc diciembre dic
    dicembre dezembro
    """
)
# Longer cells are texts, which may begin with the number of a list.
_LONGEST_POINT = 60
# The number of an object in a cell, as Label Studio writes them: [{"rating": 3}].
_NUMBER_NAMES = ("rating", "number", "score", "value", "choices")


def is_missing(value: Any, answers: Collection[str] = ()) -> bool:
    """Return whether a cell for a number says that there is none.

    Args:
        answers: words that are ratings, in lower case, though they usually say that there is none:
            `none` may be the name of a label.
    """
    if not isinstance(value, str):
        return value is None
    plain = value.strip().lower()
    return (plain in MISSING and plain not in answers) or is_not_applicable(value)


def is_not_applicable(value: Any) -> bool:
    """Return whether a cell for a number says that a criterion does not apply, or that somebody
    cannot assess it."""
    return isinstance(value, str) and value.strip().lower() in NOT_APPLICABLE


class Place:
    """A line of a file and the collection of its errors; `sound` until an error is added."""

    def __init__(self, file: str, line: int, errors: FileErrors) -> None:
        self.file = file
        self.line = line
        self.errors = errors
        self.sound = True

    def error(self, column: str, message: str) -> None:
        self.sound = False
        self.errors.add(self.file, self.line, column, message)

    def limited(self, value: str, limit: int, column: str) -> str:
        """Return a text; too long a text is an error."""
        if len(value) > limit:
            self.error(column, f"{len(value)} characters; the limit is {limit}")
        return self.clean(value, column)

    def name(self, value: str, column: str, limit: int = ID_LIMIT) -> str:
        """Return a name as names are compared, without the apostrophe that keeps it from being a
        formula in our CSV."""
        return self.limited(unguarded(as_name(value)), limit, column)

    def clean(self, value: str, column: str) -> str:
        """Return a text that the database can store, if it is no longer than the site allows."""
        if len(value) > self.errors.field_limit:
            most = self.errors.field_limit // 2**20
            self.error(column, f"longer than {most:,} MB, which is the limit; shorten it")
        elif "\0" in value:
            self.error(column, "contains a NUL character, which cannot be stored; remove it")
        elif not is_text(value):
            self.error(column, "is not valid UTF-8 text; save the file as UTF-8")
        return value


class Fields:
    """A record of a file, read field by field; errors name the line and the field."""

    def __init__(self, record: Mapping[str, Any], place: Place) -> None:
        self.record = record
        self.place = place

    def identifier(self, column: str) -> str:
        """Return a short text or whole number that names something."""
        value = self.record.get(column)
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            given = "nothing" if value is None or value == "" else shown(value)
            self.place.error(
                column, f"expected a short text or whole number that names it, found {given}"
            )
            return ""
        return self.place.name(str(value), column)

    def session(self, column: str = SESSION) -> str:
        """Return the session that a document is a turn of; empty if there is none. A whole number
        may be a float, as in columns with missing values."""
        value = self.record.get(column)
        if is_missing(value):
            return ""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return Fields({column: value}, self.place).identifier(column)

    def group(self) -> str:
        """Return the group of a document, whose documents are alike; empty if there is none."""
        return self.session(GROUP)

    def text(self, column: str, *, required: bool = False, may_be_blank: bool = False) -> str:
        value = _as_text_of(self.record.get(column))
        if value is None and not required:
            return ""
        if not isinstance(value, str):
            self.place.error(
                column, f"expected a text, found {'nothing' if value is None else kind(value)}"
            )
            return ""
        if required and not may_be_blank and not value.strip():
            self.place.error(column, "expected a text, found nothing")
        return self._stored(value, column)

    def _stored(self, text: str, column: str) -> str:
        """Return a text with replacement characters for NULs, which are noted."""
        if "\0" in text and is_text(text):
            self.place.errors.unused.add(self.place.file, UNSTORABLE)
            text = storable(text)
        return self.place.clean(text, column)

    def texts(self, *columns: str) -> tuple[str, ...]:
        """Return one text or a list of texts from the first of these columns that exists."""
        value = next((self.record[column] for column in columns if column in self.record), None)
        if value is None or value == "":
            return ()
        listed = [*map(_as_text_of, value if isinstance(value, list) else [value])]
        if not all(isinstance(text, str) for text in listed):
            self.place.error(columns[-1], f"expected a list of texts, found {kind(value)}")
            return ()
        return tuple(self._stored(text, columns[-1]) for text in listed if text is not None)

    def numbers(self, column: str) -> Iterator[tuple[str, float]]:
        """Return an object of names and finite numbers."""
        value = self.record.get(column)
        if value is None:
            return
        if not isinstance(value, dict):
            self.place.error(
                column, f"expected an object of criterion and number, found {kind(value)}"
            )
            return
        for name, given in value.items():
            if is_missing(given):
                continue
            number = number_of(given)
            if number is None:
                self.place.error(f"{column}.{name}", not_a_number(given))
            else:
                yield self.place.name(str(name), column, CRITERION_LIMIT), number

    def metadata(self) -> dict[str, str]:
        """Return other information about a document: an object `metadata` of short values, or
        fields `metadata.NAME`; and its group."""
        given = self.record.get("metadata")
        if given is not None and not isinstance(given, dict):
            self.place.error("metadata", f"expected an object, found {kind(given)}")
            return {}
        dotted = {
            name[9:]: self.record[name] for name in self.record if name.startswith("metadata.")
        }
        group = self.group()
        metadata = {GROUP: group} if group else {}
        for name, value in {**(given or {}), **dotted}.items():
            if value is None or value == "":
                continue
            if isinstance(value, dict | list):
                self.place.error(
                    f"metadata.{name}", f"expected a text or number, found {kind(value)}"
                )
                continue
            written = str(value).lower() if isinstance(value, bool) else str(value)
            metadata[self.place.limited(str(name).strip(), ID_LIMIT, "metadata")] = (
                self.place.limited(written, METADATA_LIMIT, f"metadata.{name}")
            )
        return metadata


def only_of(value: Any) -> Any:
    """Return the only element of a list, such as a choice, or the number of an object such as
    Label Studio's {"rating": 3}; anything else unchanged."""
    if isinstance(value, list) and len(value) == 1:
        return only_of(value[0])
    if isinstance(value, dict):
        named = [value[name] for name in _NUMBER_NAMES if name in value]
        return only_of(named[0]) if len(named) == 1 else value
    return value


def _as_text_of(value: Any) -> Any:
    """Return a number as the text that it is written as: answers to sums are numbers."""
    is_plain = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_plain and math.isfinite(value) else value


def number_of(value: Any) -> float | None:
    """Return a JSON value as a finite number, or None; true and false are not numbers."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool) and is_number(value)
    return float(value) if is_one else None


def written_number(text: str) -> float | None:
    """Parse a finite number as written in a table, with a decimal point or comma; alone in a list,
    or after the apostrophe by which spreadsheets mark a text.

    Unlike `float()`, refuse "1_000", "nan" and "inf"; and "1,234", which is ambiguous.
    """
    plain = text
    if "," in text:
        if not DECIMAL_COMMA.fullmatch(text.strip()):
            return _bare_number(text)
        plain = text.replace(",", ".")
    try:
        value = float(plain)
    except ValueError:
        return _bare_number(text)
    return value if is_number(value) and "_" not in text else None


# No cell with a number is longer; texts need not be searched for invisible characters.
_LONGEST_BARE = 200


def _bare_number(text: str) -> float | None:
    """Return the number of a cell that has it in a list, an object or after an apostrophe."""
    if len(text) > _LONGEST_BARE:
        return None
    bare = as_name(text).replace("−", "-")
    if bare != text:
        return written_number(bare)
    if bare[:1] == "'":
        return written_number(bare.strip("'"))
    if not (bare.startswith(("[", "{")) and bare.endswith(("]", "}"))):
        return None
    try:
        value = orjson.loads(bare)
    except ValueError:
        inner = bare[1:-1].strip()
        is_quoted = bare[0] == "[" and len(inner) > 2 and inner[0] == inner[-1] == "'"
        return written_number(inner[1:-1]) if is_quoted and "'" not in inner[1:-1] else None
    value = only_of(value)
    return number_in(value) if isinstance(value, str) else number_of(value)


def point_with_name(text: str) -> float | None:
    """Return the number of a point that is written with its name ("4 - good"), or with the highest
    one ("4/5"); None for any other text."""
    bare = text.strip()
    if len(bare) > _LONGEST_POINT:
        return None
    match = _NAMED_POINT.fullmatch(bare) or _OUT_OF.fullmatch(bare)
    if match is None or bare.lower().rstrip(".").lstrip("0123456789.-/ ") in _MONTHS:
        return None
    number = written_number(match["number"] or match.groupdict().get("behind") or "")
    top = top_in(bare)
    return None if number is None or (top is not None and number > top) else number


def top_in(text: str) -> float | None:
    """Return the highest point that a rating such as "4/5" states; None if it states none."""
    match = _OUT_OF.fullmatch(text.strip())
    return float(match["top"]) if match else None


def number_in(text: str) -> float | None:
    """Return the number of a rating: alone, or with its point's name or the highest point."""
    number = written_number(text)
    return point_with_name(text) if number is None else number


def number_or_word(value: Any) -> tuple[float, str] | None:
    """Return a rating as its number, or as NaN and the word that it is written as; None if it is
    neither. What a word stands for, and a number such as "1.000", depends on its criterion
    (`word_ratings`)."""
    value = only_of(value)
    if isinstance(value, bool):
        return math.nan, str(value).lower()
    number = written_number(value.strip()) if isinstance(value, str) else number_of(value)
    if number is not None:
        is_unclear = isinstance(value, str) and THOUSANDS.fullmatch(value.strip())
        return (math.nan, value.strip()) if is_unclear else (number, "")
    is_word = isinstance(value, str) and len(value) <= WORD_LIMIT
    return (math.nan, value.strip()) if is_word else None


def is_reply(value: Any) -> bool:
    """Return whether a judge's cell is its reply, not its score: a form, or a sentence."""
    if not isinstance(value, str) or written_number(value.strip()) is not None:
        return False
    if point_with_name(value) is not None:
        return False
    is_marked = value.strip() != value.strip().strip("*_`")
    return is_marked or bool(FORM.search(value)) or len(value.split()) >= LEAST_OF_A_SENTENCE


def not_a_number(value: Any) -> str:
    """Return the error message for a cell that should have a number and does not."""
    hint = ""
    if isinstance(value, bool) or (isinstance(value, str) and value_in_pair(value) is not None):
        hint = "; write 1 or 0 here"
    elif isinstance(value, str) and LABEL.fullmatch(value):
        *pairs, last = (f"{pair[0][0]}/{pair[1][0]}" for pair in PAIRS)
        hint = (
            f"; words are read as 1 and 0 if they are {', '.join(pairs)} or {last}; write others as"
            " numbers, such as 1 for good and 0 for bad"
        )
    return f"expected a number, found {shown(value)}{hint}"


def shown(value: Any) -> str:
    """Return a value for messages, cut where it is long."""
    text = repr(value) if isinstance(value, str) else as_text(value) or "nothing"
    return shortened(text, 60)


def as_text(value: Any) -> str:
    """Return a record's value as a cell of a table shows it: texts unchanged, everything else as
    JSON."""
    if isinstance(value, str) or value is None:
        return value or ""
    try:
        return orjson.dumps(value, default=str).decode()
    except orjson.JSONEncodeError:  # a lone surrogate, or a number with hundreds of digits
        return str(value)


def kind(value: Any) -> str:
    """Return the type of a JSON value, in words."""
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        type(None): "nothing",
    }
    return names.get(type(value), "a number")
