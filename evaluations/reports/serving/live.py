"""Data of projects whose reports are being viewed, cached in this process and updated, and
which reports a worker computes."""

import threading
from collections import OrderedDict

from django.conf import settings

from annotations.models import Preference, Rating
from evaluations.models import CandidateOutput, PairScore, Project, Score
from evaluations.models.changes import state_of
from evaluations.models.sizes import read_seldom
from evaluations.reports.data import LiveData, without_labels
from geval.reports.data import ReportData
from geval.reports.page import DataVersion
from geval.texts.program import command

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


# Above this size a page loads first and fetches the report afterwards.
AT_ONCE_NUMBERS = 3000
# Pages that refresh themselves need not count each time.
COUNTED_FOR_SECONDS = 30


def is_large(project: Project) -> bool:
    """Whether a report is larger than a web process computes."""
    most = settings.REPORT_IN_PAGE_NUMBERS
    return read_seldom(
        ("large", project.pk, most),
        lambda: numbers_in(project, most + 1) > most,
        seconds=COUNTED_FOR_SECONDS,
    )


def takes_a_moment(project: Project) -> bool:
    """Whether a report is small enough to be computed before a page that shows some of it."""
    return numbers_in(project, AT_ONCE_NUMBERS + 1) <= AT_ONCE_NUMBERS


def too_large_for_page(project: Project, *commands: str) -> str:
    """Return why a web process does not compute something for a project, and which commands do;
    empty if it does."""
    if not is_large(project):
        return ""
    named = " and ".join(f"`{command(words)}`" for words in commands)
    return f"This project is too large for a page; use {named}."


def numbers_in(project: Project, most: int) -> int:
    """Return how many outputs, ratings and scores a report has, counting at most `most`. At the
    usual limit that takes some tens of milliseconds, however large the project is."""
    counted = 0
    for rows in (
        CandidateOutput.objects.filter(document__project=project),
        Rating.objects.filter(annotator__project=project),
        Preference.objects.filter(annotator__project=project),
        Score.objects.filter(run__project=project),
        PairScore.objects.filter(run__project=project),
    ):
        if counted < most:
            counted += rows.order_by()[: most - counted].count()
    return counted
