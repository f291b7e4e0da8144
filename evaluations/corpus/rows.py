"""What a line of an uploaded file says, whatever its format, and what can be wrong with it. Pure
data."""

from dataclasses import dataclass, field

from evaluations.texts import storable

EXPECTED = (
    "expected JSONL, CSV or Parquet of outputs (doc_id, system_id, source, output), "
    "of ratings (doc_id, system_id, criterion, annotator, score), of scores (…, judge, score) "
    "or of preferences (doc_id, system_a, system_b, annotator, winner), "
    "or a JSON list with source, system_id, system_output and scores"
)


@dataclass(frozen=True)
class Unnamed:
    """What is to be taken for what a file does not say."""

    judge: str
    criterion: str = ""
    system: str = "system"
    annotator: str = "annotator"


@dataclass(frozen=True)
class About:
    """What is said of a load beside its files.

    `judge`, `criterion` and `annotator` stand where a file names none; `version` and `source` are
    kept with the judges it makes; `first_digit` reads raw replies by the rule of published releases
    instead of ours; with `replace`, texts that are loaded already are replaced by other ones in the
    files, as long as nothing stands on them.
    """

    judge: str = "imported"
    criterion: str = ""
    version: str = ""
    source: str = ""
    first_digit: bool = False
    annotator: str = "annotator"
    replace: bool = False


@dataclass(frozen=True)
class OutputRow:
    """A system's output for a document, with the document's texts. `doc_id` is None where the file
    has no such key."""

    line: int
    doc_id: str | None
    system_id: str
    source: str
    output: str
    context: str = ""
    references: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoreRow:
    """A rating by an annotator, or a score by a judge; `criterion` is empty for a score that counts
    for every one.

    `source` identifies the document where the file has no `doc_id`.
    """

    line: int
    doc_id: str | None
    system_id: str
    criterion: str
    rater: str
    score: float
    column: str = "score"
    source: str = ""


@dataclass(frozen=True)
class RatingRow(ScoreRow):
    """A person's rating; `is_mean` for the mean of several people that a release states."""

    is_mean: bool = False


@dataclass(frozen=True)
class JudgeScoreRow(ScoreRow):
    """A judge's score, computed elsewhere."""


@dataclass(frozen=True)
class RepliesRow:
    """The raw replies of a judge about an output on a criterion, computed elsewhere; scores come of
    reading them."""

    line: int
    doc_id: str | None
    system_id: str
    criterion: str
    judge: str
    replies: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True)
class PreferenceRow:
    """An annotator's choice between two systems' outputs for a document, on a criterion or (empty)
    overall.

    `value` is above 0 where the first is preferred; `first_was_left` is None where the file does
    not say; `turn` is MT-bench's, empty elsewhere.
    """

    line: int
    doc_id: str
    first: str
    second: str
    criterion: str
    annotator: str
    value: int
    first_was_left: bool | None = None
    turn: str = ""


Row = OutputRow | RatingRow | JudgeScoreRow | RepliesRow | PreferenceRow


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a file: where, what was found, and what was expected."""

    file: str
    line: int
    column: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return (
            f"{place}: {self.column}: {self.message}" if self.column else f"{place}: {self.message}"
        )


def characters_of(row: Row) -> int:
    """About how much memory a row's texts take."""
    if isinstance(row, OutputRow):
        texts = (row.source, row.output, row.context, *row.references)
        return sum(map(len, texts))
    if isinstance(row, RepliesRow):
        return len(row.source) + sum(map(len, row.replies))
    return len(row.source) if isinstance(row, ScoreRow) else 0


def is_text(value: str) -> bool:
    """Whether a value is valid Unicode; bytes that are no UTF-8 come as lone surrogates."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class LoadError(Exception):
    """Files that cannot be loaded: nothing was written. Holds the first faults and how many there
    are in all."""

    def __init__(self, faults: list[Fault], total: int) -> None:
        super().__init__(f"{total} fault{'s' if total != 1 else ''}; nothing was loaded.")
        self.faults = faults
        self.total = total


class Faults:
    """Collects faults: keeps the first ones and counts them all.

    Args:
        most: how many are kept.
        field_limit: the longest text that is none, in characters.
    """

    def __init__(self, *, most: int = 100, field_limit: int = 20 * 2**20) -> None:
        self.most = most
        self.field_limit = field_limit
        self.listed: list[Fault] = []
        self.total = 0

    def add(self, file: str, line: int, column: str, message: str) -> None:
        """Note a fault; what it quotes of a file is made fit to be shown and kept."""
        self.total += 1
        if len(self.listed) < self.most:
            self.listed.append(Fault(storable(file), line, storable(column), storable(message)))

    def taken(self) -> tuple[list[Fault], int]:
        """What was noted since this was last asked, for `take` of others."""
        listed, total = self.listed, self.total
        self.most -= len(listed)
        self.listed, self.total = [], 0
        return listed, total

    def take(self, listed: list[Fault], total: int) -> None:
        """Note faults that others have collected."""
        self.total += total
        self.listed += listed[: max(0, self.most - len(self.listed))]

    def raise_if_any(self) -> None:
        """Raise LoadError if there is a fault."""
        if self.total:
            raise LoadError(sorted(self.listed, key=lambda f: (f.file, f.line)), self.total)
