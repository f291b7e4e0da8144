"""Read outputs from records in our columns, other tools' columns, or releases' formats."""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from geval.files.cells import SYSTEMS
from geval.files.column_aliases import conventional, expert_ratings, is_ours
from geval.files.conversation_records import conversation_rows
from geval.files.fields import CRITERION_LIMIT, REPEAT, Fields, Place, kind, not_a_number, number_of
from geval.files.messages import turns_column
from geval.files.rows import (
    FileDefaults,
    JudgeScoreRow,
    OutputRow,
    RatingRow,
    RepliesRow,
    Row,
    ScoreRow,
    name_of_source,
)
from geval.files.score_records import wide_scores
from geval.files.unused import peek

HUMAN_MEAN = "human mean"
STATED = ("scores", "predict_scores")


def output_rows(record: Mapping[str, Any], place: Place, defaults: FileDefaults) -> Iterator[Row]:
    """Yield an output in our columns or another tool's, with the ratings in the same record."""
    if turns_column(record):
        yield from _of_conversation(record, place, defaults)
        return
    given, record = record, _in_our_columns(record, defaults)
    fields = Fields(record, place)
    doc_id = fields.identifier("doc_id") if "doc_id" in record else None
    system = fields.identifier("system_id")
    source = fields.text("source", required=True)
    output = fields.text("output", required=True, may_be_blank=True)
    context = fields.text("context")
    references = fields.texts("references")
    metadata = Fields(given, place).metadata()
    session = Fields(given, place).session()
    if not place.sound:
        return
    if defaults.separate:
        number = _number_of_output(doc_id or source, output, defaults)
        if defaults.separate == SYSTEMS:
            system = f"output {number}"
        else:
            doc_id = f"{doc_id or name_of_source(source)}-{number}"
    yield OutputRow(
        place.line,
        doc_id,
        system,
        source,
        output,
        context,
        references,
        metadata,
        session=session,
    )
    yield from _ratings_in_record(given, place, defaults, (doc_id, system, source))


def _number_of_output(document: str, output: str, defaults: FileDefaults) -> int:
    """Return the number of an output among the different ones of its document, from 1."""
    key = hash(document), hash(output)
    if key not in defaults.outputs:
        count = hash(("outputs", document)), ""
        defaults.rows_of[count] += 1
        defaults.outputs[key] = defaults.rows_of[count]
    return defaults.outputs[key]


def _of_conversation(
    record: Mapping[str, Any], place: Place, defaults: FileDefaults
) -> Iterator[Row]:
    """Yield the rated parts of a conversation; ratings in its record are for its only output."""
    outputs = []
    for row in conversation_rows(record, place, defaults):
        if isinstance(row, OutputRow):
            outputs.append((row.doc_id, row.system_id, row.source))
        yield row
    if len(outputs) == 1:
        yield from _ratings_in_record(record, place, defaults, outputs[0])


def _ratings_in_record(
    given: Mapping[str, Any],
    place: Place,
    defaults: FileDefaults,
    output: tuple[str | None, str, str],
) -> Iterator[Row]:
    """Yield ratings and scores of an output from its own record."""
    doc_id, system, source = output
    scores = wide_scores(given, place, defaults, doc_id=doc_id, system=system, source=source)
    repeat = Fields(given, place).session(REPEAT)
    for row in scores:
        yield replace(row, repeat=repeat) if repeat and isinstance(row, ScoreRow) else row
    objects = {name for name in STATED if isinstance(peek(given, name), Mapping)}
    numbers = {name: dict(Fields(given, place).numbers(name)) for name in objects}
    if place.sound:
        yield from _stated_scores(numbers, place.line, defaults, output)
    for annotator, criterion, score in expert_ratings(given):
        value = number_of(score)
        if value is None:
            place.error(f"{annotator}.{criterion}", not_a_number(score))
        else:
            yield RatingRow(
                place.line,
                doc_id,
                system,
                criterion,
                annotator,
                value,
                "expert_annotations",
                source,
            )


def _in_our_columns(record: Mapping[str, Any], defaults: FileDefaults) -> Mapping[str, Any]:
    """Convert another tool's record to our columns; an unknown record stays unchanged, so that
    errors name our columns."""
    if is_ours(record):
        return record
    columns = conventional(record, system=defaults.system)
    if "source" in columns and "output" in columns:
        return columns
    return ChainMap(record, {"doc_id": None})  # type: ignore[arg-type]


def release_rows(record: Mapping[str, Any], place: Place, defaults: FileDefaults) -> Iterator[Row]:
    """Read an object of the G-Eval or UniEval release: an output, its mean human ratings, and
    perhaps a judge's scores."""
    fields = Fields(record, place)
    doc_id = fields.identifier("doc_id") if record.get("doc_id") is not None else None
    system = fields.identifier("system_id")
    source = fields.text("source", required=True)
    output = fields.text("system_output", required=True, may_be_blank=True)
    context = fields.text("context")
    references = fields.texts("reference", "references")
    numbers = {column: dict(fields.numbers(column)) for column in STATED}
    if not place.sound:
        return
    yield OutputRow(place.line, doc_id, system, source, output, context, references)
    yield from _stated_scores(numbers, place.line, defaults, (doc_id, system, source))


def _stated_scores(
    numbers: Mapping[str, Mapping[str, float]],
    line: int,
    defaults: FileDefaults,
    output: tuple[str | None, str, str],
) -> Iterator[Row]:
    """Read a release's numbers for an output, by criterion: people's mean in `scores`, and perhaps
    a judge's in `predict_scores`."""
    doc_id, system, source = output
    for criterion, score in numbers.get("scores", {}).items():
        column = f"scores.{criterion}"
        yield RatingRow(
            line, doc_id, system, criterion, HUMAN_MEAN, score, column, source, is_mean=True
        )
    for criterion, score in numbers.get("predict_scores", {}).items():
        column = f"predict_scores.{criterion}"
        yield JudgeScoreRow(line, doc_id, system, criterion, defaults.judge, score, column, source)


def replies_rows(record: Mapping[str, Any], place: Place, defaults: FileDefaults) -> Iterator[Row]:
    """Read an object of the G-Eval release's results: a judge's raw replies about an output, with
    or without its texts."""
    fields = Fields(record, place)
    if "system_output" in record:
        yield from release_rows(record, place, defaults)
    is_named = record.get("doc_id") is not None
    doc_id = fields.identifier("doc_id") if is_named else None
    source = "" if is_named else fields.text("source", required=True)
    system = fields.identifier("system_id")
    scores = peek(record, "scores")
    only = next(iter(scores), "") if isinstance(scores, dict) and len(scores) == 1 else ""
    criterion = str(record.get("criterion") or defaults.criterion or only).strip()
    if not criterion:
        place.error(
            "criterion",
            "the replies do not name the criterion they rate; give the criterion's name when you "
            "load them",
        )
    place.limited(criterion, CRITERION_LIMIT, "criterion")
    replies = record["all_responses"]
    if (
        not isinstance(replies, list)
        or not all(isinstance(reply, str) for reply in replies)
        or not replies
    ):
        place.error(
            "all_responses", f"expected a list of texts, found {kind(replies)} or nothing in it"
        )
    elif place.sound:
        cleaned = tuple(place.clean(reply, "all_responses") for reply in replies)
        if place.sound:
            judge = str(record.get("judge") or defaults.judge)
            yield RepliesRow(place.line, doc_id, system, criterion, judge, cleaned, source)
