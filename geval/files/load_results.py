"""The result of a load or of a dry run: criteria with their scales, raters, judges, systems,
examples, and what was new. Pure data.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from geval.files.unused import UnusedColumn
from geval.statistics.scales import short

ONE = {
    "documents": "document",
    "outputs": "output",
    "ratings": "rating",
    "preferences": "preference",
    "verdicts": "verdict of a judge",
    "scores": "score",
    "replies": "raw reply",
}
SEVERAL = {"verdicts": "verdicts of judges"}


@dataclass(frozen=True)
class CriterionContents:
    """A criterion in the files: its scale (`from_data` if guessed), numbers of ratings and scores,
    how often each rating occurs, and values off the scale."""

    name: str
    is_new: bool
    lowest: float
    highest: float
    step: float
    from_data: bool
    ratings: int
    scores: int
    values: Mapping[str, int] = field(default_factory=dict)
    off: tuple[float, ...] = ()

    @property
    def scale(self) -> str:
        step = "" if self.step == 1 else f" in steps of {short(self.step)}"
        return f"{short(self.lowest)}-{short(self.highest)}{step}"


@dataclass(frozen=True)
class ExampleScore:
    criterion: str
    rater: str
    score: float
    by_judge: bool


@dataclass(frozen=True)
class ExampleItem:
    """An output with the beginning of its texts, and its ratings and scores."""

    doc_id: str
    system: str
    source: str
    output: str
    scores: tuple[ExampleScore, ...] = ()


@dataclass(frozen=True)
class LoadContents:
    """The contents of the files; raters, judges and systems with their numbers of rows."""

    criteria: tuple[CriterionContents, ...] = ()
    raters: Mapping[str, int] = field(default_factory=dict)
    judges: Mapping[str, int] = field(default_factory=dict)
    systems: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[ExampleItem, ...] = ()


@dataclass
class LoadTally:
    """How many records of a kind a load created and changed, and how many already existed."""

    created: int = 0
    unchanged: int = 0
    changed: int = 0


@dataclass
class LoadResult:
    """How many records of each kind were loaded; `unreadable` counts raw replies without a rating,
    which give no scores; `unused` lists unused columns; `notes` say which words were read as
    numbers; `created` are the ids of new rows by table, as ranges; `contents` has the criteria, and
    after a dry run everything that would exist."""

    documents: LoadTally = field(default_factory=LoadTally)
    outputs: LoadTally = field(default_factory=LoadTally)
    ratings: LoadTally = field(default_factory=LoadTally)
    preferences: LoadTally = field(default_factory=LoadTally)
    verdicts: LoadTally = field(default_factory=LoadTally)
    scores: LoadTally = field(default_factory=LoadTally)
    replies: LoadTally = field(default_factory=LoadTally)
    unreadable: int = 0
    unused: list[UnusedColumn] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    created: dict[str, str] = field(default_factory=dict)
    contents: LoadContents | None = None

    @property
    def changed(self) -> bool:
        tallies = (getattr(self, kind) for kind in KINDS)
        return any(tally.created or tally.changed for tally in tallies)

    def as_json(self) -> dict[str, dict[str, int]]:
        return {kind: asdict(getattr(self, kind)) for kind in KINDS}


KINDS = tuple(entry.name for entry in fields(LoadResult) if entry.type is LoadTally)


def in_order(stored: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the counts of a stored result in the order of its fields, which the database does not
    keep."""
    return {kind: stored[kind] for kind in KINDS if kind in stored}


def describe_result(tallies: Mapping[str, Mapping[str, int]]) -> str:
    """Describe the result of a load in a sentence."""
    phrases = []
    for verb, count in (("Loaded", "created"), ("Changed", "changed")):
        parts = [
            f"{t[count]:,} {SEVERAL.get(kind, kind) if t[count] != 1 else ONE[kind]}"
            for kind, t in tallies.items()
            if t[count]
        ]
        if parts:
            phrases.append(f"{verb} {', '.join(parts)}.")
    return " ".join(phrases) or "Nothing has changed: everything in these files already exists."
