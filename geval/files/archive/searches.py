"""Locked documents and the record of their draws; searches for better judges, and looks;
studies of judges; policies, and what they decided."""

from typing import Literal

from pydantic import TypeAdapter

from geval.files.archive.record_file import (
    TO_CAMPAIGN,
    TO_CRITERION,
    TO_JUDGE,
    TO_OUTPUT,
    TO_SEARCH,
    TO_STUDY,
    Halted,
    RecordFile,
    Ref,
    Row,
    WrongValueError,
    same,
)
from geval.files.archive.shapes import (
    NAMED_TEXTS,
    NAMED_VALUES,
    ConstantOfLook,
    Entries,
    LockDrawn,
    Number,
    RankedDocuments,
    SearchBasis,
    StoredEvent,
    StoredScoring,
    Text,
    TrainingValues,
    check_field,
)
from geval.files.certificates import CertificateContent
from geval.statistics.locked_rule import LEAST_SHARE, MOST_LOOKS, MOST_SHARE

# The kind of event whose seed is kept.
DRAWN = "drawn"
# What a search tries.
Change = Literal["wording", "examples", "scoring", "choice", "panel", "calibration"]


def _share_and_looks_are_allowed(row: Row) -> None:
    if not LEAST_SHARE <= row["share"] <= MOST_SHARE:
        raise WrongValueError(f"share is not from {LEAST_SHARE:g} to {MOST_SHARE:g}")
    if not 1 <= row["looks_allowed"] <= MOST_LOOKS:
        raise WrongValueError(f"looks_allowed is not from 1 to {MOST_LOOKS}")


def _says_what_was_drawn(row: Row) -> None:
    if row["kind"] == DRAWN:
        check_field("content", LockDrawn.model_validate, row["content"])


SEARCHES = (
    RecordFile(
        "locks",
        same("draw share seed looks_allowed locked_at unlocked_at by_group exceptions"),
        key=("lock",),
        other_key=("draw",),
        json={"exceptions": TypeAdapter(dict[Text, bool])},
        rule=_share_and_looks_are_allowed,
    ),
    RecordFile(
        "lock_events",
        # An archive applies to its own draw only: its looks would use up those of another project.
        {"draw": Ref("locks", ("draw",), keeps_name=True)} | same("kind at by project content"),
        json={"content": TypeAdapter(StoredEvent)},
        rule=_says_what_was_drawn,
    ),
    RecordFile(
        "searches",
        {
            "judge_id": TO_JUDGE,
            "criterion_id": TO_CRITERION,
            "reflector_id": Ref("judges", ("reflector", "reflector_version")),
        }
        | same("changes state message wanted_at most_calls budget found"),
        key=("search",),
        json={"changes": TypeAdapter(Entries[Change]), "found": TypeAdapter(SearchBasis)},
        halted=Halted(
            ("waiting", "asking", "paused"), "cancelled", "searches of an archive are over"
        ),
    ),
    RecordFile(
        "proposals",
        {
            "search_id": TO_SEARCH,
            "parent_id": Ref("proposals", ("search", "parent")),
        }
        | same("number part texts scoring prompt_key repeat problem parent_on_batch on_batch")
        | same("on_selection calls prompt_tokens completion_tokens created_at"),
        key=("search", "number"),
        json={
            "texts": NAMED_TEXTS,
            "scoring": TypeAdapter(StoredScoring),
            "on_selection": TypeAdapter(dict[Text, Number]),
        },
    ),
    RecordFile(
        "candidates",
        {
            "search_id": TO_SEARCH,
            "proposal_id": Ref("proposals", ("search", "proposal")),
            "adopted_as_id": TO_JUDGE,
        }
        | same("change measure title description formula training created_at"),
        key=("candidate",),
        json={"formula": NAMED_VALUES, "training": TypeAdapter(TrainingValues)},
    ),
    RecordFile(
        "looks",
        {"locked_id": Ref("locks", ("lock",)), "candidate_id": Ref("candidates", ("candidate",))}
        | same("looked_by_name looked_at outcome documents value today gain low high confidence")
        | same("reason ranked constant"),
        json={"ranked": TypeAdapter(RankedDocuments), "constant": TypeAdapter(ConstantOfLook)},
        later={"constant": None},
    ),
)


# The most parts of a study.
MOST_PARTS = 100_000


def _was_asked_to_its_end(row: Row) -> None:
    if row["recorded_at"] is None:
        raise WrongValueError("recorded_at is empty; an archive has what was asked to its end")
    if not 1 <= row["number"] <= MOST_PARTS:
        raise WrongValueError(f"number is not from 1 to {MOST_PARTS:,}")


def _scores_end(row: Row) -> None:
    if len(row["scores"]) > MOST_PARTS:
        raise WrongValueError(f"scores has more than {MOST_PARTS:,} entries")


STUDIES = (
    RecordFile(
        "certificates",
        {"judge_id": TO_JUDGE, "criterion_id": TO_CRITERION} | same("outcome content made_at"),
        json={"content": TypeAdapter(CertificateContent)},
    ),
    RecordFile(
        "studies",
        {"judge_id": TO_JUDGE, "criterion_id": TO_CRITERION}
        | same("kind replies budget prompt model made_at"),
        key=("study",),
        is_obsolete=lambda row: row["kind"] == "drift",
    ),
    RecordFile(
        "study_items",
        {"study_id": TO_STUDY, "output_id": TO_OUTPUT} | same("rating scores"),
        json={"scores": TypeAdapter(Entries[Number | None])},
        rule=_scores_end,
    ),
    RecordFile(
        "study_parts",
        {"study_id": TO_STUDY} | same("number name model started_at recorded_at"),
        rule=_was_asked_to_its_end,
    ),
)


POLICIES = (
    RecordFile(
        "policies",
        {
            "judge_id": TO_JUDGE,
            "second_id": Ref("judges", ("second", "second_version")),
            "criterion_id": TO_CRITERION,
            "campaign": TO_CAMPAIGN,
            "after_output": Ref("outputs", ("after_doc_id", "after_system_id")),
        }
        | same("promise digest content rule second_rule check_share made_at used_at ended_at"),
        key=("policy",),
        json={"content": NAMED_VALUES, "rule": NAMED_VALUES, "second_rule": NAMED_VALUES},
    ),
    RecordFile(
        "policy_decisions",
        {"policy_id": Ref("policies", ("policy",)), "output_id": TO_OUTPUT}
        | same("is_kept is_by_second is_checked decided_at"),
    ),
)
