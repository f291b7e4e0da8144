"""The rated material and its ratings: criteria, systems, documents, outputs, ratings and
comparisons."""

from geval.files.archive.record_file import (
    TO_ANNOTATOR,
    TO_CRITERION,
    TO_OUTPUT,
    RecordFile,
    Ref,
    Row,
    WrongValueError,
    same,
)
from geval.files.archive.shapes import NAMED_TEXTS, TEXTS, TURNS
from geval.statistics.scales import Scale, problems_of_scale


def _scale_is_right(row: Row) -> None:
    ends = (row["scale_min"], row["scale_max"], row["scale_step"])
    problems = problems_of_scale(*ends, row["scale_labels"], is_ordered=row["is_ordered"])
    for name, problem in problems.items():
        raise WrongValueError(f"{name}: {problem}")
    scale = Scale(*ends)
    if row["rubric"] is not None and (not row["is_ordered"] or len(scale.points) != 2):
        raise WrongValueError("rubric: an item of a rubric is on a scale of two points")


CORPUS = (
    RecordFile(
        "criteria",
        {"name": "criterion"}
        | same("definition scale_min scale_max scale_step scale_labels task_introduction inputs")
        | same("prompt_file guidelines position is_ordered finds_highest allows_not_applicable")
        | same("required_sensitivity required_specificity required_kappa weight")
        | {"rubric_id": Ref("criteria", ("rubric",))},
        key=("criterion",),
        json={"scale_labels": NAMED_TEXTS},
        later={"is_ordered": True, "finds_highest": False, "allows_not_applicable": False}
        | {"rubric": None, "weight": 1}
        | dict.fromkeys(("required_sensitivity", "required_specificity", "required_kappa")),
        rule=_scale_is_right,
    ),
    RecordFile(
        "steps",
        {"criterion_id": TO_CRITERION} | same("version text written_by created_at"),
        key=("criterion", "version"),
    ),
    RecordFile(
        "systems",
        {"name": "system_id"} | same("kind family"),
        key=("system_id",),
        later={"family": ""},
    ),
    RecordFile(
        "conversations",
        {"digest": "conversation", "turns": "turns"},
        key=("conversation",),
        json={"turns": TURNS},
    ),
    RecordFile(
        "documents",
        same("doc_id source context references metadata turns_before session")
        | {"conversation_id": Ref("conversations", ("conversation",))},
        key=("doc_id",),
        json={"references": TEXTS, "metadata": NAMED_TEXTS},
        later={"metadata": {}, "conversation": None, "turns_before": 0, "session": ""},
    ),
    RecordFile(
        "outputs",
        {
            "document_id": Ref("documents", ("doc_id",)),
            "system_id": Ref("systems", ("system_id",)),
            "text": "output",
            "turns": "output_turns",
        },
        key=("doc_id", "system_id"),
        json={"output_turns": TURNS},
        later={"output_turns": []},
    ),
    RecordFile("annotators", {"name": "annotator", "kind": "kind"}, key=("annotator",)),
    RecordFile(
        "ratings",
        {"output_id": TO_OUTPUT, "criterion_id": TO_CRITERION, "annotator_id": TO_ANNOTATOR}
        | same("score scores_in_sight created_at comment guidelines_version"),
        later={"comment": "", "guidelines_version": None},
    ),
    RecordFile(
        "probabilities",
        {"output_id": TO_OUTPUT, "criterion_id": TO_CRITERION} | same("probability"),
    ),
    RecordFile(
        "preferences",
        {
            "output_a_id": Ref("outputs", ("doc_id", "system_a")),
            "output_b_id": Ref("outputs", ("doc_id", "system_b")),
            "criterion_id": TO_CRITERION,
            "annotator_id": TO_ANNOTATOR,
        }
        | same("value a_was_left scores_in_sight created_at comment guidelines_version"),
        later={"comment": "", "guidelines_version": None},
    ),
    RecordFile(
        "spans",
        {"output_id": TO_OUTPUT, "annotator_id": TO_ANNOTATOR}
        | same("start end quote category severity"),
    ),
)
