"""Ratings and scores of a plain table as arrays: a row stands for all numbers of a series."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from geval.files.apart import ReadingError
from geval.files.columns import ColumnBatch, Series
from geval.files.packed import PackedError
from geval.files.rows import JudgeScoreRow, OutputRow, RatingRow, Row
from geval.files.unused import Unused
from geval.statistics.scales import Scale
from geval.statistics.types import FloatArray, IntArray


@dataclass(frozen=True)
class Numbers:
    """The numbers of a series: `line` and `value` have shape (numbers,); `documents` and `systems`
    have the names of each line of the table."""

    documents: Sequence[str]
    systems: Sequence[str]
    line: IntArray
    value: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class RatingSeries(RatingRow):
    """A person's ratings on a criterion."""

    numbers: Numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreSeries(JudgeScoreRow):
    """A judge's scores on a criterion."""

    numbers: Numbers


def rows_by_column(
    batches: Iterable[ColumnBatch], scale_of: Callable[[str], Scale | None], unused: Unused
) -> list[Row]:
    """Return the outputs of a plain table, and its series in order of first occurrence. Empty for
    any other table, and where something is stated twice or off its scale, which `readers` report.

    Args:
        scale_of: returns the given scale of a criterion.
        unused: gets what of the table is not used.
    """
    documents: list[str] = []
    systems: list[str] = []
    outputs: list[Row] = []
    parts: dict[Series, list[tuple[IntArray, FloatArray]]] = {}
    left = Unused()
    try:
        for batch in batches:
            for each, (lines, values) in batch.numbers.items():
                line = np.array(lines, dtype=np.int32) + np.int32(len(documents))
                parts.setdefault(each, []).append((line, np.array(values)))
            documents += batch.documents
            systems += batch.systems
            about = zip(batch.documents, batch.systems, batch.texts, strict=False)
            outputs += [OutputRow(0, name, system, "", text) for name, system, text in about]
            left.extend(batch.unused)
    except (ReadingError, PackedError):
        return []
    output = _places(documents) * len(documents) + _places(systems)
    alike = {(criterion.lower(), *whose) for criterion, *whose in parts}
    if len(alike) < len(parts) or (outputs and _are_repeated(output)):
        return []
    rows: list[tuple[int, Row]] = []
    for (criterion, rater, by_judge), several in parts.items():
        line, value = (np.concatenate(part) for part in zip(*several, strict=True))
        scale = scale_of(criterion)
        if scale is not None and scale.labels:
            return []  # its points may be named by numbers
        scale = None if by_judge else scale
        is_off = scale is not None and not all(map(scale.holds, np.unique(value).tolist()))
        if is_off or _are_repeated(output[line]):
            return []
        kind = ScoreSeries if by_judge else RatingSeries
        numbers = Numbers(documents, systems, line, value)
        rows.append((line[0], kind(0, "", "", criterion, rater, np.nan, numbers=numbers)))
    unused.extend(left.rows)
    rows.sort(key=itemgetter(0))
    return [*outputs, *(row for _first, row in rows)] if rows else []


def _places(names: Sequence[str]) -> IntArray:
    """Return the place of each name among the different ones."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.fromiter(map(places.__getitem__, names), np.int64, len(names))


def _are_repeated(values: IntArray) -> bool:
    ordered = np.sort(values)
    return bool((ordered[1:] == ordered[:-1]).any())
