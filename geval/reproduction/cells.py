"""Published figures next to ours, and computing figures from tables."""

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.correlation import Coefficient, Correlations, Level, correlations
from geval.statistics.types import FloatArray


@dataclass(frozen=True)
class Cell:
    """A published figure and ours; `ours` is None if it cannot be computed.

    `note` explains differences. `other` marks a figure that is computed differently from the
    published one, so that agreement is not expected. `digits` is the published figure's number of
    decimals.
    """

    row: str
    column: str
    published: float
    ours: float | None
    note: str = ""
    other: bool = False
    digits: int = 3

    @property
    def agrees(self) -> bool:
        """Whether both agree to all published digits."""
        return self.ours is not None and abs(round(self.ours, self.digits) - self.published) < 1e-9


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
    given = np.full((len(raters), len(documents), len(systems)), np.nan)
    for row in rows:
        if row["criterion"] == criterion:
            index = raters[row["annotator"]], documents[row["doc_id"]], systems[row["system_id"]]
            given[index] = float(row["score"])
    return Ratings.of_table(given.reshape(len(raters), -1)).means().reshape(given.shape[1:])


def table_of(
    rows: list[dict[str, str]], documents: dict[str, int], systems: dict[str, int]
) -> FloatArray:
    table = np.full((len(documents), len(systems)), np.nan)
    for row in rows:
        table[documents[row["doc_id"]], systems[row["system_id"]]] = float(row["score"])
    return table


def of_tables(human: FloatArray, judge: FloatArray) -> Correlations:
    """
    Args:
        human, judge: shape (documents, systems), NaN for missing.
    """
    return correlations(Outputs.full(*human.shape), human.ravel(), judge.ravel())


def level_of(
    human: FloatArray, judge: FloatArray, coefficient: Coefficient, level: Level
) -> float | None:
    return of_tables(human, judge).estimates[coefficient][level].value


def pooled(human: FloatArray, judge: FloatArray, coefficient: Coefficient) -> float | None:
    return level_of(human[None, :], judge[None, :], coefficient, "dataset")


def mean_of(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if len(defined) == len(values) else None
