"""The signed content of a certificate: its fields and their valid values."""

import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

FORMAT = "geval-certificate/1"
MOST_REQUIREMENTS = 20
# No number of documents exceeds this, and beyond 64 bits JSON cannot be written.
MOST_COUNTED = 2**53
OutcomeText = Literal["met", "not met", "cannot say"]
Count = Annotated[int, Field(ge=0, le=MOST_COUNTED)]
Text = Annotated[str, Field(max_length=2_000)]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class _Part(BaseModel):
    """A strict model: nothing is converted and no other field is allowed, as a signature covers
    exactly what is shown."""

    model_config = ConfigDict(strict=True, extra="forbid")


class CheckedRequirement(_Part):
    """A requirement with its outcome."""

    requirement: Text
    outcome: OutcomeText
    value: bool | Annotated[float, Field(allow_inf_nan=False)] | None
    reason: Text
    more_documents: Count | None
    more_ratings: Count | None


class Counted(_Part):
    """A digest of a number of rows."""

    digest: Digest
    count: Count


class BoundTo(_Part):
    """What the figures depend on."""

    prompt: Digest | None
    steps: Digest | None
    settings: Digest
    model: Text | None
    answered_by: list[Text]
    texts: Counted
    ratings: Counted
    scores: Counted
    software: Text
    probes: Counted | None = None
    policy: Digest | None = None


class CertificateContent(_Part):
    """Everything that is signed, and the signature."""

    format: Literal["geval-certificate/1"]
    project: Text
    judge: Text
    criterion: Text
    outcome: OutcomeText
    epsilon: Annotated[float, Field(ge=0, le=1)]
    requirements: Annotated[
        list[CheckedRequirement], Field(min_length=1, max_length=MOST_REQUIREMENTS)
    ]
    bound_to: BoundTo
    made_at: Text
    public_key: Text
    signature: Text
    human_score: Annotated[str, Field(max_length=20)] | None = None
    what_numbers_speak_of: list[Text] = Field(default_factory=list)
    withheld_documents: Count = 0
    unseen_documents: Count | None = None

    @field_validator("made_at")
    @classmethod
    def _is_moment(cls, value: str) -> str:
        datetime.datetime.fromisoformat(value)
        return value


def problem_of(content: Any) -> str:
    """Return what is wrong with a certificate's content, and where; empty if it is valid."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return f"is not a certificate of this format ({FORMAT})"
    try:
        CertificateContent.model_validate(content)
    except ValidationError as error:
        return first_problem(error)
    return ""


def first_problem(error: ValidationError) -> str:
    """Return the first error of a value, and where it is."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"has no {where}"
    message = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
    return f"{where}: {message}" if where else message
