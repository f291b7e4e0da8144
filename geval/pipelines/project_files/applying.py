"""Read a project from a site, and change it there by a plan: over HTTP, or within the site's
process (with the same interface as `geval.client`)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from geval.client import ApiError, Client, Project
from geval.files.project_fields import given
from geval.pipelines.project_files.file import CampaignPart, JudgePart, ProjectFile, RequirementPart
from geval.pipelines.project_files.planning import (
    Current,
    PlannedChange,
    ProjectPlan,
    Record,
    body_of_endpoint,
    body_of_judge,
    plan_of,
)

NOT_THERE = 404


class ApplyError(Exception):
    """The site refused a change; has the changes made before it, and those not made."""

    def __init__(
        self,
        change: PlannedChange,
        error: ApiError | OSError,
        done: list[str],
        left: list[PlannedChange],
    ) -> None:
        super().__init__(str(error))
        self.change = change
        self.error = error
        self.done = done
        self.left = left


def read_current(client: Client, slug: str) -> Current:
    """Read the current state of a project; empty if there is no such project.

    Raises:
        ApiError: the token may not read all of it.
        OSError: the site does not answer.
    """
    project = client.project(slug)
    try:
        info = project.request("GET")
    except ApiError as error:
        if error.status == NOT_THERE:
            return Current()
        raise
    judges: dict[str, Record] = {}
    for judge in project.request("GET", "/judges"):
        if judge["name"] not in judges or judge["version"] > judges[judge["name"]]["version"]:
            judges[judge["name"]] = judge
    return Current(
        project=info,
        criteria=_by_name(project.request("GET", "/criteria")),
        endpoints=_by_name(project.request("GET", "/endpoints")),
        judges=judges,
        campaigns=_by_name(reversed(list(project.pages("/campaigns")))),
        systems={each["system_id"]: each["id"] for each in project.request("GET", "/systems")},
        certificates=sorted(project.pages("/certificates"), key=lambda record: record["id"]),
    )


def _by_name(records: Any) -> dict[str, Record]:
    return {record["name"]: record for record in records}


def apply_plan(client: Client, wanted: ProjectFile, plan: ProjectPlan) -> Iterator[str]:
    """Make the changes one by one; yield a line for each that is made.

    Raises:
        ApplyError: the site refused a change; those before it are made.
    """
    work, done = _Work(client, client.project(wanted.project)), list[str]()
    for index, change in enumerate(plan.changes):
        try:
            message = work.make(change, wanted)
        except (ApiError, OSError) as error:
            raise ApplyError(change, error, done, list(plan.changes[index + 1 :])) from error
        if message:
            done.append(message)
            yield message


@dataclass
class _Work:
    client: Client
    project: Project
    _current: list[Current] = field(default_factory=list)

    @property
    def current(self) -> Current:
        """The current state."""
        if not self._current:
            self._current.append(read_current(self.client, self.project.slug))
        return self._current[0]

    def make(self, change: PlannedChange, wanted: ProjectFile) -> str:
        """Make a change; return a line that says what was done, "" if nothing was needed any
        more."""
        message = getattr(self, f"_make_{change.section}")(change, wanted)
        self._current.clear()
        return str(message)

    def _make_project(self, change: PlannedChange, wanted: ProjectFile) -> str:
        texts = {
            name: getattr(wanted, name)
            for name in ("name", "description", "guidelines")
            if name in wanted.model_fields_set
        }
        if change.record is None:
            made = {"name": wanted.project} | texts
            guidelines = made.pop("guidelines", "")
            self.client.request("POST", "/projects", body=made | {"slug": wanted.project})
            if guidelines:
                self.project.request("PUT", body={"guidelines": guidelines})
            return f"created project {wanted.project}"
        self.project.request("PUT", body=texts)
        return f"changed project {wanted.project}"

    def _make_formats(self, change: PlannedChange, _wanted: ProjectFile) -> str:
        self.project.request("PUT", "/formats", body=given(change.given))
        return "changed formats of texts"

    def _make_criteria(self, change: PlannedChange, _wanted: ProjectFile) -> str:
        body = given(change.given)
        if change.record is None:
            self.project.request("POST", "/criteria", body={"name": change.name, **body})
            return f"created criterion {change.name}"
        self.project.request("PUT", f"/criteria/{change.record['id']}", body=body)
        return f"changed criterion {change.name}"

    def _make_endpoints(self, change: PlannedChange, _wanted: ProjectFile) -> str:
        body = body_of_endpoint(change)
        if change.record is None:
            self.project.request("POST", "/endpoints", body=body)
            return f"created endpoint {change.name}"
        return self._renew(change, lambda address: self.project.request("PUT", address, body=body))

    def _make_judges(self, change: PlannedChange, _wanted: ProjectFile) -> str:
        assert isinstance(change.given, JudgePart)
        named = change.given.endpoint
        endpoint = self.current.endpoints[named]["id"] if named else None
        body = body_of_judge(change, endpoint)
        if change.record is None:
            made = self.project.request("POST", "/judges", body=body)
            return f"created judge {made['label']} ({made['mode'] or made['kind']})"
        label = ""

        def renew(address: str) -> None:
            nonlocal label
            label = self.project.request("PUT", address, body=body)["label"]

        message = self._renew(change, renew)
        is_new = label not in ("", change.record["label"])
        return f"{message}: a new version, {label}" if is_new else message

    def _renew(self, change: PlannedChange, renew: Callable[[str], Any]) -> str:
        """Restore a retired judge or endpoint, then change it at its address."""
        assert change.record is not None
        what = change.section.removesuffix("s")
        address = f"/{change.section}/{change.record['id']}"
        if change.restores:
            self.project.request("PUT", f"{address}/retired", body={"retired": False})
        if not change.differences:
            return f"restored {what} {change.name}"
        renew(address)
        return f"changed {what} {change.name}"

    def _make_campaigns(self, change: PlannedChange, _wanted: ProjectFile) -> str:
        assert isinstance(change.given, CampaignPart)
        body = given(change.given)
        criteria = {name.lower(): each["id"] for name, each in self.current.criteria.items()}
        if "criteria" in body:
            body["criteria"] = [criteria[name.lower()] for name in body["criteria"]]
        if goal := body.get("goal"):
            goal["criterion"] = criteria[goal["criterion"].lower()]
            for name in ("judge", "rival"):
                if goal.get(name):
                    goal[name] = self.current.judges[goal[name]]["id"]
            for name in ("system", "other"):
                if goal.get(name):
                    goal[name] = self.current.systems[goal[name]]
        if change.record is None:
            self.project.request("POST", "/campaigns", body={"name": change.name, **body})
            return f"created campaign {change.name}, a draft"
        body = {name: value for name, value in body.items() if name in change.differences}
        self.project.request("PUT", f"/campaigns/{change.record['id']}", body=body)
        return f"changed campaign {change.name}"

    def _make_requirements(self, change: PlannedChange, wanted: ProjectFile) -> str:
        """Certify requirements, unless the judge in its current version already is."""
        needed = {each.place for each in plan_of(wanted, self.current).changes}
        if change.place not in needed:
            return ""
        assert isinstance(change.given, RequirementPart)
        criterion = self.current.criterion(change.given.criterion)
        assert criterion is not None
        body = {
            "judge": self.current.judges[change.given.judge]["id"],
            "criterion": criterion["id"],
            "require": list(change.given.require),
            "epsilon": change.given.epsilon,
            "human_score": change.given.human_score,
        }
        made = self.project.request("POST", "/certificates", body=body)
        return f"certified requirements {change.name}: {made['outcome']}"
