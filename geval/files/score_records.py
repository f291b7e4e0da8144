"""Read ratings and judges' scores from records: one per row, or one per criterion column."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from geval.files.cells import NUMBERED, CellColumn, cell_of
from geval.files.fields import (
    COMMENT_LIMIT,
    CRITERION_LIMIT,
    MISSING_WORDS,
    REPEAT,
    SESSION,
    THOUSANDS,
    Fields,
    Place,
    is_missing,
    is_not_applicable,
    is_reply,
    not_a_number,
    number_or_word,
    shown,
    written_number,
)
from geval.files.mapping import COMMENTS_OF
from geval.files.rows import (
    FileDefaults,
    FileErrors,
    JudgeScoreRow,
    NotApplicableRow,
    RatingRow,
    RepliesRow,
    Row,
    ScoreRow,
)
from geval.files.unused import peek
from geval.statistics.locked_rule import GROUP

SCORE_COLUMNS = ("doc_id", "system_id", "criterion", "score")
WIDE = "ratings."
PROBABILITY = "probability"
# Comments by person, for an output that several people rated in one record.
COMMENTS = "comments"
COMMENT = "comment"
# What a rating may contain besides its score.
BESIDE = (PROBABILITY, COMMENT)
# No campaign draws one of more outputs than this; squares of weights stay finite.
LEAST_PROBABILITY = 1e-9
Scored = RatingRow | JudgeScoreRow | NotApplicableRow | RepliesRow
Read = Callable[[Sequence[str], int], Iterator[Scored]]


def is_wide(columns: Mapping[str, Any] | Sequence[str]) -> bool:
    """Return whether a record or header has separate columns of ratings or scores."""
    return "ratings" in columns or _is_tidy(columns) or any(map(_is_cell, columns))


def _is_tidy(columns: Mapping[str, Any] | Sequence[str]) -> bool:
    """Return whether a record or header has one rating beside its output."""
    return "score" in columns and "criterion" in columns and "output" in columns


def _is_cell(name: str) -> bool:
    return name.startswith(WIDE) or cell_of(name) is not None


def score_rows(record: Mapping[str, Any], place: Place) -> Iterator[Row]:
    """Read a rating or a judge's score from an object, like a line of a table."""
    rater = next((column for column in ("annotator", "judge") if column in record), "annotator")
    header = [*SCORE_COLUMNS, rater, *(column for column in BESIDE if column in record)]
    values = [as_cell(record.get(column)) for column in header]
    rows = score_reader(header, rater, place.file, place.errors)(values, place.line)
    yield from _in_session(rows, record, place)


def as_cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value!r}0" if THOUSANDS.fullmatch(repr(value)) else repr(value)  # no thousand
    return "" if value is None else str(value)


def wide_rows(record: Mapping[str, Any], place: Place, defaults: FileDefaults) -> Iterator[Row]:
    """Read ratings on several criteria of an output that is loaded separately."""
    fields = Fields(record, place)
    doc_id, system = fields.identifier("doc_id"), fields.identifier("system_id")
    if place.sound:
        rows = wide_scores(record, place, defaults, doc_id=doc_id, system=system, source="")
        yield from _in_session(rows, record, place)


def _in_session(
    rows: Iterator[Scored], record: Mapping[str, Any], place: Place
) -> Iterator[Scored]:
    """Add the session and the group that a record without an output states for its document, and
    which repeat it is. The first two do not count as read: where outputs are loaded, only they set
    these."""
    fields = Fields({name: peek(record, name) for name in (SESSION, GROUP)}, place)
    session, group = fields.session(), fields.group()
    repeat = Fields(record, place).session(REPEAT)
    for row in rows:
        if place.sound:
            if isinstance(row, ScoreRow) and (session or group or repeat):
                yield replace(row, session=session, group=group, repeat=repeat)
            elif isinstance(row, NotApplicableRow):
                yield replace(row, repeat=repeat)
            else:
                yield row


def wide_scores(
    record: Mapping[str, Any],
    place: Place,
    defaults: FileDefaults,
    *,
    doc_id: str | None,
    system: str,
    source: str,
) -> Iterator[Scored]:
    """Read the numbers in `ratings` or in columns `ratings.CRITERION`: a judge's if one is named,
    otherwise an annotator's.

    A missing value is not a rating.
    """
    if not is_wide(record):
        return
    by_judge = bool(record.get("judge")) and not record.get("annotator")
    column_of_raters = "judge" if by_judge else "annotator"
    who = place.name(str(record.get(column_of_raters) or ""), column_of_raters)
    comments = _comments(record, place)
    row_number = 0
    for column, given, value in _cells(record, by_judge=by_judge):
        cell = given
        if cell.rater == NUMBERED:
            row_number = row_number or _number_of_row(record, defaults, (doc_id or source, system))
            cell = replace(given, rater=f"rater {row_number}")
        is_answer = is_not_applicable(value)
        if is_missing(value, place.errors.answers) and not is_answer:
            if isinstance(value, str) and value.strip().lower() in MISSING_WORDS:
                place.errors.unused.add(place.file, f"“{value.strip()}”")
            continue
        score = (0.0, "") if is_answer else number_or_word(value)
        criterion = cell.criterion or str(record.get("criterion") or "").strip()
        name = place.name(criterion, column, CRITERION_LIMIT)
        default = defaults.judge if cell.by_judge else defaults.annotator
        rater = place.name(cell.rater or who or default, column)
        comment = comments[rater] or comments[given.rater]
        if not name:
            place.error(column, "expected the criterion's name, found nothing")
        elif place.sound and cell.by_judge and is_reply(value):
            yield RepliesRow(place.line, doc_id, system, name, rater, (value,), source)
        elif score is None:
            place.error(column, not_a_number(value))
        elif place.sound and is_answer:
            answer = (place.line, doc_id, system, name, rater, cell.by_judge, source)
            yield NotApplicableRow(*answer, "" if cell.by_judge else comment)
        elif place.sound:
            names = (place.line, doc_id, system, name, rater, score[0], column, source)
            yield (
                JudgeScoreRow(*names, word=score[1])
                if cell.by_judge
                else RatingRow(*names, word=score[1], comment=comment)
            )


def _comments(record: Mapping[str, Any], place: Place) -> defaultdict[str, str]:
    """Return each rater's comment: by name in `comments` or in columns `comments.RATER` (without a
    name: the default's), or in `comment` of a record with one rater."""
    by_rater = record.get(COMMENTS) or {
        column.removeprefix(COMMENTS_OF): record[column]
        for column in record
        if column.startswith(COMMENTS_OF)
    }
    if by_rater and isinstance(by_rater, dict):
        comments: defaultdict[str, str] = defaultdict(str)
        for rater, text in by_rater.items():
            name = f"{COMMENTS}.{rater}"
            comments[str(rater)] = place.limited(_text_of(text), COMMENT_LIMIT, name)
        return comments
    of_record = record.get(COMMENT) if "annotator" in record else None
    comment = place.limited(_text_of(of_record), COMMENT_LIMIT, COMMENT)
    return defaultdict(lambda: comment)


def _text_of(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _cells(record: Mapping[str, Any], *, by_judge: bool) -> Iterator[tuple[str, CellColumn, Any]]:
    """Yield the ratings and scores of a record: column, criterion and rater, and value."""
    given = record["ratings"] if isinstance(peek(record, "ratings"), dict) else {}
    for criterion, value in given.items():
        yield f"{WIDE}{criterion}", CellColumn(str(criterion).strip(), "", by_judge), value
    if _is_tidy(record):
        yield "score", CellColumn("", "", by_judge), record["score"]
    for column in record:
        if column.startswith(WIDE):
            name = column.removeprefix(WIDE).strip()
            yield column, CellColumn(name, "", by_judge), record[column]
        elif (cell := cell_of(column)) is not None:
            yield column, cell, record[column]


def _number_of_row(
    record: Mapping[str, Any], defaults: FileDefaults, output: tuple[str, str]
) -> int:
    """Return the number of this row among those of its output (and criterion, if rows name one),
    from 1."""
    key = (hash(output), str(record.get("criterion") or ""))
    defaults.rows_of[key] += 1
    return defaults.rows_of[key]


def _is_probability(number: float | None) -> bool:
    return number is not None and (number == 0 or LEAST_PROBABILITY <= number <= 1)


def _with_more(header: Sequence[str], name: str, errors: FileErrors) -> Read:
    """Return a reader of ratings with a comment or the probability with which their output was
    chosen; an empty cell means none."""
    position = {column: header.index(column) for column in BESIDE if column in header}
    others = [index for index in range(len(header)) if index not in position.values()]
    read = score_reader([header[index] for index in others], "annotator", name, errors)

    def with_more(values: Sequence[str], line: int) -> Iterator[Scored]:
        written, comment = (
            values[position[column]].strip() if column in position else ""
            for column in (PROBABILITY, COMMENT)
        )
        place = Place(name, line, errors)
        comment = place.limited(comment, COMMENT_LIMIT, COMMENT)
        if not place.sound:
            return
        probability = written_number(written) if written else None
        if written and not _is_probability(probability):
            message = (
                f"expected a probability from 0 to 1, found {shown(written)}; above 0 the smallest"
                f" is {LEAST_PROBABILITY:g}"
            )
            errors.add(name, line, PROBABILITY, message)
            return
        for row in read([values[index] for index in others], line):
            if isinstance(row, RatingRow):
                yield replace(row, probability=probability, comment=comment)
            else:
                yield replace(row, comment=comment) if isinstance(row, NotApplicableRow) else row

    return with_more


def score_reader(header: Sequence[str], rater: str, name: str, errors: FileErrors) -> Read:
    """Return a reader of a table's lines; these tables are the longest, so columns are looked up
    once."""
    if named := {header.index(name): name for name in (SESSION, GROUP, REPEAT) if name in header}:
        kept = [index for index in range(len(header)) if index not in named]
        bare = score_reader([header[index] for index in kept], rater, name, errors)
        return lambda values, line: _in_session(
            bare([values[index] for index in kept], line),
            {column: values[index] for index, column in named.items()},
            Place(name, line, errors),
        )
    columns = [
        header.index(column) for column in ("doc_id", "system_id", "criterion", rater, "score")
    ]
    is_rating = rater == "annotator"
    if is_rating and not set(BESIDE).isdisjoint(header):
        return _with_more(header, name, errors)
    make: type[RatingRow] | type[JudgeScoreRow] = RatingRow if is_rating else JudgeScoreRow

    def read(values: Sequence[str], line: int) -> Iterator[Scored]:
        doc_id, system, criterion, who, written = (values[index].strip() for index in columns)
        score, word = written_number(written), ""
        if score is None or written[-4:-3] == ".":  # a word, or 1.000, which may be a thousand
            if is_not_applicable(written) and doc_id and system and who:
                yield NotApplicableRow(line, doc_id, system, criterion, who, not is_rating)
            if is_missing(written, errors.answers):
                if written.lower() in MISSING_WORDS:
                    errors.unused.add(name, f"“{written}”")
                return
            if not is_rating and criterion and doc_id and system and who and is_reply(written):
                yield RepliesRow(line, doc_id, system, criterion, who, (written,))
                return
            score, word = number_or_word(written) or (None, "")
        names = doc_id + system + criterion + who
        # Most lines are valid, which is quick to check: nothing is missing, too long or not a text.
        if (
            score is not None
            and doc_id
            and system
            and who
            and (criterion or not is_rating)
            and (len(names) <= CRITERION_LIMIT and names.isascii() and "\0" not in names)
            and "'" not in names
        ):
            yield make(line, doc_id, system, criterion, who, score, word=word)
            return
        place = Place(name, line, errors)
        doc_id, system, who = (
            place.name(value, column) if value else _nothing(place, column)
            for column, value in (("doc_id", doc_id), ("system_id", system), (rater, who))
        )
        if not criterion and is_rating:
            place.error("criterion", "expected the criterion that was rated, found nothing")
        criterion = place.name(criterion, "criterion", CRITERION_LIMIT)
        if score is None:
            place.error("score", not_a_number(written))
        elif place.sound:
            yield make(line, doc_id, system, criterion, who, score, word=word)

    return read


def _nothing(place: Place, column: str) -> str:
    place.error(column, "expected a name, found nothing")
    return ""
