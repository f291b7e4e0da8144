"""Read ratings and judges' scores from records: one per row, or one per criterion column."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evaluations.corpus.fields import (
    CRITERION_LIMIT,
    ID_LIMIT,
    Fields,
    Place,
    number_of,
    shown,
    written_number,
)
from evaluations.corpus.rows import FileDefaults, FileErrors, JudgeScoreRow, RatingRow, Row, is_text

SCORE_COLUMNS = ("doc_id", "system_id", "criterion", "score")
WIDE = "ratings."
Read = Callable[[Sequence[str], int], Iterator[Row]]


def is_wide(columns: Mapping[str, Any] | Sequence[str]) -> bool:
    """Whether a record or a header has ratings in one column per criterion."""
    return "ratings" in columns or any(name.startswith(WIDE) for name in columns)


def score_rows(record: Mapping[str, Any], place: Place) -> Iterator[Row]:
    """A rating or a judge's score as an object; read like a line of a table."""
    rater = next((column for column in ("annotator", "judge") if column in record), "annotator")
    header = [*SCORE_COLUMNS, rater]
    values = ["" if record.get(column) is None else str(record[column]) for column in header]
    yield from score_reader(header, rater, place.file, place.errors)(values, place.line)


def wide_rows(record: Mapping[str, Any], place: Place, defaults: FileDefaults) -> Iterator[Row]:
    """Ratings on several criteria of an output that is loaded separately."""
    fields = Fields(record, place)
    doc_id, system = fields.identifier("doc_id"), fields.identifier("system_id")
    if place.sound:
        yield from wide_scores(record, place, defaults, doc_id=doc_id, system=system, source="")


def wide_scores(
    record: Mapping[str, Any],
    place: Place,
    defaults: FileDefaults,
    *,
    doc_id: str | None,
    system: str,
    source: str,
) -> Iterator[Row]:
    """The numbers in `ratings` or in columns `ratings.CRITERION`: a judge's if one is named.

    Otherwise they are an annotator's. An empty field is no rating.
    """
    if not is_wide(record):
        return
    by_judge = bool(record.get("judge")) and not record.get("annotator")
    who = str(record.get("judge" if by_judge else "annotator") or defaults.annotator).strip()
    place.limited(who, ID_LIMIT, "judge" if by_judge else "annotator")
    given = record.get("ratings")
    dotted = {name.removeprefix(WIDE): record[name] for name in record if name.startswith(WIDE)}
    make: type[RatingRow] | type[JudgeScoreRow] = JudgeScoreRow if by_judge else RatingRow
    for criterion, value in {**(given if isinstance(given, dict) else {}), **dotted}.items():
        if value is None or value == "":
            continue
        column = f"{WIDE}{criterion}"
        score = written_number(value.strip()) if isinstance(value, str) else number_of(value)
        name = place.limited(str(criterion).strip(), CRITERION_LIMIT, column)
        if not name:
            place.error(column, "expected the criterion's name after the dot, found nothing")
        elif score is None:
            place.error(column, f"expected a number, found {shown(value)}")
        elif place.sound:
            yield make(place.line, doc_id, system, name, who, score, column, source)


def score_reader(header: Sequence[str], rater: str, name: str, errors: FileErrors) -> Read:
    """A reader of a table's lines; these tables are the longest, so columns are looked up once."""
    at = [header.index(column) for column in ("doc_id", "system_id", "criterion", rater, "score")]
    is_rating = rater == "annotator"
    make: type[RatingRow] | type[JudgeScoreRow] = RatingRow if is_rating else JudgeScoreRow

    def read(values: Sequence[str], line: int) -> Iterator[Row]:
        doc_id, system, criterion, who, written = (values[index].strip() for index in at)
        score = written_number(written)
        names = doc_id + system + criterion + who
        # Most lines are valid, and quickly found to be: nothing is missing, too long or not a text.
        if (
            score is not None
            and doc_id
            and system
            and who
            and (criterion or not is_rating)
            and (len(names) <= CRITERION_LIMIT and names.isascii() and "\0" not in names)
        ):
            yield make(line, doc_id, system, criterion, who, score)
            return
        place = Place(name, line, errors)
        for column, value in (("doc_id", doc_id), ("system_id", system), (rater, who)):
            if not value:
                place.error(column, "expected a name, found nothing")
            elif len(value) > ID_LIMIT or "\0" in value or not is_text(value):
                place.limited(value, ID_LIMIT, column)
        if not criterion and is_rating:
            place.error("criterion", "expected the criterion that was rated, found nothing")
        elif len(criterion) > CRITERION_LIMIT or "\0" in criterion or not is_text(criterion):
            place.limited(criterion, CRITERION_LIMIT, "criterion")
        if score is None:
            place.error(
                "score", f"expected a number, found {shown(written) if written else 'nothing'}"
            )
        elif place.sound:
            yield make(line, doc_id, system, criterion, who, score)

    return read
