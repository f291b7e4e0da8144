"""What a project file says: its sections, checked all at once. The JSON schema for editors is made
from the same classes.

What is left out of a file stays as it is on the site; of what is new, it has the site's default.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from geval.files.project_fields import CampaignFields, CriterionFields, EndpointFields, FormatFields
from geval.llm.judge_settings import JudgeSettings
from geval.pipelines.project_files.reading import (
    Place,
    Problem,
    ProjectFileError,
    YamlDocument,
    read_document,
)
from geval.reports.options import MEAN, Epsilon, instead_of
from geval.statistics.consensus import HumanScore
from geval.texts.sentences import unknown_field

# Usual names of keys, which must not be in a file.
_KEY_WORDS = re.compile(r"(api[_-]?)?(key|token|secret|password)", re.I)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
NO_KEYS = (
    "A key never stands in this file, which others may read and which is kept for long. Put it in"
    " an environment variable of the workers, and write the variable's name as key_env. If the file"
    " was shared, replace the key."
)
_FIELDS = " needs fields below it; for none, write {}."
# By pydantic's kind of error: what follows the name of a field.
_MESSAGES = {
    "missing": " is missing; add it.",
    "bool_type": " is true or false; write one of these.",
    "string_type": " must be a text; put it in quotation marks.",
    "model_type": _FIELDS,
    "dict_type": _FIELDS,
    "model_attributes_type": _FIELDS,
    "list_type": " must be a list; begin each line below it with “- ”.",
    "string_pattern_mismatch": ": use letters, digits, - and _.",
    "timezone_aware": " needs a time zone, such as 2027-01-31T18:00+01:00.",
}
Named = Annotated[str, Field(min_length=1, max_length=200)]


class FilePart(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FormatsPart(FormatFields, FilePart):
    pass


class CriterionPart(CriterionFields, FilePart):
    rubric: Named | None = Field(
        None,
        description="The criterion whose item this is: its total is the weighted share of passes.",
    )


class EndpointPart(EndpointFields, FilePart):
    @field_validator("base_url")
    @classmethod
    def _as_stored(cls, address: str) -> str:
        return address.strip().rstrip("/")


class JudgePart(JudgeSettings, FilePart):
    """A judge: its kind with that kind's settings; those that ask an LLM also have an endpoint, a
    model, and how it is asked."""

    kind: str = Field("geval", max_length=40, description="Of the evaluators that the site has.")
    settings: dict[str, Any] = Field({}, description="Of this kind of evaluator.")
    endpoint: str = Field("", max_length=100, description="The name of an endpoint.")
    model: str = Field("", max_length=200, description="As the endpoint calls it.")


class GoalPart(FilePart):
    """When a campaign closes itself. Judges, systems and the criterion are named."""

    kind: Literal["width", "judges", "systems"]
    criterion: Named
    width: float | None = Field(
        None, description="A judge's rho is known within plus and minus it."
    )
    judge: Named | None = None
    rival: Named | None = None
    system: Named | None = None
    other: Named | None = None


class CampaignPart(CampaignFields, FilePart):
    """A campaign, as a draft: opening it is left to people."""

    deadline: AwareDatetime | None = Field(
        None, description="With its time zone, such as 2027-01-31T18:00+01:00."
    )
    criteria: list[Named] = Field([], max_length=1000, description="Names.")
    annotators: list[Named] = Field([], max_length=1000, description="Names of members.")
    goal: GoalPart | None = None


class RequirementPart(FilePart):
    """What a judge must meet on a criterion; `apply` has it certified."""

    judge: Named
    criterion: Named
    require: list[Named] = Field(
        min_length=1, max_length=50, description="Such as spearman.summary.low>=0.45."
    )
    epsilon: Epsilon = Field("0.2", description="Of the alternative annotator test.")
    human_score: HumanScore = Field(MEAN, description="What the judge is compared with.")


class ProjectFile(FilePart):
    """A project of geval_site. Names of criteria, endpoints, judges and campaigns are the keys."""

    model_config = ConfigDict(title="A project of geval_site")

    project: str = Field(
        pattern=r"^[-a-zA-Z0-9_]+$", max_length=50, description="Its short name in addresses."
    )
    name: Named = Field("", description="Its title. For a new project, else its short name.")
    description: str = Field("", max_length=20_000)
    guidelines: str = Field("", description="What annotators should know, in Markdown.")
    formats: FormatsPart = Field(default_factory=lambda: FormatsPart.model_validate({}))
    criteria: dict[Annotated[str, Field(min_length=1, max_length=100)], CriterionPart] = {}
    endpoints: dict[Annotated[str, Field(min_length=1, max_length=100)], EndpointPart] = {}
    judges: dict[Named, JudgePart] = {}
    campaigns: dict[Named, CampaignPart] = {}
    requirements: list[RequirementPart] = []


SECTIONS: dict[str, type[BaseModel]] = {
    "formats": FormatsPart,
    "criteria": CriterionPart,
    "endpoints": EndpointPart,
    "judges": JudgePart,
    "campaigns": CampaignPart,
    "requirements": RequirementPart,
}


def read_project_file(content: bytes, path: str) -> tuple[ProjectFile, YamlDocument]:
    """Return a file's project, and its values with their lines.

    Raises:
        ProjectFileError: lists everything that is wrong in the file itself.
    """
    document = read_document(content, path)
    problems = list(document.problems)
    try:
        # Strict as in JSON: a text is not a number, nor the reverse, and `yes` is not true.
        read = ProjectFile.model_validate_json(orjson.dumps(document.values), strict=True)
    except ValidationError as error:
        by_place: dict[Place, Problem] = {}
        for each in error.errors(include_url=False):
            # For a value of several possible types the first error is enough.
            place = _place(each, document)
            by_place.setdefault(place, _problem(each, place, document))
        problems += by_place.values()
        raise ProjectFileError(path, problems) from None
    problems += [Problem(document.line_of(at), message) for at, message in _unsafe(read)]
    if problems:
        raise ProjectFileError(path, problems)
    return read, document


def _unsafe(read: ProjectFile) -> Iterator[tuple[Place, str]]:
    """Return keys in fields for names and addresses."""
    for name, endpoint in read.endpoints.items():
        if endpoint.key_env and not _VARIABLE.fullmatch(endpoint.key_env):
            yield ("endpoints", name, "key_env"), f"This is no variable's name. {NO_KEYS}"
        if "@" in endpoint.base_url:
            yield ("endpoints", name, "base_url"), f"Leave user and password out. {NO_KEYS}"


def _place(error: Mapping[str, Any], document: YamlDocument) -> Place:
    """Return where in the file an error is, including the name of a missing field."""
    place: Place = tuple(part for part in error["loc"] if part != "[key]")
    if error["type"] == "missing":
        return place
    lengths = range(len(place), -1, -1)
    return next(place[:n] for n in lengths if not n or place[:n] in document.lines)


def _problem(error: Mapping[str, Any], place: Place, document: YamlDocument) -> Problem:
    name, kind = str(place[-1]) if place else "The file", error["type"]
    if kind == "extra_forbidden":
        is_key = place[0] == "endpoints" and _KEY_WORDS.fullmatch(name)
        message = NO_KEYS if is_key else unknown_field(name, allowed_at(place[:-1]))
    elif kind in ("literal_error", "enum"):
        message = f"{name} must be {error['ctx']['expected']}.{instead_of(error['input'])}"
    else:
        message = name + _MESSAGES.get(kind, f": {error['msg'].removeprefix('Input ')}.")
    return Problem(document.line_of(place), message)


def allowed_at(place: Place) -> list[str]:
    """Return the names of fields that a part of a file may have."""
    part = SECTIONS[str(place[0])] if place else ProjectFile
    return list((GoalPart if place[-1:] == ("goal",) else part).model_fields)


def written_schema() -> str:
    """Return the text of docs/project.schema.json."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return (
        json.dumps(dialect | ProjectFile.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
    )


if __name__ == "__main__":
    print(written_schema(), end="")  # noqa: T201
