"""The result of a load, its errors and its questions, as lines for the terminal and as JSON."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import orjson

from geval.files.load_results import LoadContents, LoadResult
from geval.files.questions import UploadQuestion, wider_scales, written_columns
from geval.files.rows import LoadError
from geval.files.unused import unused_in_lines
from geval.texts.sentences import excerpt

# A longer text would wrap in a terminal several times.
LONGEST_TEXT = 100


def questions_in_lines(questions: Sequence[UploadQuestion]) -> Iterator[str]:
    """Return questions that must be answered first, with the options that answer them."""
    for question in questions:
        yield f"{question.text} Answer with --columns:"
        for choice in question.choices:
            yield f"  {choice.label}: {choice.gives}"
            written = map(shlex.quote, written_columns(choice.columns))
            yield "    " + " ".join(f"--columns {column}" for column in written)
    yield "Nothing was loaded."


def questions_as_json(questions: Sequence[UploadQuestion]) -> str:
    unclear = [asdict(question) for question in questions]
    return orjson.dumps({"ok": False, "questions": unclear}).decode()


def result_in_lines(result: LoadResult) -> Iterator[str]:
    """Return lines with the number of records of each kind, unused columns, and after a dry run
    what would exist."""
    for kind, tally in result.as_json().items():
        if any(tally.values()):
            changed = f"{tally['changed']:,} changed, " if tally["changed"] else ""
            counts = f"{tally['created']:,} new, {changed}{tally['unchanged']:,} unchanged"
            yield f"{kind:>10}: {counts}"
    if result.unreadable:
        yield (
            f"{result.unreadable:,} raw replies contain no rating; scores are computed from the"
            " others."
        )
    yield from result.notes
    for line in unused_in_lines(result.unused):
        yield f"  {line}"
    if result.contents is not None:
        yield from _contents_in_lines(result.contents)
    if not result.changed:
        yield "Nothing has changed: everything in these files already exists."


def result_as_json(result: LoadResult) -> str:
    about = {
        "ok": True,
        **result.as_json(),
        "unreadable": result.unreadable,
        "unused": result.unused,
        "notes": result.notes,
        "contents": result.contents,
        "errors": [],
    }
    return orjson.dumps(about).decode()


def errors_in_lines(error: LoadError) -> Iterator[str]:
    """Return errors with their lines, and what to do."""
    yield from map(str, error.errors)
    for scale in wider_scales(error.contents):
        yield f"If they are right, set the scale: --scale {shlex.quote(scale)}"
    if error.total > len(error.errors):
        yield f"… and {error.total - len(error.errors):,} more"
    yield str(error)


def errors_as_json(error: LoadError) -> str:
    errors = [
        {"file": each.file, "line": each.line, "column": each.column, "message": each.message}
        for each in error.errors
    ]
    about = {"ok": False, "total_errors": error.total, "errors": errors}
    return orjson.dumps(about).decode()


def _contents_in_lines(contents: LoadContents) -> Iterator[str]:
    for criterion in contents.criteria:
        new = "new criterion" if criterion.is_new else "criterion"
        given = f"{criterion.ratings:,} ratings, {criterion.scores:,} scores"
        yield f"{new} {criterion.name}: scale {criterion.scale}, {given}"
        if criterion.from_data:
            option = shlex.quote(f"{criterion.name}={criterion.scale.partition(' ')[0]}")
            yield f"  the scale is a guess from the data; set it: --scale {option}"
    for word in ("raters", "judges", "systems"):
        if counts := getattr(contents, word):
            listed = ", ".join(f"{name} ({count:,})" for name, count in counts.items())
            yield f"{word}: {listed}"
    for item in contents.examples:
        yield f"example: document {item.doc_id}, system {item.system}"
        yield f"  source: {excerpt(item.source, LONGEST_TEXT)}"
        yield f"  output: {excerpt(item.output, LONGEST_TEXT)}"
        given = ", ".join(
            f"{score.criterion or 'every criterion'} {score.score:g} by {score.rater}"
            for score in item.scores
        )
        if given:
            yield f"  {given}"
