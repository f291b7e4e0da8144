"""A project as the YAML file that describes it: applying it changes nothing."""

from collections.abc import Mapping
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from geval.llm.judge_settings import JudgeSettings
from geval.pipelines.project_files.file import (
    CampaignPart,
    CriterionPart,
    EndpointPart,
    FormatsPart,
    RequirementPart,
)
from geval.pipelines.project_files.planning import (
    IMPORTED,
    Current,
    Record,
    campaign_by_names,
    certified,
)
from geval.pipelines.project_files.reading import meaning
from geval.reports.options import MEAN, REMOVED_WORDS

HEAD = "# yaml-language-server: $schema=project.schema.json\n"
EPSILONS = {0.2: "0.2", 0.15: "0.15", 0.1: "0.1"}


def written_project(current: Current) -> str:
    """Return the file of an existing project, without its data, people's answers and keys."""
    assert current.project is not None
    info = current.project
    file = {
        "project": info["slug"],
        "name": info["name"],
        **{name: info[name] for name in ("description", "guidelines") if info[name]},
        "formats": _other_than_usual(info, FormatsPart, {"source_format": "plain",
            "output_format": "plain", "reference_format": "plain", "code_language": "",
            "text_language": ""}),
        "criteria": {
            name: _other_than_usual(record, CriterionPart)
            for name, record in current.criteria.items()
        },
        "endpoints": {
            name: _other_than_usual(record, EndpointPart)
            for name, record in current.endpoints.items()
            if not record["retired_at"]
        },
        "judges": {
            name: _judge(record, current)
            for name, record in current.judges.items()
            if not record["retired_at"] and record["kind"] != IMPORTED
        },
        "campaigns": {
            name: _other_than_usual(campaign_by_names(record, current), CampaignPart)
            for name, record in current.campaigns.items()
        },
        "requirements": _requirements(current),
    }  # fmt: skip
    message = {name: value for name, value in file.items() if value}
    text: str = yaml.dump(
        to_jsonable_python(message), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return HEAD + text


def _other_than_usual(
    record: Record, part: type[BaseModel], usual: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the fields of a part of the file that differ from their defaults."""
    names = [name for name in part.model_fields if name in record]
    defaults = usual or {name: part.model_fields[name].default for name in names}
    return {name: record[name] for name in names if record[name] != defaults[name]}


def _judge(record: Record, current: Current) -> dict[str, Any]:
    settings = {name: value for name, value in record["settings"].items() if value is not None}
    fields: dict[str, Any] = {"kind": record["kind"], "settings": settings}
    if endpoint := current.name_of("endpoints", record["endpoint_id"]):
        # The site's choices are written, so that another site judges in the same way.
        chosen = {name: record[name] for name in ("mode", "temperature") if record[name] != ""}
        others = _other_than_usual(record, JudgeSettings)
        names = [name for name in others if name.startswith("price_")]
        prices = {name: float(others[name]) for name in names}
        fields |= {"endpoint": endpoint, "model": record["model"]} | others | chosen | prices
    return {name: value for name, value in fields.items() if value not in ({}, "")}


def _requirements(current: Current) -> list[dict[str, Any]]:
    """Return the last certified requirements of each judge's current version."""
    labels = {each["label"]: name for name, each in current.judges.items()}
    pairs = dict.fromkeys(
        (labels[content["judge"]], content["criterion"])
        for each in current.certificates
        if (content := each["certificate"])["judge"] in labels
        and current.criterion(content["criterion"])
    )
    listed = []
    for judge, criterion in pairs:
        about = RequirementPart.model_construct(judge=judge, criterion=criterion)
        asked = certified(about, current)
        assert asked is not None
        fields = {"judge": judge, "criterion": criterion, "require": asked[0]}
        fields |= {"epsilon": EPSILONS.get(asked[1], "0.2")}
        score = REMOVED_WORDS.get(asked[2], asked[2])
        listed.append(fields if score == MEAN else fields | {"human_score": score})
    return listed


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and quotes words that would be read as something
    else."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None if isinstance(meaning(text), str) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
