"""The settings of a project, its criteria, endpoints and campaigns: names, types, limits and help,
declared once for the HTTP API, project files, archives and forms.

For judges see `llm.judge_settings`.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from geval.statistics.expert_bar import ExpertBar
from geval.texts.formatting.kinds import TextFormat

Text = Annotated[str, Field(max_length=50_000)]
# The largest whole number that the database stores.
MOST_WHOLE = 2**31 - 1
NO_LIMIT = "For all workers together. Leave empty for no limit."


def _required(title: str, description: str) -> Any:
    """A figure that a verdict by one expert's labels requires, between 0 and 1."""
    return Field(None, gt=0, lt=1, title=title, description=description)


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
    scale_min: float = Field(1, title="Lowest scale point")
    scale_max: float = Field(5, title="Highest scale point")
    scale_step: float = Field(1, title="Step", description="From one point to the next.")
    scale_labels: dict[str, str] = Field(
        {}, description="Names of points, such as 1: Good. The model answers with the name."
    )
    is_ordered: bool = Field(
        True,
        title="The points have an order",
        description="Not so for labels such as kinds of failures: then each point has a name.",
    )
    finds_highest: bool = Field(
        False,
        title="The judge has to find the passes",
        description="On a scale of two points. Otherwise it has to find the fails.",
    )
    required_sensitivity: float | None = _required(
        "Least share found", f"One expert, pass or fail. If empty, {ExpertBar.sensitivity:.2f}."
    )
    required_specificity: float | None = _required(
        "Least share kept", f"One expert, pass or fail. If empty, {ExpertBar.specificity:.2f}."
    )
    required_kappa: float | None = _required(
        "Least kappa", f"One expert, other scales and labels. If empty, {ExpertBar.kappa:.2f}."
    )
    allows_not_applicable: bool = Field(
        False,
        title="“Not applicable” is an answer",
        description="Of people and judges; it is in no figure, and agreement on it stands beside.",
    )
    weight: float = Field(1, gt=0, description="Of an item in its rubric.")
    task_introduction: Text = Field(
        "", description="Begins the prompt. Leave empty for ours about a text and its source."
    )
    inputs: Text = Field(
        "",
        title="Texts to judge",
        description=(
            "Placeholders: {{Document}}, {{Summary}}, {{Context}}, {{Fact}}, {{Response}},"
            " {{Reference}}. Leave empty for the source text and the summary."
        ),
    )
    prompt_file: Text = Field(
        "",
        title="Whole prompt",
        description=(
            "Used as it is instead of the parts above; it contains its own evaluation steps. A"
            " Jinja prompt of prompt flow works if it only puts texts in."
        ),
    )
    guidelines: Text = Field(
        "",
        title="Guidelines for annotators",
        description="Markdown. If empty, annotators see the definition.",
    )


class EndpointFields(BaseModel):
    """An OpenAI-compatible server and its limits."""

    base_url: str = Field(max_length=500, description="Ends in /v1 on most servers.")
    api_version: str = Field(
        "",
        max_length=40,
        title="Azure API version",
        description=(
            "Only for Azure addresses that name a deployment (not for those that end in"
            " /openai/v1)."
        ),
    )
    key_env: str = Field(
        "", max_length=100, description="The worker's environment variable that contains the key."
    )
    requests_per_minute: int | None = Field(None, ge=1, le=MOST_WHOLE, description=NO_LIMIT)
    tokens_per_minute: int | None = Field(None, ge=1, le=MOST_WHOLE, description=NO_LIMIT)
    parallel_calls: int | None = Field(
        None,
        ge=1,
        le=MOST_WHOLE,
        title="Parallel calls, at most",
        description=(
            "How many calls may be open at once, for all workers and all projects with the same"
            " address and key together. Leave empty for no limit."
        ),
    )


class WhatIsRated(BaseModel):
    kind: Literal["rating", "pairwise", "best_worst", "ranking"] = Field("rating", title="Task")
    selection: Literal["all", "sample", "stratified", "disagreement", "needed", "top"] = Field(
        "all",
        title="Selection of items",
        description=(
            "Samples describe all outputs: the report weights each by its chance of being drawn."
            " “Where the estimate needs it” takes more where judges were wrong so far, and skips"
            " outputs that are already rated. “Only where judges disagree most” is not a sample"
            " and describes only the rated outputs."
        ),
    )
    sample_size: int | None = Field(
        None, title="Number of items", description="For a sample. Leave empty for all items."
    )
    overlap: int = Field(3, title="Annotators per item")


class ItemsAndTime(BaseModel):
    whole_documents: bool = Field(
        False,
        title="Draw whole documents",
        description=(
            "For ratings of a sample. All outputs of a drawn document are rated, as correlations"
            " within documents need; the number of items is then approximate."
        ),
    )
    group_size: int = Field(
        3, title="Outputs per group", description="For best-worst and ranking tasks."
    )
    strength: bool = Field(
        False,
        title="Graded choices (much better / better / tie)",
        description="For pairs: five choices instead of three.",
    )
    order: Literal["document", "random"] = "document"
    seed: int = Field(0, description="The same seed gives the same plan.")
    lease_minutes: float = Field(60, title="Reassign unfinished items after (minutes)")
    deadline: datetime | None = Field(None, description="In the site's time zone.")
    most_each: int | None = Field(
        None,
        title="Items per person, at most",
        description="Of members. If empty, an even share, after which people may take more.",
    )


class ChecksAndPractice(BaseModel):
    check_percent: int = Field(
        0,
        title="Share of checks (percent)",
        description=(
            "The share of an annotator's items that have known answers or are attention checks."
        ),
    )
    attention_checks: bool = Field(
        False, title="Attention checks", description="Items that state which answer to give."
    )
    check_tolerance: float = Field(
        0,
        title="Tolerance of checks",
        description=(
            "How far a score or a rank may be from the known answer. The first answer to a check"
            " counts."
        ),
    )
    practice_items: int = Field(
        0,
        title="Practice items",
        description=(
            "Taken from the known answers. Everybody starts with them and sees the expected"
            " answers."
        ),
    )
    practice_pass: int = Field(
        0,
        title="Pass mark of practice (percent)",
        description=(
            "Anyone who gets fewer practice items right gets no other items; an open link screens"
            " them out. 0: no pass mark."
        ),
    )
    gold: list[dict[str, str | int | float]] = Field(
        [],
        max_length=10_000,
        title="Known answers",
        description=(
            "For ratings: doc_id, system_id, criterion, score. For pairs: doc_id, system_a,"
            " system_b, winner. For groups an entry for each output: doc_id, system_id, place"
            " (best, worst or empty), or doc_id, system_id, rank. With criteria also criterion."
        ),
    )


class WhatAnnotatorsSee(BaseModel):
    language: str = Field(
        "",
        max_length=10,
        title="Language of annotators’ pages",
        description=(
            "Buttons, keys and messages; your own texts stay as you write them. Annotators can"
            " choose another language. Leave empty for that of their browser."
        ),
    )
    show_systems: bool = Field(
        False,
        title="Show system names",
        description=(
            "If off, annotators do not see which system wrote a text, nor the names of judges."
        ),
    )
    show_others: bool = Field(
        False,
        title="Compare with others",
        description="Annotators see other people's answers once they have submitted their own.",
    )
    show_scores: bool = Field(
        False,
        title="Show LLM scores",
        description="Ratings made while scores are visible are marked, and the report says so.",
    )
    show_markdown: bool = Field(
        False,
        title="Show Markdown as formatted text",
        description=(
            "Outputs are shown with headings, lists and tables; annotators can switch to the text"
            " as it was written. If off, they are shown as the project shows them. Judges always"
            " get the text as it was written."
        ),
    )


class ErrorsAndAdjudication(BaseModel):
    span_categories: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(
        [],
        max_length=100,
        title="Error types for marked spans",
        description=(
            "MQM uses Accuracy, Fluency, Terminology, Style, Locale. Leave empty for no marking."
            " For ratings only."
        ),
    )
    span_severities: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(
        [],
        max_length=20,
        title="Severities",
        description="MQM uses “neutral, minor, major, critical”.",
    )
    adjudicate_beyond: float | None = Field(
        None,
        title="Adjudicate items whose answers differ by more than",
        description=(
            "Leave empty for no adjudication. Of comparisons, opposite preferences between two"
            " outputs are 2 apart: enter 1."
        ),
    )


# Pydantic takes the fields of the last class first.
class CampaignFields(
    ErrorsAndAdjudication, WhatAnnotatorsSee, ChecksAndPractice, ItemsAndTime, WhatIsRated
):
    """A campaign's design, and what its annotators see. The form, the API, project files and
    archives read its fields from here; the model stores them, and the site checks what fits
    together."""


# Of several names each.
LISTS = ("span_categories", "span_severities")
# What is simply a column of the campaign.
COLUMNS = tuple(name for name in CampaignFields.model_fields if name not in (*LISTS, "gold"))
# Fields on which an open campaign's plan depends, besides its criteria, known answers and goal;
# they can be changed only in a draft.
PLAN = (
    "kind", "selection", "sample_size", "whole_documents", "group_size", "overlap", "order", "seed",
    "check_percent", "attention_checks", "practice_items", "practice_pass", "check_tolerance",
    "strength",
)  # fmt: skip


def given(fields: BaseModel) -> dict[str, Any]:
    """Return the fields that were set, as in JSON."""
    return fields.model_dump(mode="json", exclude_unset=True)
