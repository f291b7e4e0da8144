"""Campaigns with their goals, items, answers and decisions, and who took part."""

from geval.files.archive.record_file import (
    TO_ANNOTATOR,
    TO_ANSWER,
    TO_CAMPAIGN,
    TO_CRITERION,
    TO_ITEM,
    TO_JUDGE,
    TO_OUTPUT,
    TO_RIVAL,
    Halted,
    RecordFile,
    Ref,
    Refs,
    Row,
    WrongValueError,
    answers,
    same,
)
from geval.files.archive.shapes import NAMED_TEXTS, QUESTIONS, REPLIES_TO_QUESTIONS, TEXTS
from geval.files.project_fields import COLUMNS, LISTS, CampaignFields
from geval.statistics.goal_widths import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH

# What the first archives had of a campaign's settings; other settings may be missing.
FIRST_COLUMNS = (
    "kind", "selection", "sample_size", "whole_documents", "group_size", "overlap", "order", "seed",
    "lease_minutes", "deadline", "show_systems", "show_others", "show_scores", "show_markdown",
    "strength", "adjudicate_beyond",
)  # fmt: skip
# The fields that say what each goal asks for; for a judge its version.
ASKED_BY_GOALS = {
    "width": ("width", "version"),
    "judges": ("version", "rival_version"),
    "systems": ("system_id", "other"),
}


def _asks_for_enough(row: Row) -> None:
    for name in ASKED_BY_GOALS[row["kind"]]:
        if row[name] is None:
            raise WrongValueError(f"{name} is empty; a goal of this kind needs it")
    if row["reached_at"] is not None:
        for name in ("documents", "low", "high"):
            if row[name] is None:
                raise WrongValueError(f"{name} is empty; a goal that was reached needs it")
    width = row["width"]
    if width is not None and not LEAST_GOAL_WIDTH <= width <= MOST_GOAL_WIDTH:
        raise WrongValueError(f"width is not from {LEAST_GOAL_WIDTH:g} to {MOST_GOAL_WIDTH:g}")


CAMPAIGNS = (
    RecordFile(
        "guidelines_versions",
        same("number texts by_name created_at"),
        json={"texts": NAMED_TEXTS},
    ),
    RecordFile(
        "campaigns",
        {"name": "campaign"}
        | same(" ".join((*COLUMNS, *LISTS)))
        | same("state created_at opened_at closed_at"),
        key=("campaign",),
        json=dict.fromkeys(LISTS, TEXTS),
        later={
            name: CampaignFields.model_fields[name].default
            for name in COLUMNS
            if name not in FIRST_COLUMNS
        },
        halted=Halted(("open",), "closed", "campaigns of an archive are drafts or closed"),
    ),
    RecordFile(
        "campaign_criteria",
        {"campaign_id": TO_CAMPAIGN, "criterion_id": TO_CRITERION},
    ),
    RecordFile(
        "open_links",
        {"campaign_id": TO_CAMPAIGN}
        | same("title consent people items_each minutes before after amount amount_screened")
        | same("bonus bonus_percent skip_percent per_address pays_by_item"),
        key=("campaign",),
        json={
            "before": QUESTIONS,
            "after": QUESTIONS,
        },
        later={"skip_percent": 20, "per_address": 3, "pays_by_item": False},
    ),
    RecordFile(
        "participants",
        {"link_id": Ref("open_links", ("campaign",)), "annotator_id": TO_ANNOTATOR}
        | {"source": "panel"}
        | same("state screened_for before after consented_at started_at until ended_at"),
        json={
            "before": REPLIES_TO_QUESTIONS,
            "after": REPLIES_TO_QUESTIONS,
        },
        halted=Halted(("consented", "active"), "returned", "nobody works in a copy"),
    ),
    RecordFile(
        "campaign_goals",
        {
            "campaign_id": TO_CAMPAIGN,
            "criterion_id": TO_CRITERION,
            "judge_id": TO_JUDGE,
            "rival_id": TO_RIVAL,
            "system_id": Ref("systems", ("system_id",)),
            "other_id": Ref("systems", ("other",)),
        }
        | same("kind width reached_at documents low high"),
        rule=_asks_for_enough,
    ),
    RecordFile(
        "campaign_inclusions",
        {"campaign_id": TO_CAMPAIGN, "output_id": TO_OUTPUT} | same("probability"),
    ),
    RecordFile(
        "campaign_seats",
        {"campaign_id": TO_CAMPAIGN, "annotator_id": TO_ANNOTATOR}
        | same("cursor handed removed_at guidelines_seen takes_more"),
        later={"guidelines_seen": None, "takes_more": True},
    ),
    RecordFile(
        "campaign_named_items",
        {"campaign_id": TO_CAMPAIGN, "annotator_id": TO_ANNOTATOR} | same("field wanted"),
        json={"wanted": TEXTS},
    ),
    RecordFile(
        "campaign_items",
        same("position kind places")
        | answers("expected")
        | {
            "campaign_id": TO_CAMPAIGN,
            "document_id": Ref("documents", ("doc_id",)),
            "outputs": Refs(),
        },
        key=("campaign", "position"),
    ),
    RecordFile(
        "answers",
        same("state reserved_at lease_until submitted_at seconds version flagged skip_reason")
        | same("scores_shown saw_others_at passed guidelines_version")
        | answers("answer")
        | {
            "campaign_id": TO_CAMPAIGN,
            "item_id": TO_ITEM,
            "annotator_id": TO_ANNOTATOR,
            "shown": Refs(),
        },
        key=("answer_id",),
        later={"guidelines_version": None},
    ),
    RecordFile(
        "answer_changes",
        {"assignment_id": TO_ANSWER} | answers("before after") | same("at"),
    ),
    RecordFile(
        "answer_reviews",
        {"assignment_id": TO_ANSWER}
        | answers("answer")
        | same("at action reason skip_reason by_name"),
    ),
    RecordFile(
        "decisions",
        {"item_id": TO_ITEM} | answers("answer") | same("note at by_name"),
    ),
    RecordFile(
        "exclusions",
        {"annotator_id": TO_ANNOTATOR} | same("reason at lifted_at by_name lifted_by_name"),
    ),
)
