"""The current state of a project as its file would say it: names instead of ids."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from geval.client import ApiError, Client
from geval.pipelines.project_files.file import GoalPart
from geval.pipelines.project_files.reading import Place
from geval.reports.options import MEAN

Record = dict[str, Any]
IMPORTED = "imported"
NOT_THERE = 404
# Lists of the API that are not in pages; each comes after those that it refers to.
_LISTS = ("criteria", "endpoints", "systems", "judges")
# The sections that fields refer to, by section and field.
_SIDES = {"judge": "judges", "rival": "judges", "system": "systems", "other": "systems"}
REFERENCES: Mapping[str, Mapping[str, Any]] = {
    "criteria": {"rubric": "criteria"},
    "judges": {"endpoint": "endpoints"},
    "campaigns": {"criteria": "criteria", "goal": {"criterion": "criteria"} | _SIDES},
    "requirements": {"judge": "judges", "criterion": "criteria"},
}


@dataclass(frozen=True)
class Current:
    """The records of a project by section and key. `project` is None where there is none."""

    project: Record | None = None
    records: Mapping[str, Mapping[str, Record]] = field(default_factory=dict)

    def of(self, section: str) -> Mapping[str, Record]:
        return self.records.get(section, {})

    def find(self, section: str, name: str) -> Record | None:
        return self.of(section).get(key_of(section, name))


def key_of(section: str, name: str) -> str:
    """Return the key of a record: case does not tell criteria apart, nor requirements on them."""
    return name.lower() if section in ("criteria", "requirements") else name


def requirements_on(judge: str, criterion: str) -> str:
    """Return the name of what a judge must meet on a criterion."""
    return f"of {judge} on {criterion}"


def renamed(
    fields: Record, names: Mapping[str, Any], rename: Callable[[str, Any, Place], Any],
    at: Place = (),
) -> dict[str, Any]:  # fmt: skip
    """Return fields with references replaced by `rename(section, reference, place)`.

    Args:
        names: the sections that fields refer to (`REFERENCES`).
    """
    changed: dict[str, Any] = {}
    for name, section in names.items():
        value, place = fields.get(name), (*at, name)
        if value in (None, ""):
            continue
        if isinstance(section, Mapping):
            changed[name] = renamed(value, section, rename, place)
        elif isinstance(value, list):
            changed[name] = [rename(section, each, (*place, n)) for n, each in enumerate(value)]
        else:
            changed[name] = rename(section, value, place)
    return dict(fields) | changed


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
    lists = {name: project.request("GET", f"/{name}") for name in _LISTS}
    campaigns = reversed(list(project.pages("/campaigns")))
    certificates = project.pages("/certificates")
    return current_of(info, **lists, campaigns=campaigns, certificates=certificates)


def current_of(info: Record, **lists: Iterable[Record]) -> Current:
    """Return the state of a project from the API's lists. Of several records with a name the last
    counts, of judges the newest version."""
    records: dict[str, dict[str, Record]] = {}
    ids: dict[tuple[str, int], str] = {}
    for section in (*_LISTS, "campaigns"):
        named: dict[str, Record] = {}
        rows = sorted(lists.get(section, ()), key=lambda record: record.get("version", 1))
        # Before references are read: criteria refer to each other.
        ids.update({(section, each.get("id", 0)): _name_of(each) for each in rows})
        for each in rows:
            record = each | {"name": _name_of(each)}
            if section == "judges":
                record["endpoint"] = each.get("endpoint_id") or ""
            if section == "campaigns":
                record["goal"] = _goal(each["goal"])
            names = REFERENCES.get(section, {})
            record = renamed(record, names, lambda kind, pk, _place: ids.get((kind, pk), ""))
            named[key_of(section, record["name"])] = record
        records[section] = named
    records["requirements"] = dict(_certified(records, lists.get("certificates", ())))
    return Current(info, records)


def _name_of(record: Record) -> str:
    return str(record.get("name") or record["system_id"])


def _goal(goal: Record | None) -> Record | None:
    return goal and {
        name: goal[name] for name in GoalPart.model_fields if goal.get(name) is not None
    }


def _certified(
    records: Mapping[str, Mapping[str, Record]], certificates: Iterable[Record]
) -> Iterable[tuple[str, Record]]:
    """Yield what was certified of judges in their current versions, the oldest first."""
    labels = {each.get("label"): name for name, each in records.get("judges", {}).items()}
    for each in sorted(certificates, key=lambda record: int(record["id"])):
        content = each["certificate"]
        judge = labels.get(content["judge"])
        criterion = records.get("criteria", {}).get(key_of("criteria", content["criterion"]))
        if judge is not None and criterion is not None:
            record = {
                "judge": judge,
                "criterion": criterion["name"],
                "require": [each["requirement"] for each in content["requirements"]],
                "epsilon": f"{content['epsilon']:g}",
                "human_score": content.get("human_score") or MEAN,
            }
            name = requirements_on(judge, criterion["name"])
            yield key_of("requirements", name), record | {"name": name}
