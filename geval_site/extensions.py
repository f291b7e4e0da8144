"""What apps add to the site. The config of such an app names its `Extension`, which the core looks
up here; pages and the API of the core import none of these apps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.urls import reverse
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from evaluations.models import Judge, Project
    from evaluations.reports.probes import Sensitivity
    from evaluations.reports.serving.parts import PageParts
    from geval.reports.instructed import Instructed

BEAT, MINUTE, HOUR = timedelta(seconds=5), timedelta(minutes=1), timedelta(hours=1)


class Lane(Enum):
    """A thread whose jobs run one after another: waking workers must not wait for computations, nor
    these for removing rows, which takes minutes."""

    WAKE = "wake"
    COMPUTE = "compute"
    REMOVE = "remove"


@dataclass(frozen=True)
class Job:
    """A periodic job.

    `of_project`: also run by a worker that serves a single project, for that project only, without
    taking the site's turn.
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
        api: the module whose `add_to(api)` adds routes and error handlers. A name, because workers
            need no pages.
        urls: the module with the paths of its pages whose names belong to `evaluations`, likewise.
        jobs: its periodic jobs.
        links: names of its pages by what a page of the core says of them: "searches",
            "disagreements", "compare" (of a project), "reliability" (of a judge).
        actions: what people did in it, in words, each with the names of its pages and endpoints.
        judge_page: returns what the page of a judge shows of it, as template variables; `added` is
            a template that is included.
        sensitivities: returns the findings of the newest probes of a project's judges.
        instructed: returns the effect of an instruction for each (judge, criterion) of the judges
            that a text can address; from `sensitivities` if given.
        report_pages: additional pages of the report, whose numbers workers compute and store.
        tools: the class whose methods are tools for agents. A name, because only agents need it.
    """

    api: str
    urls: str = ""
    jobs: Sequence[Job] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, str] = field(default_factory=dict)
    judge_page: Callable[[Judge], Mapping[str, Any]] = lambda _judge: {}
    sensitivities: Callable[[Project], Sequence[Sensitivity]] = lambda _project: ()
    instructed: Callable[
        [Project, Iterable[Sensitivity] | None], Mapping[tuple[int, int], Instructed]
    ] = lambda _project, _probed: {}
    report_pages: Sequence[PageParts] = ()
    tools: str = ""


def extensions() -> list[Extension]:
    """Return the extensions of the installed apps, in order."""
    paths = (getattr(config, "extension", "") for config in apps.get_app_configs())
    return [import_string(path) for path in paths if path]


def added_page(what: str) -> str:
    """Return the name of an added page, such as that of "searches"; empty if no app has it."""
    return next((added.links[what] for added in extensions() if what in added.links), "")


def link_to(what: str, *arguments: object) -> str:
    """Return the address of an added page; empty if no app has it."""
    page = added_page(what)
    return reverse(page, args=arguments) if page else ""


def sensitivities(project: Project) -> list[Sensitivity]:
    """Return the findings of the newest probes of each judge and criterion."""
    return [result for extension in extensions() for result in extension.sensitivities(project)]


def instructed_judges(
    project: Project, probed: Iterable[Sensitivity] | None = None
) -> dict[tuple[int, int], Instructed]:
    """Return the effect of an instruction for each (judge, criterion) of the judges that a text can
    address.

    Args:
        probed: `sensitivities` of the project; computed if None.
    """
    return {
        key: result
        for extension in extensions()
        for key, result in extension.instructed(project, probed).items()
    }
