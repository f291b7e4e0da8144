"""Change a project on a site by a plan: over HTTP, or within the site's process (with the same
interface as `geval.client`)."""

from collections.abc import Mapping
from typing import Any

from geval.client import Client
from geval.files.project_fields import EndpointFields, given
from geval.llm.judge_settings import JudgeSettings
from geval.pipelines.project_files.current import REFERENCES, Current, read_current, renamed
from geval.pipelines.project_files.file import ProjectFile
from geval.pipelines.project_files.planning import PlannedChange, plan_of

# The fields of records that the site changes as a whole; of an endpoint all but its key, which
# stays.
_WHOLE: Mapping[str, tuple[str, ...]] = {
    "endpoints": tuple(EndpointFields.model_fields),
    "judges": ("kind", "model", "endpoint", "settings", *JudgeSettings.model_fields),
}
# A judge keeps its endpoint where the file has none.
NO_ENDPOINT = ("endpoint", "")


def make_change(client: Client, change: PlannedChange, wanted: ProjectFile) -> str:
    """Make a change; return a line that says what was done, "" if nothing was needed any more.

    Raises:
        ApiError, OSError: the site refused it, or does not answer.
    """
    section, record, project = change.section, change.record, client.project(wanted.project)
    verb = "created" if record is None else "changed" if change.differences else "restored"
    line = f"{verb} {change.what}"
    if section in ("project", "formats"):
        if record is None:
            names = {"name": wanted.project, "slug": wanted.project}
            client.request("POST", "/projects", body=names)
        if body := _changed(change):
            project.request("PUT", "" if section == "project" else "/formats", body=body)
        return line
    current = read_current(client, wanted.project)
    if section == "requirements":
        if all(each.place != change.place for each in plan_of(wanted, current).changes):
            return ""
        made = project.request("POST", "/certificates", body=body_of(change, current))
        return f"certified {change.what}: {made['outcome']}"
    body = body_of(change, current)
    if record is None:
        made = project.request("POST", f"/{section}", body=body)
        details = {"campaigns": ", a draft"}
        if section == "judges":
            details["judges"] = f" ({made['mode'] or made['kind']})"
        return line + details.get(section, "")
    address = f"/{section}/{record['id']}"
    if change.restores:
        project.request("PUT", f"{address}/retired", body={"retired": False})
    if not change.differences:
        return line
    made = project.request("PUT", address, body=body)
    is_new = section == "judges" and made["label"] != record["label"]
    return f"{line}: a new version, {made['label']}" if is_new else line


def _changed(change: PlannedChange) -> dict[str, Any]:
    """Return the file's values that differ from the current ones, as in JSON."""
    return {name: value for name, value in given(change.part).items() if name in change.differences}


def body_of(change: PlannedChange, current: Current) -> dict[str, Any]:
    """Return a request's body: of a new record the file's values, else those that differ, with
    the current ones where the site changes a record as a whole."""
    section, record = change.section, change.record
    if section == "requirements" or record is None:
        body = given(change.part)
    else:
        body = {name: record[name] for name in _WHOLE.get(section, ()) if name in record}
        if "mode" in change.differences:
            body["temperature"] = None  # another mode has its own default
        settings = body.get("settings", {}) | given(change.part).get("settings", {})
        changed = _changed(change) | ({"settings": settings} if section == "judges" else {})
        body |= {name: value for name, value in changed.items() if (name, value) != NO_ENDPOINT}
    if body.get("endpoint") == "":
        del body["endpoint"]
    if section in _WHOLE or (record is None and section != "requirements"):
        body["name"] = change.name

    def pk(kind: str, name: str, _place: Any) -> int:
        named = current.find(kind, name)
        assert named is not None
        return int(named["id"])

    return renamed(body, REFERENCES.get(section, {}), pk)
