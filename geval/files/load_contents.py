"""The result of a load: criteria with their scales, raters, judges, systems, examples. Pure
data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from geval.statistics.scales import short


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
