"""What apps above the core add to it: the core imports none of them, and finds each by its name."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from django.urls import reverse
from django.utils.module_loading import import_string

BEAT, MINUTE, HOUR = timedelta(seconds=5), timedelta(minutes=1), timedelta(hours=1)
# Routes and error handlers of the API, paths of pages whose names belong to `evaluations`, periodic
# jobs, tabs of a judge's page, findings of the newest probes, effects of instructions,
# pages of the report whose numbers workers compute, and tools for agents.
NAMES = {
    "api": ("annotations.api.add_to", "assurance.web.api.app.add_to"),
    "urls": ("assurance.web.urls.urlpatterns",),
    "jobs": ("assurance.jobs.JOBS",),
    "judge tabs": ("assurance.web.judge_tabs.TABS",),
    "sensitivities": ("assurance.instrument.sensitivity.sensitivities",),
    "instructed": ("assurance.instrument.sensitivity.instructed_judges",),
    "report pages": (
        "assurance.disagreements.numbers.GAPS", "assurance.two_judges.pair_figures.PAIR",
        "assurance.keeping.weeks.POLICY_WEEKS",
    ),
    "tools": ("annotations.agents.TOOLS", "assurance.web.agents.TOOLS"),
}  # fmt: skip


def added(what: str) -> list[Any]:
    """Return what apps add of a kind in `NAMES`, importing it."""
    return [import_string(name) for name in NAMES[what]]


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


def _always(_judge: Any, _may_edit: bool) -> bool:
    return True


@dataclass(frozen=True)
class JudgeTab:
    """One of the pages that together are a judge's page.

    Args:
        views: names of the views that show it; the first has its address.
        is_shown: whether a judge has it for somebody who may change the project, or may not.
        is_of_project: its address is the project's, and takes the judge as a parameter.
    """

    name: str
    views: tuple[str, ...]
    is_shown: Callable[[Any, bool], bool] = _always
    is_of_project: bool = False

    def address(self, judge: Any) -> str:
        page, slug = f"evaluations:{self.views[0]}", judge.project.slug
        if self.is_of_project:
            return f"{reverse(page, args=[slug])}?judge={judge.pk}"
        return reverse(page, args=[slug, judge.pk])
