"""What optional apps add to the site. The config of such an app names its `Extension`, which the
core looks up here; the core imports no such app.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from evaluations.models import Judge, Project
    from evaluations.reports.probes import Sensitivity
    from evaluations.reports.serving.parts import Page
    from geval.reports.instructed import Instructed

BEAT, MINUTE, HOUR = timedelta(seconds=5), timedelta(minutes=1), timedelta(hours=1)


class Lane(Enum):
    """A thread in which jobs wait for each other: waking workers must not wait for what computes,
    nor that for what removes rows for minutes."""

    WAKE = "wake"
    COMPUTE = "compute"
    REMOVE = "remove"


@dataclass(frozen=True)
class Job:
    """Something to be done at intervals.

    `of_project`: also by a worker that serves one project alone, which looks after that project
    and takes no turn of the site's.
    """

    name: str
    every: timedelta
    lane: Lane
    act: Callable[[], object]
    of_project: bool = False


@dataclass(frozen=True)
class Extension:
    """What an app adds.

    Args:
        urls: the module with paths of its pages; their names belong to `evaluations`. It is a name,
            as workers need no pages.
        api: the module whose `add_to(api)` adds routes and the answers to their errors.
        jobs: its periodic work.
        judge_page: what the page of a judge shows of it, by the names of its template.
        sensitivities: what the newest probes of a project's judges have found.
        instructed: for each (judge, criterion) of the judges that a text can address, what an
            instruction does; from `sensitivities`, where they are at hand.
        report_pages: pages beside the report whose numbers workers compute and keep.
        tools: the class whose methods are tools for agents; a name, as only they need it.
    """

    urls: str
    api: str
    jobs: Sequence[Job]
    judge_page: Callable[[Judge], Mapping[str, Any]]
    sensitivities: Callable[[Project], Sequence[Sensitivity]]
    instructed: Callable[
        [Project, Iterable[Sensitivity] | None], Mapping[tuple[int, int], Instructed]
    ]
    report_pages: Sequence[Page]
    tools: str


def extensions() -> list[Extension]:
    """What the installed apps add, in their order."""
    paths = (getattr(config, "extension", "") for config in apps.get_app_configs())
    return [import_string(path) for path in paths if path]


def sensitivities(project: Project) -> list[Sensitivity]:
    """What the newest probes of each judge and criterion have found."""
    return [result for extension in extensions() for result in extension.sensitivities(project)]


def instructed_judges(
    project: Project, probed: Iterable[Sensitivity] | None = None
) -> dict[tuple[int, int], Instructed]:
    """For each (judge, criterion) of the judges that a text can address, what an instruction does.

    Args:
        probed: `sensitivities` of the project, where they are at hand; else they are computed.
    """
    return {
        key: result
        for extension in extensions()
        for key, result in extension.instructed(project, probed).items()
    }
