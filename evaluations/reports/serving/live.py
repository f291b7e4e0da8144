"""Data of projects whose reports are being viewed, cached in this process and updated."""

import threading
from collections import OrderedDict

from evaluations.models import Project
from evaluations.models.changes import state_of
from evaluations.reports.data import LiveData, without_labels
from geval.reports.data import ReportData
from geval.reports.page import DataVersion

# All ratings and scores of a project are in memory, in each process.
MOST_PROJECTS = 6

_kept: OrderedDict[int, LiveData] = OrderedDict()
# For the dictionary alone: threads that read different projects do not wait for each other.
_lock = threading.Lock()


def live_data(project: Project) -> ReportData:
    """Return a project's current data, reading only what has changed since the last time; without
    labels that have no order."""
    return without_labels(data_with_labels(project), project.criteria.all())


def data_with_labels(project: Project) -> ReportData:
    """Return the same with labels, for reports."""
    with _lock:
        kept = _kept.pop(project.pk, None) or LiveData(project)
        _kept[project.pk] = kept
        while len(_kept) > MOST_PROJECTS:
            _kept.popitem(last=False)
    with kept.lock:
        return kept.current()


def mark_of(project: Project) -> str:
    """Return a text that changes whenever the project's ratings, scores or runs in progress
    change."""
    state = sorted(state_of(project.pk).items(), key=repr)
    changes = [
        f"{judge or 0}.{criterion or 0}.{last}.{count}"
        for (judge, criterion), (count, last) in state
    ]
    return "-".join([*changes, *marks_of_runs(project)])


def marks_of_runs(project: Project) -> list[str]:
    """Return a short text for each run in progress."""
    running = project.runs.active().counting().order_by("pk").values_list("pk", flat=True)
    return [f"run.{pk}" for pk in running]


def data_version(project: Project) -> DataVersion | None:
    """Return the version of the data; None if none was ever loaded."""
    last = project.score_changes.order_by("-pk").values_list("pk", "at").first()
    return DataVersion(*last) if last else None


def forget() -> None:
    """Forget all projects, for benchmarks and tests."""
    with _lock:
        _kept.clear()
