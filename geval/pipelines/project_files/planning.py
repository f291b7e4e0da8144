"""Plan what a project file would change. Pure: from the file's content and the current state."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from geval.evaluators.base import EvaluatorError, SettingsError, new_settings
from geval.evaluators.registry import find_evaluator, make_evaluator
from geval.files.project_fields import PLAN, EndpointFields
from geval.llm.findings import TOKENS_WITH_THOUGHT
from geval.llm.judge_settings import JudgeSettings, default_of
from geval.llm.prompts import PromptError, check_template
from geval.pipelines.project_files.file import (
    CampaignPart,
    CriterionPart,
    EndpointPart,
    FormatsPart,
    JudgePart,
    ProjectFile,
    RequirementPart,
)
from geval.pipelines.project_files.reading import Place
from geval.reports.options import MEAN
from geval.reports.requirements import RequirementError, parse_requirement
from geval.statistics.consensus import HumanScore
from geval.statistics.scales import problems_of_scale
from geval.texts.sentences import excerpt

Record = Mapping[str, Any]
WORDS = {
    "project": "project",
    "formats": "formats of texts",
    "criteria": "criterion",
    "endpoints": "endpoint",
    "judges": "judge",
    "campaigns": "campaign",
    "requirements": "requirements",
}
IMPORTED = "imported"


@dataclass(frozen=True)
class Current:
    """The current state of a project, as the API lists it, by name. `project` is None where there
    is no such project, `certificates` None on a site without them."""

    project: Record | None = None
    criteria: Mapping[str, Record] = field(default_factory=dict)
    endpoints: Mapping[str, Record] = field(default_factory=dict)
    judges: Mapping[str, Record] = field(default_factory=dict)
    campaigns: Mapping[str, Record] = field(default_factory=dict)
    systems: Mapping[str, int] = field(default_factory=dict)
    certificates: Sequence[Record] = ()

    def criterion(self, name: str) -> Record | None:
        """Return the criterion with a name, ignoring case."""
        wanted = name.lower()
        return next((each for key, each in self.criteria.items() if key.lower() == wanted), None)

    def name_of(self, section: str, pk: int | None) -> str:
        """Return the name of the record with an id; "" for none."""
        records: Mapping[str, Record] = getattr(self, section)
        return next((name for name, each in records.items() if each["id"] == pk), "")


@dataclass(frozen=True)
class PlannedChange:
    """A record to create or change: the file's values, by names, and the existing record.
    `differences` has the old and new values, by field."""

    section: str
    name: str
    place: Place
    given: BaseModel
    record: Record | None
    differences: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    restores: bool = False

    def __str__(self) -> str:
        what = " ".join(filter(None, (WORDS[self.section], self.name)))
        if self.record is None:
            return f"+ {what}"
        changes = "; ".join(
            f"{name}: {_short(before)} -> {_short(after)}"
            for name, (before, after) in self.differences.items()
        )
        return f"~ {what}: {'; '.join(filter(None, ('restore' * self.restores, changes)))}"


@dataclass(frozen=True)
class ProjectPlan:
    """All changes in the order in which they can be made, and existing records that the file does
    not name, which stay unchanged."""

    changes: tuple[PlannedChange, ...]
    left_alone: tuple[str, ...]


def plan_of(wanted: ProjectFile, current: Current) -> ProjectPlan:
    """Plan what applying a file would do."""
    return ProjectPlan(tuple(_changes(wanted, current)), tuple(_left_alone(wanted, current)))


def _changes(wanted: ProjectFile, current: Current) -> Iterator[PlannedChange]:
    existing = current.project
    now = {} if existing is None else {name: existing[name] for name in ("name", "description",
                                                                    "guidelines")}  # fmt: skip
    differences: dict[str, tuple[Any, Any]] = {
        name: (now.get(name), getattr(wanted, name))
        for name in ("name", "description", "guidelines")
        if name in wanted.model_fields_set and now.get(name) != getattr(wanted, name)
    }
    if existing is None or differences:
        name = wanted.project
        yield PlannedChange("project", name, ("project",), wanted, existing, differences)
    formats = _differences(wanted.formats, existing or {}, FormatsPart)
    formats = {name: pair for name, pair in formats.items() if pair[1] is not None}
    if formats:
        yield PlannedChange("formats", "", ("formats",), wanted.formats, existing or {}, formats)
    for name, criterion in wanted.criteria.items():
        record = current.criterion(name)
        yield from _change("criteria", name, criterion, record, _of_criterion(criterion, record))
    for name, endpoint in wanted.endpoints.items():
        record = current.endpoints.get(name)
        yield from _change("endpoints", name, endpoint, record, _of_endpoint(endpoint, record))
    renewed = set()
    for name, judge in wanted.judges.items():
        record = current.judges.get(name)
        differences = _of_judge(judge, record, current)
        if record and differences and record["is_frozen"]:
            renewed.add(name)  # which may be a new version without certificates
        yield from _change("judges", name, judge, record, differences)
    for name, campaign in wanted.campaigns.items():
        record = current.campaigns.get(name)
        yield from _change(
            "campaigns", name, campaign, record, _of_campaign(campaign, record, current)
        )
    for number, required in enumerate(wanted.requirements):
        before = certified(required, current)
        if before != as_certified(required) or required.judge in renewed:
            name = f"of {required.judge} on {required.criterion}"
            record = None if before is None else {}
            pair = {"require": (before, as_certified(required))}
            yield PlannedChange(
                "requirements", name, ("requirements", number), required, record, pair
            )


def _change(
    section: str,
    name: str,
    given: BaseModel,
    record: Record | None,
    differences: Mapping[str, tuple[Any, Any]],
) -> Iterator[PlannedChange]:
    restores = bool(record and record.get("retired_at"))
    if record is None or differences or restores:
        yield PlannedChange(section, name, (section, name), given, record, differences, restores)


def _differences(
    given: BaseModel, record: Record, part: type[BaseModel]
) -> dict[str, tuple[Any, Any]]:
    """Return the given values that differ from the current ones, both in the same types."""
    names = [name for name in part.model_fields if name in given.model_fields_set]
    fields = {name: record[name] for name in names if name in record}
    try:
        now = part.model_validate(fields)
    except ValidationError:  # current values may be invalid in a file
        now = part.model_construct(**fields)
    pairs = {name: (getattr(now, name, None), getattr(given, name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _of_criterion(given: CriterionPart, record: Record | None) -> dict[str, tuple[Any, Any]]:
    return {} if record is None else _differences(given, record, CriterionPart)


def _of_endpoint(given: EndpointPart, record: Record | None) -> dict[str, tuple[Any, Any]]:
    if record is None:
        return {}
    same = given.model_copy(update={"base_url": given.base_url.strip().rstrip("/")})
    return _differences(same, record, EndpointPart)


def _of_judge(
    given: JudgePart, record: Record | None, current: Current
) -> dict[str, tuple[Any, Any]]:
    """Return the differences of a judge; values chosen by the site (a mode, a temperature, room for
    a thought) do not count."""
    if record is None:
        return {}
    now = dict(record) | {"endpoint": current.name_of("endpoints", record["endpoint_id"])}
    differences = _differences(given, now, JudgePart)
    if not given.mode:
        differences.pop("mode", None)
    if given.temperature is None:
        differences.pop("temperature", None)
    has_room = record["max_tokens"] == TOKENS_WITH_THOUGHT
    if has_room and given.max_tokens == default_of("max_tokens"):
        differences.pop("max_tokens", None)
    settings = {
        f"settings.{name}": (record["settings"].get(name), value)
        for name, value in given.settings.items()
        if name not in record["settings"] or record["settings"][name] != value
    }
    return {name: pair for name, pair in differences.items() if name != "settings"} | settings


def _of_campaign(
    given: CampaignPart, record: Record | None, current: Current
) -> dict[str, tuple[Any, Any]]:
    if record is None:
        return {}
    now = campaign_by_names(record, current)
    differences = _differences(given, now, CampaignPart)
    for name, key in (("criteria", _lower), ("annotators", _sorted), ("gold", _rows)):
        if name in differences and key(differences[name][0]) == key(differences[name][1]):
            del differences[name]
    return differences


def campaign_by_names(record: Record, current: Current) -> dict[str, Any]:
    """Return a campaign with names of criteria, judges and systems instead of ids."""
    systems = {pk: name for name, pk in current.systems.items()}
    goal = record["goal"]
    if goal is not None:
        goal = {
            "kind": goal["kind"],
            "criterion": current.name_of("criteria", goal["criterion"]),
            **{name: goal[name] for name in ("width",) if goal[name] is not None},
            **{
                name: current.name_of("judges", goal[name])
                for name in ("judge", "rival")
                if goal[name] is not None
            },
            **{
                name: systems.get(goal[name], "")
                for name in ("system", "other")
                if goal[name] is not None
            },
        }
    criteria = [current.name_of("criteria", pk) for pk in record["criteria"]]
    return dict(record) | {"criteria": criteria, "goal": goal}


def as_certified(required: RequirementPart) -> tuple[list[str], float, str]:
    """Return requirements in the form of certificates, epsilon, and the human score."""
    texts = dict.fromkeys(str(parse_requirement(text)) for text in required.require)
    return list(texts), float(required.epsilon), required.human_score


def certified(
    required: RequirementPart, current: Current
) -> tuple[list[str], float, HumanScore] | None:
    """Return the requirements of the newest certificate of the judge's current version on the
    criterion; None without one."""
    judge = current.judges.get(required.judge)
    for record in reversed(current.certificates):
        content = record["certificate"]
        is_about = judge is not None and content["judge"] == judge["label"]
        if is_about and content["criterion"].lower() == required.criterion.lower():
            texts = [each["requirement"] for each in content["requirements"]]
            return texts, float(content["epsilon"]), content.get("human_score") or MEAN
    return None


def _left_alone(wanted: ProjectFile, current: Current) -> Iterator[str]:
    criteria = {name.lower() for name in wanted.criteria}
    yield from (f"criterion {name}" for name in current.criteria if name.lower() not in criteria)
    for section in ("endpoints", "judges", "campaigns"):
        records: Mapping[str, Record] = getattr(current, section)
        for name, record in records.items():
            is_there = not record.get("retired_at") and record.get("kind") != IMPORTED
            if is_there and name not in getattr(wanted, section):
                yield f"{WORDS[section]} {name}"


# What cannot be applied


def problems_of(wanted: ProjectFile, current: Current) -> Iterator[tuple[Place, str]]:
    """Yield what a site would refuse, as far as can be known in advance: places in the file, each
    with what is wrong and what to do."""
    yield from _problems_of_criteria(wanted, current)
    yield from _problems_of_endpoints(wanted, current)
    yield from _problems_of_judges(wanted, current)
    yield from _problems_of_campaigns(wanted, current)
    yield from _problems_of_requirements(wanted, current)


def _problems_of_criteria(wanted: ProjectFile, current: Current) -> Iterator[tuple[Place, str]]:
    seen: dict[str, str] = {}
    for name, given in wanted.criteria.items():
        if (first := seen.setdefault(name.lower(), name)) != name:
            yield ("criteria", name), f"This is the criterion {first} again; remove one."
        merged = dict(current.criterion(name) or {}) | given.model_dump(exclude_unset=True)
        whole = CriterionPart.model_construct(
            **{key: merged[key] for key in CriterionPart.model_fields if key in merged}
        )
        ends = (whole.scale_min, whole.scale_max, whole.scale_step)
        for at, message in problems_of_scale(*ends, whole.scale_labels).items():
            yield ("criteria", name, at), message
        for at in ("inputs", "prompt_file"):
            if text := getattr(given, at):
                try:
                    check_template(text)
                except PromptError as error:
                    yield ("criteria", name, at), str(error)


def _problems_of_endpoints(wanted: ProjectFile, current: Current) -> Iterator[tuple[Place, str]]:
    for name, given in wanted.endpoints.items():
        record = current.endpoints.get(name)
        if record and record["has_stored_key"]:
            at = ("endpoints", name, "key_env")
            if given.key_env:
                yield at, "The endpoint has a stored key. Delete that on its page first."
            elif "base_url" in _of_endpoint(given, record):
                yield (
                    ("endpoints", name, "base_url"),
                    "The stored key was entered for the previous address. Change the address on"
                    " the endpoint's page, where the key can be entered again.",
                )


def _problems_of_judges(wanted: ProjectFile, current: Current) -> Iterator[tuple[Place, str]]:
    endpoints = {*wanted.endpoints, *current.endpoints}
    for name, given in wanted.judges.items():
        place = ("judges", name)
        record = current.judges.get(name)
        if given.endpoint and given.endpoint not in endpoints:
            yield (*place, "endpoint"), _not_there("endpoint", given.endpoint, endpoints)
        if record and record["kind"] == IMPORTED:
            yield place, "Scores with this judge's name were uploaded; choose another name."
            continue
        if record and "kind" in given.model_fields_set and given.kind != record["kind"]:
            yield (
                (*place, "kind"),
                f"The judge there is of the kind {record['kind']}; choose another name.",
            )
            continue
        kind = given.kind if record is None else record["kind"]
        evaluator = find_evaluator(kind)
        if evaluator is None:
            continue  # the site may have evaluators that are not installed here
        before = record["settings"] if record else None
        given_settings = {**(before or {}), **given.settings}
        try:
            make_evaluator(kind, new_settings(evaluator, given_settings, before))
        except SettingsError as error:
            for setting, message in error.messages.items():
                yield (*place, "settings", setting), f"{setting}: {message}"
        except EvaluatorError:
            continue  # evaluators missing here may exist there


def _problems_of_campaigns(wanted: ProjectFile, current: Current) -> Iterator[tuple[Place, str]]:
    criteria = {*wanted.criteria, *current.criteria}
    lower = {name.lower() for name in criteria}
    judges = {*wanted.judges, *current.judges}
    for name, given in wanted.campaigns.items():
        place = ("campaigns", name)
        for number, criterion in enumerate(given.criteria):
            if criterion.lower() not in lower:
                yield (*place, "criteria", number), _not_there("criterion", criterion, criteria)
        if goal := given.goal:
            if goal.criterion.lower() not in lower:
                message = _not_there("criterion", goal.criterion, criteria)
                yield (*place, "goal", "criterion"), message
            for at, what, names in (
                ("judge", "judge", judges),
                ("rival", "judge", judges),
                ("system", "system", set(current.systems)),
                ("other", "system", set(current.systems)),
            ):
                value = getattr(goal, at)
                if value is not None and value not in names:
                    yield (*place, "goal", at), _not_there(what, value, names)
        record = current.campaigns.get(name)
        if record and record["state"] != "draft":
            fixed = {*PLAN, "criteria", "gold", "goal"}
            for at in sorted(fixed & _of_campaign(given, record, current).keys()):
                yield (
                    (*place, at),
                    f"The campaign was opened, so its plan is fixed: {at} cannot change. Leave it"
                    " out, or give the campaign another name.",
                )


def _problems_of_requirements(wanted: ProjectFile, current: Current) -> Iterator[tuple[Place, str]]:
    criteria = {*wanted.criteria, *current.criteria}
    judges = {*wanted.judges, *current.judges}
    for number, required in enumerate(wanted.requirements):
        place = ("requirements", number)
        if required.judge not in judges:
            yield (*place, "judge"), _not_there("judge", required.judge, judges)
        if required.criterion.lower() not in {name.lower() for name in criteria}:
            message = _not_there("criterion", required.criterion, criteria)
            yield (*place, "criterion"), message
        for index, text in enumerate(required.require):
            try:
                parse_requirement(text)
            except RequirementError as error:
                yield (*place, "require", index), str(error)


def _not_there(what: str, name: str, names: set[str]) -> str:
    listed = ", ".join(sorted(names)[:20]) or "none"
    return f"There is no {what} {name!r}, neither here nor on the site; there are: {listed}."


def _lower(names: Sequence[str]) -> list[str]:
    return sorted(name.lower() for name in names)


def _sorted(names: Sequence[str]) -> list[str]:
    return sorted(names)


def _rows(gold: Sequence[Mapping[str, Any]]) -> set[tuple[tuple[str, str], ...]]:
    return {
        tuple(sorted((name, _written(value)) for name, value in row.items() if value != ""))
        for row in gold
    }


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value).strip()


def _short(value: Any) -> str:
    if isinstance(value, BaseModel):
        value = value.model_dump(exclude_none=True)
    return excerpt("none" if value in (None, "") else f"{value}", 60)


def body_of_judge(change: PlannedChange, endpoint: int | None) -> dict[str, Any]:
    """Return a judge's request body: the current values with the file's. The site changes a judge
    as a whole."""
    given = change.given.model_dump(mode="json", exclude_unset=True)
    record = change.record
    if record is None:
        return {"name": change.name} | given | ({"endpoint": endpoint} if endpoint else {})
    kept = ("kind", "model", *JudgeSettings.model_fields)
    body = {name: record[name] for name in kept if name in record}
    if "mode" in change.differences:
        body["temperature"] = None  # another mode has its own default
    body |= {name: value for name, value in given.items() if name in change.differences}
    settings = {**record["settings"], **given.get("settings", {})}
    at = endpoint if endpoint is not None else record["endpoint_id"]
    return body | {"name": change.name, "settings": settings, "endpoint": at}


def body_of_endpoint(change: PlannedChange) -> dict[str, Any]:
    """Return an endpoint's request body: complete, except for the key, which stays."""
    record = change.record or {}
    kept = {name: record[name] for name in EndpointFields.model_fields if name in record}
    return {"name": change.name} | kept | change.given.model_dump(mode="json", exclude_unset=True)
