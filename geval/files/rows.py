"""The rows of uploaded files, whatever their format, and the errors in them. Pure data."""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from geval.files.load_results import LoadContents
from geval.files.unused import Unused
from geval.statistics.locked_rule import GROUP
from geval.texts.spelling import storable

# A column of a file -> its meaning, a key of `mapping.TARGETS` or one with names (`cells`).
Columns = Mapping[str, str]

EXPECTED = (
    "expected JSONL, CSV or Parquet of outputs (doc_id, system_id, source, output), "
    "of ratings (doc_id, system_id, criterion, annotator, score), of scores (…, judge, score) "
    "or of preferences (doc_id, system_a, system_b, annotator, winner), "
    "or a JSON list with source, system_id, system_output and scores"
)


@dataclass(frozen=True)
class FileDefaults:
    """Names to use where a file has none; `rows_of` counts the rows of outputs whose raters are
    numbered. A document's outputs that are `separate` (`cells.SYSTEMS` or `cells.DOCUMENTS`) are
    numbered by `outputs`, in the order in which they first occur. `answers` are the names of a
    scale's points, in lower case."""

    judge: str
    criterion: str = ""
    system: str = "system"
    annotator: str = "annotator"
    rate: str = ""
    rows_of: Counter[tuple[int, str]] = field(default_factory=Counter, compare=False)
    separate: str = ""
    outputs: dict[tuple[int, int], int] = field(default_factory=dict, compare=False)
    answers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LoadOptions:
    """Options of a load, next to its files.

    `judge`, `criterion` and `annotator` are used where a file names none; `version` and `source`
    are stored with the judges that the load creates; `first_digit` reads raw replies by the rule of
    published releases instead of ours; with `replace`, existing texts are replaced by different
    ones in the files, as long as nothing depends on them. `verdicts_by` names the judge whose
    verdicts the preferences are; without it they are people's, unless a file says that a judge made
    them. `scales` are the scales of new criteria, by name, as (lowest, highest, step); by default a
    scale is guessed from the ratings. `rate` says which parts of conversations are rated, where
    records do not: `reply`, `session`, or a role. With `open_only`, ratings and preferences of
    documents that are locked until the last look are errors.
    """

    judge: str = "imported"
    criterion: str = ""
    version: str = ""
    source: str = ""
    first_digit: bool = False
    annotator: str = "annotator"
    replace: bool = False
    verdicts_by: str = ""
    scales: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    rate: str = ""
    open_only: bool = False


@dataclass(frozen=True)
class OutputRow:
    """A system's output for a document, with the document's texts. `doc_id` is None if the file has
    none.

    In a conversation, `conversation` is the digest of its turns, `turns_before` how many of them
    precede the output, `session` the session that the document is a turn of, and `turns` the
    output's turns as JSON, empty for a plain text.
    """

    line: int
    doc_id: str | None
    system_id: str
    source: str
    output: str
    context: str = ""
    references: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    conversation: str = ""
    turns_before: int = 0
    session: str = ""
    turns: str = ""

    @property
    def group(self) -> str:
        """The group of the document; empty if there is none."""
        return self.metadata.get(GROUP, "")


@dataclass(frozen=True)
class ConversationRow:
    """The turns of a conversation as JSON; later outputs refer to it by its digest."""

    line: int
    digest: str
    turns: str


@dataclass(frozen=True)
class ScoreRow:
    """An annotator's rating or a judge's score; an empty `criterion` means every criterion.

    `source` identifies the document if the file has no `doc_id`. `session` is the session that the
    document is a turn of, and `group` its group, for files without outputs. A rating that is
    written as a `word` has no score (NaN) until `word_ratings` says which. `repeat` tells the
    scores apart that a judge gave the same output again.
    """

    line: int
    doc_id: str | None
    system_id: str
    criterion: str
    rater: str
    score: float
    column: str = "score"
    source: str = ""
    session: str = ""
    word: str = ""
    group: str = ""
    repeat: str = ""


@dataclass(frozen=True)
class RatingRow(ScoreRow):
    """A person's rating; `is_mean` for a mean over several people in a release; `probability` is
    the output's probability of being chosen for rating, where the file states it; `comment` is what
    the rater wrote with the rating."""

    is_mean: bool = False
    probability: float | None = None
    comment: str = ""


@dataclass(frozen=True)
class JudgeScoreRow(ScoreRow):
    """A judge's score that was computed elsewhere."""


@dataclass(frozen=True)
class NotApplicableRow:
    """The answer of a person or a judge that a criterion does not apply to an output, or that they
    cannot assess it: no rating, and no missing one."""

    line: int
    doc_id: str | None
    system_id: str
    criterion: str
    rater: str
    by_judge: bool
    source: str = ""
    comment: str = ""
    repeat: str = ""


@dataclass(frozen=True)
class RepliesRow:
    """The raw replies of a judge about an output on a criterion, computed elsewhere; scores are
    read from them."""

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

    `value` is positive if the first is preferred; `first_was_left` is None if the file does not
    say; `turn` is MT-bench's, empty elsewhere. `by_judge` if the file says that a judge, not a
    person, is named `annotator`.
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
    by_judge: bool = False
    comment: str = ""


@dataclass(frozen=True)
class ShareRow(PreferenceRow):
    """A judge's preference in a pair, over both orders: `share` is the probability that the first
    output is better, a tie counting half, and `left` the preference for the one shown first; None
    if only one order was asked."""

    share: float = 0.5
    tie: float = 0.0
    left: float | None = None


Row = (
    ConversationRow
    | OutputRow
    | RatingRow
    | JudgeScoreRow
    | NotApplicableRow
    | RepliesRow
    | PreferenceRow
)


@dataclass(frozen=True)
class FileError:
    """An error in a file: its place, what was read, and what was expected; `value` is the whole
    cell, if it can be corrected."""

    file: str
    line: int
    column: str
    message: str
    value: str | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return (
            f"{place}: {self.column}: {self.message}" if self.column else f"{place}: {self.message}"
        )


def name_of_source(source: str) -> str:
    """Return a document's name for files that name none, from its text."""
    digest = hashlib.md5(source.encode(), usedforsecurity=False).hexdigest()
    return f"doc-{digest[:12]}"


def characters_of(row: Row) -> int:
    """Estimate how much memory a row's texts take."""
    if isinstance(row, OutputRow):
        texts = (row.source, row.output, row.context, row.turns, *row.references)
        return sum(map(len, texts))
    if isinstance(row, ConversationRow):
        return len(row.turns)
    if isinstance(row, RepliesRow):
        return len(row.source) + sum(map(len, row.replies))
    return len(row.source) if isinstance(row, ScoreRow) else 0


def is_text(value: str) -> bool:
    """Return whether a value is valid Unicode; bytes that are not UTF-8 become lone surrogates."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


class LoadError(Exception):
    """Files cannot be loaded; nothing was written.

    Has the first errors and their total. `contents` is the result of the valid rows, if a dry run
    got that far.
    """

    def __init__(
        self, errors: list[FileError], total: int, contents: LoadContents | None = None
    ) -> None:
        super().__init__(f"{total} error{'s' if total != 1 else ''}; nothing was loaded.")
        self.errors = errors
        self.total = total
        self.contents = contents


class FileErrors:
    """Collects errors: keeps the first ones and counts them all; and unused columns.

    Args:
        most: how many errors are kept.
        field_limit: the longest text that is not an error, in characters.
    """

    def __init__(self, *, most: int = 100, field_limit: int = 20 * 2**20) -> None:
        self.most = most
        self.field_limit = field_limit
        self.listed: list[FileError] = []
        self.total = 0
        self.unused = Unused()
        self.left_out: dict[str, Collection[int]] = {}
        # Words that are ratings, although they may say that there is none.
        self.answers: Collection[str] = ()

    def add(self, file: str, line: int, column: str, message: str) -> None:
        """Add an error; text that it quotes from a file is made safe to show and store. Lines that
        are left out have no errors."""
        if line in self.left_out.get(file, ()):
            return
        self.total += 1
        if len(self.listed) < self.most:
            self.listed.append(FileError(storable(file), line, storable(column), storable(message)))

    def begin_with(self, file: str, message: str) -> None:
        """Add an error before all others, which it explains."""
        self.total += 1
        self.listed = [FileError(storable(file), 0, "", storable(message)), *self.listed]

    def drain(self) -> tuple[list[FileError], int]:
        """Remove and return the errors, to `extend` another collection with them."""
        listed, total = self.listed, self.total
        self.most -= len(listed)
        self.listed, self.total = [], 0
        return listed, total

    def extend(self, listed: list[FileError], total: int) -> None:
        """Add errors drained from another collection."""
        self.total += total
        self.listed += listed[: max(0, self.most - len(self.listed))]

    def raise_if_any(
        self, contents: LoadContents | None = None, names: Mapping[str, Columns] | None = None
    ) -> None:
        """Raise LoadError if there is an error.

        Args:
            names: the meanings of files' columns, to name columns as the files do.
        """
        if self.total:
            listed = [as_in_file(error, (names or {}).get(error.file, {})) for error in self.listed]
            raise LoadError(sorted(listed, key=lambda f: (f.file, f.line)), self.total, contents)


def as_in_file(error: FileError, columns: Columns) -> FileError:
    """Return an error with its columns named as in the file.

    Args:
        columns: the meanings of the file's columns, by name.
    """
    theirs = {ours: name for name, ours in columns.items()}
    called = [theirs.get(column, column) for column in error.column.split(", ")]
    return replace(error, column=", ".join(called)) if columns else error
