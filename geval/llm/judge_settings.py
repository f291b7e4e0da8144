"""The settings of every LLM judge: names, types, defaults, limits and help, declared once.

The database's fields, forms, the API's schema, command options and the settings that a run freezes
are all derived from `JudgeSettings`; a test compares `docs/commands.md` and `docs/api.md` with it.
"""

from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from geval.llm.request_options import RequestOptions

Mode = Literal["logprobs", "samples", "direct"]


def _price(title: str, description: str) -> Any:
    """Declare an optional price."""
    return Field(None, ge=0, max_digits=12, decimal_places=4, title=title, description=description)


class JudgeSettings(BaseModel):
    """How a judge asks its model. If `mode` is empty, the best supported one is used."""

    model_config = ConfigDict(frozen=True)

    mode: Mode | Literal[""] = Field(
        "",
        title="Scoring",
        description=(
            "The endpoint is probed first; a mode it does not support is refused. By default the"
            " best one it supports."
        ),
    )
    samples: int = Field(
        20,
        ge=1,
        le=100,
        title="Replies per item",
        description="Only for the scoring mode Samples.",
        json_schema_extra={"option": "n"},
    )
    temperature: float | None = Field(
        None,
        ge=0,
        le=2,
        title="Temperature",
        description="Leave empty for 1 with samples and 0 otherwise.",
    )
    use_steps: bool = Field(
        True,
        title="Use evaluation steps",
        description="The LLM writes the steps first (auto chain-of-thought).",
        json_schema_extra={"option": "no-steps"},
    )
    concurrency: int = Field(
        16,
        ge=1,
        le=512,
        title="Parallel calls",
        description="How many calls are open at once, over all workers.",
    )
    max_tokens: int = Field(
        32,
        ge=1,
        le=32_000,
        title="Maximum reply length (tokens)",
        description="A rating needs a few tokens; a model that reasons first needs hundreds.",
    )
    timeout_seconds: float | None = Field(
        None,
        ge=1,
        le=3600,
        title="Time limit per call (seconds)",
        description=(
            "Counts the whole call, not its parts. Leave empty for a minute that grows with the"
            " length of replies and where the server answers slowly."
        ),
        json_schema_extra={"option": "timeout"},
    )
    min_coverage: float = Field(
        0.5,
        ge=0,
        le=1,
        title="Minimum coverage",
        description=(
            "Only for scoring by probabilities: the share of probability that the points of the "
            "scale must have. Below it an item fails; 0 accepts any."
        ),
    )
    request_options: RequestOptions = Field(
        {},
        title="Request options",
        description=(
            "More fields of each request, as JSON, as the provider documents them, such as"
            ' {"reasoning_effort": "low"}. No keys, and nothing that the judge sets itself.'
        ),
    )
    price_in: Decimal | None = _price(
        "Price per million tokens in", "For estimates and budgets, in any currency."
    )
    price_out: Decimal | None = _price("Price per million tokens out", "Give both prices, or none.")
    price_cached: Decimal | None = _price(
        "Price per million cached tokens in", "Leave empty for the price of tokens in."
    )


# Settings that apply only to the replies of chat models.
CHATTING = frozenset(
    {"mode", "samples", "temperature", "max_tokens", "min_coverage", "request_options"}
)


def usual_temperature(mode: str) -> float:
    """Return the default temperature: samples must differ, other replies need not."""
    return 1.0 if mode == "samples" else 0.0


def declared(name: str) -> FieldInfo:
    """Return a setting's declaration."""
    return JudgeSettings.model_fields[name]


def default_of(name: str) -> Any:
    """Return a setting's default."""
    return declared(name).default


def limit_of(info: FieldInfo, which: Literal["ge", "le", "max_length"]) -> Any:
    """Return a setting's lowest (`ge`) or highest (`le`) value, or the length of a text; None if it
    has no such limit."""
    limits = (getattr(part, which, None) for part in info.metadata)
    return next((limit for limit in limits if limit is not None), None)


def range_of(name: str) -> tuple[Any, Any]:
    """Return a setting's lowest and highest value."""
    info = declared(name)
    return limit_of(info, "ge"), limit_of(info, "le")


def option_of(name: str) -> str:
    """Return a setting's option on the command line, without dashes."""
    extra = declared(name).json_schema_extra
    named = extra.get("option") if isinstance(extra, dict) else None
    return str(named or name.replace("_", "-"))
