"""What JSON fields of locks, searches and looks hold, as pages read them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evaluations.models.improving import LEAST_SHARE, MOST_LOOKS, MOST_SHARE

Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e12, le=1e12)]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True)


class LockDrawn(_Shape):
    """Of an event: what was drawn."""

    seed: str = Field(max_length=32)
    share: float = Field(ge=LEAST_SHARE, le=MOST_SHARE)
    looks_allowed: int = Field(ge=1, le=MOST_LOOKS)


class SearchBasis(_Shape):
    """What a search rested on; one that did not end has nothing."""

    training: Count | None = None
    locked: Count | None = None
    today: Number | None = None
    smallest_gain: Number | None = None
    wanted_gain: Number | None = None
    locked_for_wanted: Count | None = None
    left_out: dict[str, str] = Field(default_factory=dict)
    what_numbers_speak_of: list[str] = Field(default_factory=list)


class TrainingValues(_Shape):
    """A candidate's values on training documents."""

    candidate: Number
    today: Number
    gain: Number
    documents: Count


class RankedDocuments(_Shape):
    """In how many documents people and two judges rank anything."""

    documents: Count
    candidate: Count
    today: Count
