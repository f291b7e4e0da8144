"""The settings of a project, its criteria, endpoints and campaigns: names, types, limits and help,
declared once for the HTTP API and for project files. For judges see `llm.judge_settings`."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from geval.texts.formatting.kinds import TextFormat

Text = Annotated[str, Field(max_length=50_000)]
Whole = Annotated[int, Field(ge=1, le=2**31 - 1)]


class FormatFields(BaseModel):
    """How people see the texts. What is left out stays as it is."""

    source_format: TextFormat | None = None
    output_format: TextFormat | None = None
    reference_format: TextFormat | None = None
    code_language: str | None = Field(None, description="For texts that are shown as code.")
    text_language: str | None = Field(None, description="Such as ar, ja or zh-Hant.")


class CriterionFields(BaseModel):
    """A criterion with its scale and the parts of its prompt."""

    definition: Text = Field("", description="Explains the criterion to the model.")
    scale_min: float = Field(1, description="The lowest point.")
    scale_max: float = Field(5, description="The highest point.")
    scale_step: float = Field(1, description="From one point to the next.")
    scale_labels: dict[str, str] = Field(
        {}, description="Names of points, such as 1: Good. The model answers with the name."
    )
    task_introduction: Text = Field("", description="Begins the prompt. Empty: ours.")
    inputs: Text = Field(
        "",
        description=(
            "The part of the prompt that shows the texts, with placeholders such as"
            " {{Document}} and {{Summary}}. Empty: ours."
        ),
    )
    prompt_file: Text = Field("", description="A whole prompt, instead of these parts.")
    guidelines: Text = Field("", description="What annotators should know, in Markdown.")


class EndpointFields(BaseModel):
    """An OpenAI-compatible server and its limits."""

    base_url: str = Field(max_length=500, description="Ends in /v1 on most servers.")
    api_version: str = Field("", max_length=40, description="Only for Azure deployment addresses.")
    key_env: str = Field(
        "", max_length=100, description="The worker's environment variable that contains the key."
    )
    requests_per_minute: Whole | None = Field(None, description="Over all workers.")
    tokens_per_minute: Whole | None = Field(None, description="Over all workers.")
    parallel_calls: Whole | None = Field(
        None,
        description=(
            "Open at once at most, over all workers and projects with the same address and key."
        ),
    )


class CampaignFields(BaseModel):
    """A campaign's design, and what its annotators see. The site checks what fits together."""

    kind: Literal["rating", "pairwise", "best_worst", "ranking"] = "rating"
    selection: Literal["all", "sample", "stratified", "disagreement", "needed", "top"] = "all"
    sample_size: int | None = Field(None, description="Number of items, for a sample.")
    whole_documents: bool = Field(False, description="All outputs of a drawn document.")
    group_size: int = Field(3, description="Outputs per group, for best-worst and ranking.")
    overlap: int = Field(3, description="Annotators per item.")
    order: Literal["document", "random"] = "document"
    seed: int = Field(0, description="The same seed gives the same plan.")
    lease_minutes: float = Field(60, description="Until an unfinished item goes to others.")
    deadline: datetime | None = None
    check_percent: int = Field(0, description="Share of an annotator's items that are checks.")
    attention_checks: bool = Field(False, description="Items that state which answer to give.")
    check_tolerance: float = Field(0, description="How far from a known answer is still right.")
    practice_items: int = Field(0, description="Taken from the known answers.")
    practice_pass: int = Field(0, description="Pass mark of practice, percent; 0: none.")
    gold: list[dict[str, str | int | float]] = Field(
        [],
        max_length=10_000,
        description=(
            "Known answers. Of ratings: doc_id, system_id, criterion, score; of pairs: doc_id,"
            " system_a, system_b, winner; of groups, for each output: doc_id, system_id, place"
            " or rank."
        ),
    )
    show_systems: bool = Field(False, description="Annotators see who wrote a text.")
    show_others: bool = Field(False, description="They see others' answers after their own.")
    show_scores: bool = Field(False, description="They see LLM scores.")
    unseen_percent: int = Field(0, description="Share of items without these scores, at random.")
    show_markdown: bool = Field(False, description="Outputs are shown as formatted text.")
    strength: bool = Field(False, description="Five choices for pairs instead of three.")
    language: str = Field("", max_length=10, description="Of annotators' pages.")
    span_categories: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(
        [], max_length=100, description="Types of errors that annotators mark in outputs."
    )
    span_severities: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(
        [], max_length=20, description="Severities of marked errors."
    )
    adjudicate_beyond: float | None = Field(
        None, description="Items whose answers differ by more are adjudicated."
    )


# Fields on which an open campaign's plan depends, besides its criteria, known answers and goal;
# they can be changed only in a draft.
PLAN = (
    "kind", "selection", "sample_size", "whole_documents", "group_size", "overlap", "order", "seed",
    "check_percent", "attention_checks", "practice_items", "practice_pass", "check_tolerance",
    "strength", "unseen_percent",
)  # fmt: skip


def given(fields: BaseModel) -> dict[str, Any]:
    """Return the fields that were set, as in JSON."""
    return fields.model_dump(mode="json", exclude_unset=True)
