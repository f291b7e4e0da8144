"""Files of known tools that lack what is to be rated, each with where that is found. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class LackingFile(NamedTuple):
    """A kind of file: fields that it has, and a field that would make it readable."""

    title: str
    has: frozenset[str]
    without: str
    lacks: str


_LACKING = (
    LackingFile(
        "answers of MT-bench", frozenset(("question_id", "choices")), "source",
        "the questions: add each question's turns as `source`, or write both as messages",
    ),
    LackingFile(
        "questions of MT-bench", frozenset(("question_id", "category", "turns")), "source",
        "the answers: add each model's as `output`, or write both as messages",
    ),
    LackingFile(
        "the state of a user of Potato", frozenset(("user_id", "instance_id_to_label_to_value")),
        "source", "the texts: export the annotations as JSONL, and add each instance's fields",
    ),
    LackingFile(
        "results of lm-evaluation-harness", frozenset(("results", "config")), "resps",
        "the samples: run it with --log_samples, and load the files samples_….jsonl",
    ),
    LackingFile(
        "a log of Inspect", frozenset(("eval", "plan", "results")), "samples",
        "the samples: write the whole log with inspect log dump",
    ),
    LackingFile(
        "statistics of HELM", frozenset(("name", "count", "mean")), "request_states",
        "the texts: load scenario_state.json of the same run",
    ),
    LackingFile(
        "a task of Label Studio", frozenset(("data", "id")), "annotations",
        "annotations: export the project as JSON",
    ),
    LackingFile(
        "a summary of promptfoo", frozenset(("evalId", "stats")), "results",
        "the results: export the evaluation as JSON",
    ),
)  # fmt: skip


def what_is_lacking(record: Mapping[str, Any]) -> str:
    """Return what a tool's file lacks, as a sentence; empty for any other record."""
    return next(
        (
            f"this looks like {file.title}, which lacks {file.lacks}"
            for file in _LACKING
            if record.keys() >= file.has and file.without not in record
        ),
        "",
    )
