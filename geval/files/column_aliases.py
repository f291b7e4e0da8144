"""Convert records written by other tools of the field to our columns. Pure.

Recognised are `input/output/reference` and similar names, `article/highlights` (CNN/DailyMail),
`question/answer/context` (retrieval), chat messages, DeepEval's test cases (`actual_output`,
`expected_output`), SummEval's own JSON (`decoded`, `model_id`, `expert_annotations`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.messages import turns_column


def names_in(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Our column -> its names in other tools; the first one present counts.
NAMES: dict[str, tuple[str, ...]] = {
    "doc_id": names_in(
        "doc_id document_id id example_id question_id prompt_id input_id item_id task_id uid"
    ),
    "system_id": ("system_id", "model_id", "model", "system", "provider", "generator"),
    "source": names_in(
        "source input article document question prompt query text user_message user_input"
        " user_query user_prompt instruction"
    ),
    "output": names_in(
        "output actual_output decoded prediction generated completion response answer summary"
        " model_output model_response llm_output llm_response bot_response generated_text"
    ),
    "context": ("context", "retrieval_context", "contexts", "fact", "knowledge"),
    "references": names_in(
        "references reference expected_output expected highlights ideal target gold"
    ),
}
KNOWN_NAMES = frozenset(name for names in NAMES.values() for name in names)
REFERENCE_WRITER = "reference"
EXPERTS = {"expert_annotations": "expert", "turker_annotations": "turker"}


def conventional(record: Mapping[str, Any], *, system: str) -> dict[str, Any]:
    """Return a record with our columns; unknown fields stay, so that errors can name them.

    Args:
        system: the system that wrote the outputs, if a record does not say.
    """
    if turns_column(record):
        # Its texts are read with their turns.
        return {"source": "", "output": "", **named(record, system=system)}
    columns = _found(record)
    if columns["output"] is None and columns["references"] is not None:
        # A data set of texts by people: these are the outputs, and there is no reference to compare
        # them with.
        listed = columns["references"]
        columns |= {
            "output": listed[0] if isinstance(listed, list) and listed else listed,
            "references": None,
        }
        columns["system_id"] = columns["system_id"] or REFERENCE_WRITER
    return _complete(columns, system)


def named(record: Mapping[str, Any], *, system: str) -> dict[str, Any]:
    """Return the fields of a record that have our names or other tools', without further
    interpretation."""
    return _complete(_found(record), system)


def _found(record: Mapping[str, Any]) -> dict[str, Any]:
    columns = {column: _first(record, names) for column, names in NAMES.items()}
    if isinstance(columns["context"], list) and all(
        isinstance(part, str) for part in columns["context"]
    ):
        columns["context"] = "\n\n".join(columns["context"])
    return columns


def _complete(columns: Mapping[str, Any], system: str) -> dict[str, Any]:
    """Add the default system if none is named, and drop missing values."""
    whole = {**columns, "system_id": columns["system_id"] or system}
    return {column: value for column, value in whole.items() if value is not None}


def is_ours(record: Mapping[str, Any]) -> bool:
    """Return whether a record uses our names for the fields that every output needs."""
    return all(name in record for name in ("system_id", "source", "output"))


def expert_ratings(record: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """SummEval's ratings within a record, as (annotator, criterion, score)."""
    for column, who in EXPERTS.items():
        listed = record.get(column)
        for number, ratings in enumerate(listed if isinstance(listed, list) else (), start=1):
            for criterion, score in ratings.items() if isinstance(ratings, dict) else ():
                yield f"{who}-{number}", str(criterion), score


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)
