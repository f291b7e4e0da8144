"""The contents of an archive's fields: the shape of each JSON field, as pages and workers read it,
and whether a value is of its column's type.
"""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from geval.files.archive.record_file import WrongValueError
from geval.files.certificates import first_problem
from geval.files.limits import has_more_names, is_too_deep, too_deep
from geval.statistics.locked_rule import LEAST_SHARE, MOST_LOOKS, MOST_SHARE
from geval.statistics.scales import is_number

Entry = TypeVar("Entry")
# Only the first invalid value is reported: an error takes a kilobyte for each.
Entries = Annotated[list[Entry], Field(fail_fast=True)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e12, le=1e12)]
# A log-probability, or a share of probability.
LogProbability = Annotated[float, Field(allow_inf_nan=False, ge=-1e12, le=1e-6)]
Share = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1 + 1e-6)]
Choice = Annotated[int, Field(ge=-2, le=2)]
Rank = Annotated[int, Field(ge=1, le=9)]
# The most names that a value may have: each may have an error, which takes a kilobyte.
MOST_NAMES = 200_000


def _without_nul(text: str) -> str:
    """PostgreSQL stores no NUL."""
    if "\0" in text:
        raise ValueError("has a character NUL")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]


class _Shape(BaseModel):
    # Fields that nobody reads are dropped: they could be nested too deeply.
    model_config = ConfigDict(strict=True, extra="forbid")


# Conversations and replies


class StoredCall(_Shape):
    """A tool that a turn called (geval/texts/turns.py)."""

    name: Text = ""
    arguments: Text = ""
    result: Text | None = None
    id: Text = ""


class StoredTurn(_Shape):
    """What one speaker said (geval/texts/turns.py)."""

    role: Text
    text: Text = ""
    name: Text = ""
    time: Text = ""
    tool_calls: Entries[StoredCall] = []
    attachments: Entries[Text] = []
    number: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class StoredQuestion(_Shape):
    """A short question to people (geval/texts/short_questions.py)."""

    text: Text
    kind: Literal["choice", "number", "text"]
    options: Entries[Text]
    quotas: dict[Text, Count]


class StoredChoice(_Shape):
    """One reply (llm/reply_json.py)."""

    text: Text
    finish_reason: Text
    refusal: Text = ""
    thought: Text = ""
    tokens: Entries[tuple[Text, LogProbability, Entries[tuple[Text, LogProbability]]]] | None = None
    echoed: Entries[tuple[Text, LogProbability | None]] | None = None


# Searches


class LockDrawn(_Shape):
    """What was drawn, in an event."""

    seed: str = Field(max_length=32)
    share: float = Field(ge=LEAST_SHARE, le=MOST_SHARE)
    looks_allowed: int = Field(ge=1, le=MOST_LOOKS)
    by_group: bool = False


class ConstantOfLook(_Shape):
    """The best constant beside a candidate on locked documents."""

    value: Number
    distance: Number
    gain: Number
    low: Number | None
    high: Number | None


class StoredEvent(_Shape):
    """The content of an event of a lock (corpus/locks/draws.py): a draw or a look."""

    seed: Text | None = None
    share: Number | None = None
    looks_allowed: Count | None = None
    judge: Text | None = None
    criterion: Text | None = None
    title: Text | None = None
    outcome: Text | None = None
    documents: Count | None = None
    candidate: Number | None = None
    today: Number | None = None
    gain: Number | None = None
    interval: tuple[Number, Number] | None = None
    constant: ConstantOfLook | None = None


class SearchBasis(_Shape):
    """The data that a search was based on; empty for a search that did not end."""

    training: Count | None = None
    locked: Count | None = None
    today: Number | None = None
    smallest_gain: Number | None = None
    wanted_gain: Number | None = None
    locked_for_wanted: Count | None = None
    left_out: dict[str, str] = Field(default_factory=dict)
    what_numbers_speak_of: Entries[str] = Field(default_factory=list)


class StoredScoring(_Shape):
    """The settings of a proposal that differ from the judge's (Proposal.scoring)."""

    mode: str | None = None
    samples: Count | None = None
    temperature: Number | None = None


class TrainingValues(_Shape):
    """A candidate's values on training documents."""

    candidate: Number
    today: Number
    gain: Number
    documents: Count
    constant: Number | None = None


class RankedDocuments(_Shape):
    """The numbers of documents in which people and two judges rank outputs."""

    documents: Count
    candidate: Count
    today: Count


class StoredSpan(_Shape):
    """A marked part of an output (annotations/models/judgements.py)."""

    start: Count
    end: Count
    quote: Text
    category: Text = Field(max_length=100)
    severity: Text = Field("", max_length=100)


class Places(_Shape):
    """Positions as shown, of an attention check."""

    best: Annotated[int, Field(ge=0, le=8)]
    worst: Annotated[int, Field(ge=0, le=8)]


StoredPreference = tuple[Text, Text, Text, Choice]


class StoredAnswer(_Shape):
    """An answer, or an expected answer (geval/files/answers/pairs.py)."""

    scores: dict[Text, Number | None] | None = None
    choices: dict[Text, Choice] | None = None
    best: dict[Text, Text] | None = None
    worst: dict[Text, Text] | None = None
    winners: dict[Text, Text] | None = None
    ranks: dict[Text, dict[Text, Rank]] | None = None
    side: Literal["left", "right"] | None = None
    places: Places | None = None
    comment: Annotated[Text, Field(max_length=10_000)] | None = None
    flagged: bool | None = None
    spans: Entries[StoredSpan] | None = None
    preferences: Entries[StoredPreference] | None = None
    shown: Entries[Text] | None = None

    # Afterwards: a validator before it would read lists of JSON as Python's, which are no tuples.
    @field_validator("*", mode="after")
    @classmethod
    def _is_given(cls, value: Any) -> Any:
        if value is None:
            raise ValueError("is empty")
        return value


ANSWER = TypeAdapter(StoredAnswer)
SYSTEMS = TypeAdapter(Annotated[list[Text], Field(min_length=1, max_length=9, fail_fast=True)])
TURNS = TypeAdapter(Entries[StoredTurn])
TEXTS = TypeAdapter(Entries[Text])
NAMED_TEXTS = TypeAdapter(dict[Text, Text])
# Settings of an evaluator that may be installed on the other site only, and formulas, which are
# checked elsewhere: here they only need to have names.
NAMED_VALUES = TypeAdapter(dict[Text, Any])
QUESTIONS = TypeAdapter(Entries[StoredQuestion])
REPLIES_TO_QUESTIONS = TypeAdapter(dict[Text, Text | Number])


def check_field(name: str, check: Callable[[Any], object], value: Any) -> None:
    """Check the value of a field.

    Raises:
        WrongValueError: it is invalid; the message has the field's name.
    """
    try:
        check(value)
    except WrongValueError as error:
        raise WrongValueError(f"{name} {error}") from None
    except ValidationError as error:
        raise WrongValueError(f"{name}: {first_problem(error)}") from None


def whole_value(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongValueError(f"is not a whole number ({str(value)[:40]})")
    return value


def number_value(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not is_number(value):
        raise WrongValueError(f"is not a number that can be stored ({str(value)[:40]})")
    return value


def decimal_value(value: Any) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise WrongValueError(f"is not an amount ({str(value)[:40]})")
    return number


def flag_value(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError(f"is neither true nor false ({str(value)[:40]})")
    return value


def text_value(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise WrongValueError("is not a text")
    return value


def json_value(value: Any) -> Any:
    if is_too_deep(value):
        raise WrongValueError(f"is wrong: {too_deep()}")
    if has_more_names(value, MOST_NAMES):
        raise WrongValueError(f"has more than {MOST_NAMES:,} names")
    return value
