"""A project as the YAML file that describes it: applying it changes nothing."""

from typing import Any

import yaml
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from geval.llm.judge_settings import JudgeSettings
from geval.pipelines.project_files.current import Current, Record
from geval.pipelines.project_files.file import SECTIONS, FormatsPart
from geval.pipelines.project_files.planning import NAMED, TEXTS, is_in_use
from geval.pipelines.project_files.reading import meaning
from geval.reports.options import REMOVED_WORDS

HEAD = "# yaml-language-server: $schema=project.schema.json\n"


def written_project(current: Current) -> str:
    """Return the file of an existing project, without its data, people's answers and keys."""
    assert current.project is not None
    info = current.project
    file = {"project": info["slug"]} | {name: info[name] for name in TEXTS}
    file["formats"] = {
        name: info[name] for name in FormatsPart.model_fields if info[name] not in ("plain", "")
    }
    for section in NAMED:
        records = filter(is_in_use, current.of(section).values())
        file[section] = {record["name"]: _part(section, record) for record in records}
    file["requirements"] = [_requirement(each) for each in current.of("requirements").values()]
    message = to_jsonable_python({name: value for name, value in file.items() if value})
    text = yaml.dump(message, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return HEAD + text


def _other_than_usual(record: Record, part: type[BaseModel]) -> dict[str, Any]:
    """Return the fields of a part of the file that differ from their defaults."""
    fields = {name: field for name, field in part.model_fields.items() if name in record}
    return {name: record[name] for name in fields if record[name] != fields[name].default}


def _part(section: str, record: Record) -> dict[str, Any]:
    if section != "judges":
        return _other_than_usual(record, SECTIONS[section])
    settings = {name: value for name, value in record["settings"].items() if value is not None}
    fields: dict[str, Any] = {"kind": record["kind"], "settings": settings}
    if record["endpoint"]:
        # The site's choices are written, so that another site judges in the same way.
        fields |= {name: record[name] for name in ("endpoint", "model")}
        fields |= _other_than_usual(record, JudgeSettings)
        fields |= {name: record[name] for name in ("mode", "temperature")}
        fields |= {name: float(fields[name]) for name in fields if name.startswith("price_")}
    return {name: value for name, value in fields.items() if value not in ({}, "")}


def _requirement(record: Record) -> dict[str, Any]:
    score = record["human_score"]
    return _other_than_usual(
        record | {"human_score": REMOVED_WORDS.get(score, score)}, SECTIONS["requirements"]
    )


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and quotes words that would be read as something
    else."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None if isinstance(meaning(text), str) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
