"""A published figure next to ours, and the tables from which figures are computed."""

import csv
import gzip
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluations.statistics.correlation import Coefficient, Level, correlations
from evaluations.statistics.pairing import FloatArray, mean_over_raters, rater_tables, table


@dataclass(frozen=True)
class Cell:
    """A published figure and ours; `ours` is None if it cannot be computed.

    `note` explains differences. `other` marks a figure that is computed differently from the
    published one, so that agreement is not expected.
    """

    row: str
    column: str
    published: float
    ours: float | None
    note: str = ""
    other: bool = False

    @property
    def agrees(self) -> bool:
        """To three digits, as published."""
        return self.ours is not None and abs(round(self.ours, 3) - self.published) < 1e-9


def csv_rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def places(rows: Sequence[Any], column: str) -> dict[str, int]:
    return {name: place for place, name in enumerate(sorted({row[column] for row in rows}))}


def human_means(
    rows: list[dict[str, str]],
    criterion: str,
    documents: dict[str, int],
    systems: dict[str, int],
    raters: dict[str, int],
) -> FloatArray:
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        if row["criterion"] == criterion:
            columns["document"].append(documents[row["doc_id"]])
            columns["system"].append(systems[row["system_id"]])
            columns["rater"].append(raters[row["annotator"]])
            columns["score"].append(float(row["score"]))
    at_document, at_system, at_rater = (
        np.array(columns[name], dtype=np.int64) for name in ("document", "system", "rater")
    )
    shape = (len(raters), len(documents), len(systems))
    return mean_over_raters(
        rater_tables(at_document, at_system, at_rater, np.array(columns["score"]), shape=shape)
    )


def table_of(
    rows: list[dict[str, str]], documents: dict[str, int], systems: dict[str, int]
) -> FloatArray:
    return table(
        np.array([documents[row["doc_id"]] for row in rows]),
        np.array([systems[row["system_id"]] for row in rows]),
        np.array([float(row["score"]) for row in rows]),
        shape=(len(documents), len(systems)),
    )


def level_of(
    human: FloatArray, judge: FloatArray, coefficient: Coefficient, level: Level
) -> float | None:
    return correlations(human, judge).estimates[coefficient][level].value


def pooled(human: FloatArray, judge: FloatArray, coefficient: Coefficient) -> float | None:
    return level_of(human[None, :], judge[None, :], coefficient, "dataset")


def mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
