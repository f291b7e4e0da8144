"""Columns whose cells are ratings or scores, with their criterion and rater. Pure.

Their meaning is written `ratings["Coherence","Anna"]`, or `scores["Coherence","gpt-4o"]` for a
judge. An empty criterion or rater is taken from the row; the rater `#` numbers the rows of an
output: rater 1, rater 2, …

Several outputs of a document without a system's name are `output["systems"]`, by systems that are
numbered, or `output["documents"]`, each of a document of its own.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import orjson

# The criterion of ratings that name none.
OVERALL = "overall"
RATINGS, SCORES, RATERS, OUTPUT = "ratings", "scores", "annotator", "output"
SYSTEMS, DOCUMENTS = "systems", "documents"
NUMBERED = "#"


@dataclass(frozen=True)
class CellColumn:
    """A column of ratings, or `by_judge` of scores."""

    criterion: str
    rater: str
    by_judge: bool = False

    @property
    def target(self) -> str:
        return _with_names(SCORES if self.by_judge else RATINGS, [self.criterion, self.rater])


@lru_cache(maxsize=4096)
def cell_of(target: str) -> CellColumn | None:
    """Return the column that a target describes; None for any other target."""
    base, names = _split(target)
    if base not in (RATINGS, SCORES) or len(names) != 2:
        return None
    return CellColumn(names[0].strip(), names[1].strip(), by_judge=base == SCORES)


def people_and_judges(judges: Sequence[str]) -> str:
    """Return the target of a column that names raters, some of whom are `judges`."""
    return _with_names(RATERS, list(judges))


def judges_in(columns: Mapping[str, str]) -> frozenset[str]:
    """Return the judges that a column of raters names."""
    split = map(_split, columns.values())
    return frozenset(name for base, names in split if base == RATERS for name in names)


def separate_outputs(of: str) -> str:
    """Return the target of a document's outputs that are of `SYSTEMS` or of `DOCUMENTS`."""
    return _with_names(OUTPUT, [of])


def separated_in(columns: Mapping[str, str]) -> str:
    """Return `SYSTEMS` or `DOCUMENTS` if a document's outputs are separated so; empty if not."""
    split = map(_split, columns.values())
    return next((names[0] for base, names in split if base == OUTPUT and names), "")


def base_of(target: str) -> str:
    """Return a target without its names: `ratings["Coherence","Anna"]` is `ratings`."""
    return _split(target)[0]


def is_target_with_names(target: str) -> bool:
    """Return whether a target contains names."""
    base, names = _split(target)
    is_separate = base == OUTPUT and names in ((SYSTEMS,), (DOCUMENTS,))
    return cell_of(target) is not None or (base == RATERS and bool(names)) or is_separate


def on_criterion(
    columns: Mapping[str, str], criterion: str, *, among: Collection[str] = ()
) -> dict[str, str]:
    """Return columns whose ratings are on a criterion: all, or those on one `among` others."""
    return {
        name: replace(cell, criterion=criterion).target
        if (cell := cell_of(target)) and (not among or cell.criterion in among)
        else target
        for name, target in columns.items()
    }


@lru_cache(maxsize=4096)
def _split(target: str) -> tuple[str, tuple[str, ...]]:
    base, bracket, rest = target.partition("[")
    if not bracket or base not in (RATINGS, SCORES, RATERS, OUTPUT):
        return target, ()
    try:
        names: Any = orjson.loads(f"[{rest}")
    except orjson.JSONDecodeError:
        return target, ()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return target, ()
    return base, tuple(names)


def _with_names(base: str, names: list[str]) -> str:
    return f"{base}{orjson.dumps(names).decode()}"
