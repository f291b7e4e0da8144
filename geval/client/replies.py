"""Interpret replies: a judge by its name, a run's progress, a report's rows."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Literal, Protocol

Frames = Literal["pandas", "polars"]
# Seconds between two checks whether a worker has computed a large report.
REPORT_SECONDS = 2.0


class Pushed(Protocol):
    """Results that `push` accepts, with rows of uploads by kind."""

    def to_tables(self) -> Mapping[str, Sequence[Mapping[str, Any]]]: ...


def newest_judge(judges: Iterable[Mapping[str, Any]], name: str, project: str) -> int:
    """The id of the newest version of a judge that is in use.

    Raises:
        LookupError: there is no judge with that name.
    """
    named = [
        each for each in judges if name in (each["name"], each["label"]) and not each["retired_at"]
    ]
    if not named:
        raise LookupError(f"There is no judge {name!r} in {project}.")
    return int(max(named, key=lambda each: each["version"])["id"])


@contextlib.contextmanager
def progress_of_run(progress: bool | IO[str]) -> Iterator[Callable[[Mapping[str, Any]], bool]]:
    """Return a function that takes each status of a run and returns whether the run is over or
    paused; it shows a progress bar.

    Args:
        progress: whether, or where, to show it.
    """
    from tqdm import tqdm

    shown = progress if not isinstance(progress, bool) else sys.stderr
    with tqdm(total=None, unit="item", file=shown, disable=progress is False) as bar:

        def is_over(status: Mapping[str, Any]) -> bool:
            bar.total = status["items"]
            bar.update(status["done"] + status["failed"] - bar.n)
            return status["state"] not in ("preparing", "running")

        yield is_over


def report_rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The correlations of a report's JSON as flat rows."""
    rows = []
    for criterion, about in report["criteria"].items():
        for judge, numbers in about["judges"].items():
            for coefficient in ("pearson", "spearman", "kendall"):
                for level, estimate in numbers[coefficient].items():
                    if isinstance(estimate, dict) and "value" in estimate:
                        low, high = estimate.get("ci") or (None, None)
                        rows.append(
                            {
                                "criterion": criterion,
                                "judge": judge,
                                "coefficient": coefficient,
                                "level": level,
                                "value": estimate["value"],
                                "low": low,
                                "high": high,
                                "reason": estimate.get("reason") or "",
                            }
                        )
    return rows


def frame_of(report: Mapping[str, Any], kind: Frames) -> Any:
    """A report's correlations as a data frame."""
    rows = report_rows(report)
    if kind == "polars":
        import polars

        return polars.DataFrame(rows, infer_schema_length=None)
    import pandas

    return pandas.DataFrame(rows)
