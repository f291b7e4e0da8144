"""Certificates of judges, and studies of what influences a judge."""

from pydantic import TypeAdapter

from geval.files.archive.errors import WrongValueError
from geval.files.archive.record_file import (
    TO_CRITERION,
    TO_JUDGE,
    TO_OUTPUT,
    TO_STUDY,
    RecordFile,
    Row,
    same,
)
from geval.files.archive.shapes import Entries, Number
from geval.files.certificates import CertificateContent

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
