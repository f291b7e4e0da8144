"""Records of Argilla: fields, people's responses, and suggestions of models.

In the form of `to_json` or `to_list` (2.x), flattened (`quality.responses`), or by an older server
(a list of responses with `values`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.columns import named_columns, text_is_missing
from geval.files.tools.parts import Part
from geval.files.tools.ratings import COMMENT, OutputRatings, is_answer, points_of

TITLE = "records of Argilla"
MARKS = ("fields",)
AGENT, PERSON = "Argilla suggestion", "Argilla user"
# Where our export stores the record of answers, which cannot be loaded again.
RECORD = "record"
FLAT = ".responses"
ANSWERS = "responses"


def knows(record: Mapping[str, Any]) -> bool:
    if isinstance(record.get("fields"), dict):
        return "responses" in record or "suggestions" in record
    return any(name.endswith(FLAT) and f"{name}.users" in record for name in record)


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the texts in the fields, with each answer that has a number."""
    output_ratings = OutputRatings()
    if isinstance(record["fields"].given, dict):
        fields, metadata = record["fields"], record["metadata"]
        metadata[RECORD].skip()
        _read_responses(record["responses"], output_ratings)
        _read_suggestions(record["suggestions"], output_ratings)
    else:
        fields = metadata = record
        _read_flat(record, output_ratings)
    columns = named_columns(fields, metadata, without=("id", "uid"))  # they name an output
    for unused in ("id", "_server_id", "status", "inserted_at", "updated_at"):
        record[unused].skip()
    if not text_is_missing(columns, fields):
        yield {**columns, **output_ratings.columns}


def _read_responses(responses: Part, output_ratings: OutputRatings) -> None:
    if isinstance(responses.given, list):
        for response in responses.objects():
            who = response["user_id"].name() or PERSON
            if not is_answer(response["status"], ANSWERS):
                response["values"].skip()
                continue
            for question, answer in response["values"].items():
                _read_answer(question, who, answer["value"], output_ratings)
        return
    for question, answers in responses.items():
        for answer in answers.objects():
            who = answer["user_id"].name() or PERSON
            if is_answer(answer["status"], ANSWERS):
                _read_answer(question, who, answer["value"], output_ratings)
            else:
                answer["value"].skip()


def _read_answer(question: str, who: str, answer: Part, output_ratings: OutputRatings) -> None:
    if question == COMMENT and isinstance(answer.given, str) and points_of(answer.given) is None:
        output_ratings.comment(who, answer)
    else:
        output_ratings.rating(question, who, answer)


def _read_suggestions(suggestions: Part, output_ratings: OutputRatings) -> None:
    parts = suggestions.items()
    if isinstance(suggestions.given, list):
        parts = ((part["question_name"].name(), part) for part in suggestions.objects())
    for question, suggestion in parts:
        output_ratings.score(question, suggestion["agent"].name() or AGENT, suggestion["value"])


def _read_flat(record: Part, output_ratings: OutputRatings) -> None:
    for name in list(record.reading.record):
        if not name.endswith(FLAT):
            continue
        question = name.removesuffix(FLAT)
        users, states = record[f"{name}.users"], record[f"{name}.status"]
        for index, answer in enumerate(record[name].listed()):
            who = users[index].name() or PERSON
            if is_answer(states[index], ANSWERS):
                _read_answer(question, who, answer, output_ratings)
            else:
                answer.skip()
        suggestion = record[f"{question}.suggestion"]
        output_ratings.score(
            question, record[f"{question}.suggestion.agent"].name() or AGENT, suggestion
        )
