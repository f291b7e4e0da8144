"""The wording of a judge: parts of a criterion's prompt in words of its own, such as those that a
search for a better judge found. Pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from geval.llm.prompts import Beside, PromptParts
from geval.statistics.scales import Scale, parsed_scale

LONGEST_PART, LONGEST_EXAMPLES = 20_000, 60_000
MOST_NEAREST = 20
MOST_BESIDE = 20


class BesideWording(BaseModel):
    """Another criterion that is rated in the same prompt; `scale` as in "1-5"."""

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

    def as_beside(self) -> Beside:
        return Beside(self.criterion, parsed_scale(self.scale), self.definition, self.steps)


class Wording(BaseModel):
    """Parts of a criterion's prompt; an empty one is the criterion's own.

    `prompt` is for criteria with a whole prompt, which has no other parts. Of `examples` each
    prompt shows the `nearest` to its text, all if that is 0. `scale` is the one that is asked for
    ("1-10"); what the model gives is brought to the criterion's. `beside` are criteria that are
    rated in the same prompt, null for the criterion's own place among them.
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
        # Parts of a proposal are texts.
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
        """A criterion's parts in these words."""
        return replace(
            parts,
            introduction=self.introduction or ("" if self.beside else parts.introduction),
            definition=self.definition or parts.definition,
            inputs=self.inputs or parts.inputs,
            prompt_file=self.prompt or parts.prompt_file,
            examples=self.examples or parts.examples,
            nearest=self.nearest if self.examples else parts.nearest,
            scale=self.asked_scale or parts.scale,
            beside=tuple(other.as_beside() if other else None for other in self.beside),
        )

    @property
    def others(self) -> tuple[str, ...]:
        """The names of the criteria that are rated in the same prompt."""
        return tuple(other.criterion for other in self.beside if other)

    @property
    def asked_scale(self) -> Scale | None:
        """The scale that is asked for, None for the criterion's."""
        return parsed_scale(self.scale) if self.scale else None

    def texts(self) -> dict[str, str]:
        """The parts that it has, as texts."""
        return {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in self.model_dump(exclude_defaults=True).items()
        }


def shown_part(name: str, text: str) -> str:
    """A part as people read it: each criterion beside this one on its own line."""
    if name != "beside" or not text:
        return text
    beside = Wording.model_validate({"beside": text}).beside
    return "\n".join(
        f"{other.criterion} ({other.scale}): {other.definition}" for other in beside if other
    )


def wordings_in(text: str) -> dict[str, Wording]:
    """The wordings of a setting, by criterion; an empty text has none.

    Raises:
        ValueError: it is not such JSON; the message says where.
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


def _wording(criterion: str, given: Any) -> Wording:
    try:
        return Wording.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, (criterion, *first["loc"])))
        raise ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None


def as_setting(wordings: Mapping[str, Wording]) -> str:
    """Wordings by criterion as the setting that `wordings_in` reads."""
    return json.dumps(
        {
            name: wording.model_dump(exclude_defaults=True)
            for name, wording in sorted(wordings.items())
        },
        ensure_ascii=False,
    )
