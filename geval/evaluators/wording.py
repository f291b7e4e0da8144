"""A judge's wording: its own versions of parts of a criterion's prompt, such as those from a search
for a better judge. Pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from geval.llm.prompts import JointCriterion, PromptParts
from geval.statistics.scales import Scale, parsed_scale

LONGEST_PART, LONGEST_EXAMPLES = 20_000, 60_000
# Each example and each criterion makes every prompt longer.
MOST_NEAREST = 20
MOST_BESIDE = 20


class BesideWording(BaseModel):
    """Another criterion that is rated in the same prompt; `scale` is written as "1-5"."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    criterion: str = Field(min_length=1, max_length=100)
    scale: str = Field(max_length=40)
    definition: str = Field(default="", max_length=LONGEST_PART)
    steps: str = Field(default="", max_length=LONGEST_PART)

    @field_validator("scale")
    @classmethod
    def _readable(cls, value: str) -> str:
        parsed_scale(value)
        return value

    def as_beside(self) -> JointCriterion:
        return JointCriterion(self.criterion, parsed_scale(self.scale), self.definition, self.steps)


class Wording(BaseModel):
    """Parts of a criterion's prompt; an empty part means the criterion's.

    `prompt` is for criteria with a whole prompt, which has no other parts. Each prompt shows the
    `nearest` of `examples` to its text, or all if that is 0. `scale` is the scale that the model is
    asked for ("1-10"); its rating is converted to the criterion's scale. `beside` are criteria that
    are rated in the same prompt, null marking the criterion's place among them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    introduction: str = Field(default="", max_length=LONGEST_PART)
    definition: str = Field(default="", max_length=LONGEST_PART)
    steps: str = Field(default="", max_length=LONGEST_PART)
    inputs: str = Field(default="", max_length=LONGEST_PART)
    examples: str = Field(default="", max_length=LONGEST_EXAMPLES)
    prompt: str = Field(default="", max_length=LONGEST_PART)
    nearest: int = Field(default=0, ge=0, le=MOST_NEAREST)
    scale: str = Field(default="", max_length=40)
    beside: tuple[BesideWording | None, ...] = Field(default=(), max_length=MOST_BESIDE)

    @field_validator("scale")
    @classmethod
    def _readable(cls, value: str) -> str:
        if value:
            parsed_scale(value)
        return value

    @field_validator("beside", mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        # The parts that a proposal changes are texts.
        return json.loads(value) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        others = (
            *(self.introduction, self.definition, self.steps, self.inputs),
            *(self.examples, self.scale),
        )
        if self.prompt and any(others):
            raise ValueError("a whole prompt has no other parts")
        if self.beside and (self.prompt or self.examples):
            raise ValueError("a whole prompt, or one with examples, rates its criterion alone")
        if self.beside and self.beside.count(None) != 1:
            raise ValueError("say once, by null, where the criterion itself stands in the form")
        return self

    def of(self, parts: PromptParts) -> PromptParts:
        """Return a criterion's parts with this wording."""
        return replace(
            parts,
            introduction=self.introduction or ("" if self.beside else parts.introduction),
            definition=self.definition or parts.definition,
            inputs=self.inputs or parts.inputs,
            prompt_file=self.prompt or parts.prompt_file,
            examples=self.examples or parts.examples,
            nearest=self.nearest if self.examples else parts.nearest,
            scale=self.asked_scale(parts.scale) or parts.scale,
            beside=tuple(other.as_beside() if other else None for other in self.beside),
        )

    @property
    def others(self) -> tuple[str, ...]:
        """Return the names of the criteria that are rated in the same prompt."""
        return tuple(other.criterion for other in self.beside if other)

    def asked_scale(self, scale: Scale) -> Scale | None:
        """Return the scale that the model is asked for, None for the criterion's, `scale`."""
        return scale.like(self.scale) if self.scale else None

    def texts(self) -> dict[str, str]:
        """Return its non-empty parts, as texts."""
        return {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in self.model_dump(exclude_defaults=True).items()
        }


def shown_part(name: str, text: str) -> str:
    """Return a part as people read it: each jointly rated criterion on its own line."""
    if name != "beside" or not text:
        return text
    beside = Wording.model_validate({"beside": text}).beside
    return "\n".join(
        f"{other.criterion} ({other.scale}): {other.definition}" for other in beside if other
    )


def wordings_in(text: str) -> dict[str, Wording]:
    """Parse the wordings in a setting, by criterion; none for an empty text.

    Raises:
        ValueError: the JSON does not have this form; the message says where.
    """
    if not text.strip():
        return {}
    try:
        content: Any = json.loads(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError("give an object with a wording for each criterion")
    return {name: _wording(name, wording) for name, wording in content.items()}


def _wording(criterion: str, value: Any) -> Wording:
    try:
        return Wording.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, (criterion, *first["loc"])))
        raise ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None


def as_setting(wordings: Mapping[str, Wording]) -> str:
    """Return wordings by criterion as the setting that `wordings_in` reads."""
    return json.dumps(
        {
            name: wording.model_dump(exclude_defaults=True)
            for name, wording in sorted(wordings.items())
        },
        ensure_ascii=False,
    )
