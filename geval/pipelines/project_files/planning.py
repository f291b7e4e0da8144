"""Plan what a project file would change. Pure: from the file's content and the current state."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from geval.evaluators.base import EvaluatorError, SettingsError, new_settings
from geval.evaluators.registry import find_evaluator, make_evaluator
from geval.files.project_fields import PLAN
from geval.llm.findings import TOKENS_WITH_THOUGHT
from geval.llm.judge_settings import default_of
from geval.llm.prompts import PromptError, check_template
from geval.pipelines.project_files.current import (
    IMPORTED,
    REFERENCES,
    Current,
    Record,
    key_of,
    renamed,
    requirements_on,
)
from geval.pipelines.project_files.file import (
    CampaignPart,
    CriterionPart,
    EndpointPart,
    JudgePart,
    ProjectFile,
    RequirementPart,
)
from geval.pipelines.project_files.reading import Place
from geval.reports.requirements import RequirementError, parse_requirement
from geval.statistics.scales import problems_of_scale
from geval.texts.sentences import excerpt

WORDS = {
    "project": "project", "formats": "formats of texts", "criteria": "criterion",
    "endpoints": "endpoint", "judges": "judge", "campaigns": "campaign",
    "requirements": "requirements", "systems": "system",
}  # fmt: skip
# Sections whose records have names, in the order in which they can be made.
NAMED = ("criteria", "endpoints", "judges", "campaigns")
TEXTS = ("name", "description", "guidelines")
Differences = Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True)
class PlannedChange:
    """A record to create or change: the file's values, by names, and the existing record.
    `differences` has the old and new values, by field."""

    section: str
    name: str
    place: Place
    part: BaseModel
    record: Record | None
    differences: Differences = field(default_factory=dict)

    @property
    def restores(self) -> bool:
        return bool(self.record and self.record.get("retired_at"))

    @property
    def what(self) -> str:
        return f"{WORDS[self.section]} {self.name}".strip()

    def __str__(self) -> str:
        if self.record is None:
            return f"+ {self.what}"
        changes = ["restore"] * self.restores + [
            f"{name}: {_short(before)} -> {_short(after)}"
            for name, (before, after) in self.differences.items()
        ]
        return f"~ {self.what}: {'; '.join(changes)}"


@dataclass(frozen=True)
class ProjectPlan:
    """All changes in the order in which they can be made, and existing records that the file does
    not name, which stay unchanged."""

    changes: tuple[PlannedChange, ...]
    left_alone: tuple[str, ...]


def plan_of(wanted: ProjectFile, current: Current) -> ProjectPlan:
    """Plan what applying a file would do."""
    named = {(section, key_of(section, name)) for section, name, _place, _part in _parts(wanted)}
    left_alone = (
        f"{WORDS[section]} {record['name']}"
        for section in NAMED
        for key, record in current.of(section).items()
        if is_in_use(record) and (section, key) not in named
    )
    return ProjectPlan(tuple(_changes(wanted, current)), tuple(left_alone))


def is_in_use(record: Record) -> bool:
    """Return whether a record is one that a file may name: neither retired nor imported."""
    return not record.get("retired_at") and record.get("kind") != IMPORTED


def _parts(wanted: ProjectFile) -> Iterator[tuple[str, str, Place, Any]]:
    """Yield each record of a file: its section, name, place and values."""
    for section in NAMED:
        parts = getattr(wanted, section).items()
        # Rubrics before their items.
        for name, part in sorted(parts, key=lambda named: bool(getattr(named[1], "rubric", ""))):
            yield section, name, (section, name), part
    for number, required in enumerate(wanted.requirements):
        name = requirements_on(required.judge, required.criterion)
        yield "requirements", name, ("requirements", number), required


def _changes(wanted: ProjectFile, current: Current) -> Iterator[PlannedChange]:
    project = current.project
    texts = _differences(wanted, project or {}, TEXTS)
    if project is None or texts:
        yield PlannedChange("project", wanted.project, ("project",), wanted, project, texts)
    formats = _differences(wanted.formats, project or {})
    if formats := {name: pair for name, pair in formats.items() if pair[1] is not None}:
        yield PlannedChange("formats", "", ("formats",), wanted.formats, project or {}, formats)
    renewed = set()
    for section, name, place, part in _parts(wanted):
        record = current.find(section, name)
        differences = {} if record is None else dict(_differences(part, record))
        if section == "judges" and record and differences and record["is_frozen"]:
            renewed.add(name)  # which may be a new version without certificates
        if section == "requirements" and part.judge in renewed:
            differences["judge"] = (part.judge, "its new version")
        change = PlannedChange(section, name, place, part, record, differences)
        if record is None or differences or change.restores:
            yield change


def _differences(
    part: BaseModel, record: Record, among: Sequence[str] | None = None
) -> dict[str, tuple[Any, Any]]:
    """Return the values that a file gives and that differ from the current ones, in the same
    types; of a judge's settings each."""
    kind = type(part)
    among = tuple(kind.model_fields) if among is None else among
    names = [name for name in among if name in part.model_fields_set]
    fields = {name: record[name] for name in names if name in record}
    try:
        now = kind.model_validate(fields)
    except ValidationError:  # current values may be invalid in a file
        now = kind.model_construct(**fields)
    pairs = {name: (getattr(now, name, None), getattr(part, name)) for name in names}
    before, after = pairs.pop("settings", ({}, {}))
    pairs |= {
        f"settings.{name}": ((before or {}).get(name), value) for name, value in after.items()
    }
    return {name: pair for name, pair in pairs.items() if not _is_same(name, *pair)}


def _is_same(name: str, before: Any, after: Any) -> bool:
    """Return whether a value is the current one, or left to a site that chose it: a mode, a
    temperature, room for a thought."""
    if name == "max_tokens" and (before, after) == (TOKENS_WITH_THOUGHT, default_of(name)):
        return True
    if (name, after) in (("mode", ""), ("temperature", None)):
        return True
    same = _SAME.get(name)
    return bool(before == after or (same and before and same(before) == same(after)))


def _rows(gold: Sequence[Record]) -> set[tuple[tuple[str, str], ...]]:
    return {
        tuple(sorted((name, _written(value)) for name, value in row.items() if value != ""))
        for row in gold
    }


def _written(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value).strip()


def _required(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(str(parse_requirement(text)) for text in texts))


# What counts of a value, where it can be written in several ways.
_SAME: Mapping[str, Callable[[Any], Any]] = {
    "judge": str,
    "criterion": str.lower,
    "rubric": str.lower,
    "criteria": lambda names: sorted(name.lower() for name in names),
    "annotators": sorted,
    "gold": _rows,
    "require": _required,
}


def _short(value: Any) -> str:
    if isinstance(value, BaseModel):
        value = value.model_dump(exclude_none=True)
    return excerpt("none" if value in (None, "") else f"{value}", 60)


# What cannot be applied


def problems_of(wanted: ProjectFile, current: Current) -> Iterator[tuple[Place, str]]:
    """Yield what a site would refuse, as far as can be known in advance: places in the file, each
    with what is wrong and what to do."""
    names: dict[str, dict[str, str]] = {
        section: {key: record["name"] for key, record in records.items()}
        for section, records in current.records.items()
    }
    first: dict[tuple[str, str], str] = {}
    parts = list(_parts(wanted))
    for section, name, place, _part in parts:
        key = key_of(section, name)
        names.setdefault(section, {})[key] = name
        if section in NAMED and (before := first.setdefault((section, key), name)) != name:
            yield place, f"This is the {WORDS[section]} {before} again; remove one."
    for section, name, place, part in parts:
        missing: list[tuple[Place, str]] = []

        def check(kind: str, name: str, at: Place, missing: Any = missing) -> None:
            if key_of(kind, name) not in names.get(kind, ()):
                listed = ", ".join(sorted(names.get(kind, {}).values())[:20]) or "none"
                missing.append((at, f"There is no {WORDS[kind]} {name!r}, neither here nor on the"
                                    f" site; there are: {listed}."))  # fmt: skip

        renamed(part.model_dump(), REFERENCES.get(section, {}), check)
        problems = _CHECKS[section](part, current.find(section, name))
        yield from (((*place, *at), message) for at, message in (*missing, *problems))


def _problems_of_criterion(part: CriterionPart, record: Any) -> Iterator[tuple[Place, str]]:
    merged = {**(record or {}), **part.model_dump(exclude_unset=True)}
    fields = CriterionPart.model_fields
    whole = CriterionPart.model_construct(**{key: merged[key] for key in fields if key in merged})
    ends = (whole.scale_min, whole.scale_max, whole.scale_step)
    for at, message in problems_of_scale(
        *ends, whole.scale_labels, is_ordered=whole.is_ordered
    ).items():
        yield (at,), message
    for at in ("inputs", "prompt_file"):
        if text := getattr(part, at):
            try:
                check_template(text)
            except PromptError as error:
                yield (at,), str(error)


def _problems_of_endpoint(part: EndpointPart, record: Any) -> Iterator[tuple[Place, str]]:
    if record and record["has_stored_key"]:
        if part.key_env:
            yield ("key_env",), "The endpoint has a stored key. Delete that on its page first."
        elif "base_url" in _differences(part, record):
            yield (
                ("base_url",),
                "The stored key was entered for the previous address. Change the address on the"
                " endpoint's page, where the key can be entered again.",
            )


def _problems_of_judge(part: JudgePart, record: Any) -> Iterator[tuple[Place, str]]:
    kind = record["kind"] if record else part.kind
    if kind == IMPORTED and record:
        yield (), "Scores with this judge's name were uploaded; choose another name."
        return
    if "kind" in part.model_fields_set and part.kind != kind:
        yield ("kind",), f"The judge there is of the kind {kind}; choose another name."
        return
    before = record["settings"] if record else None
    try:
        if evaluator := find_evaluator(kind):
            make_evaluator(kind, new_settings(evaluator, (before or {}) | part.settings, before))
    except SettingsError as error:
        for setting, message in error.messages.items():
            yield ("settings", setting), f"{setting}: {message}"
    except EvaluatorError:
        return  # evaluators missing here may exist there


def _problems_of_campaign(part: CampaignPart, record: Any) -> Iterator[tuple[Place, str]]:
    if record and record["state"] != "draft":
        fixed = {*PLAN, "criteria", "gold", "goal"}
        for at in sorted(fixed & _differences(part, record).keys()):
            yield (
                (at,),
                f"The campaign was opened, so its plan is fixed: {at} cannot change. Leave it out,"
                " or give the campaign another name.",
            )


def _problems_of_requirement(part: RequirementPart, _record: Any) -> Iterator[tuple[Place, str]]:
    for index, text in enumerate(part.require):
        try:
            parse_requirement(text)
        except RequirementError as error:
            yield ("require", index), str(error)


_CHECKS: Mapping[str, Callable[[Any, Any], Iterator[tuple[Place, str]]]] = {
    "criteria": _problems_of_criterion,
    "endpoints": _problems_of_endpoint,
    "judges": _problems_of_judge,
    "campaigns": _problems_of_campaign,
    "requirements": _problems_of_requirement,
}
