"""The names of people in files: their own, or pseudonyms, which are the same in all files of a
project: "annotator 1" and so on, and none for those who review, decide or exclude."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from geval.reports.drawings.numbers import CriterionNumbers
from geval.reports.page import ReportNumbers
from geval.reports.report import CriterionResult
from geval_site.sql import fetch_rows

# A table of a project's annotators, for FROM and JOIN; texts of comments are unchanged.
ANNOTATORS = """(SELECT id, project_id, kind,
        CASE WHEN NOT %(pseudonyms)s THEN name
            ELSE CASE kind WHEN 'person' THEN 'annotator ' ELSE 'mean ' END
                || row_number() OVER (PARTITION BY kind ORDER BY id) END AS name
    FROM annotations_annotator WHERE project_id = %(project)s)"""


def unless_pseudonyms(name: str) -> str:
    """Return the expression of the name of a member who is not named with pseudonyms."""
    return f"CASE WHEN %(pseudonyms)s THEN '' ELSE {name} END"


def annotator_names(project_id: int, *, pseudonyms: bool) -> dict[int | None, str]:
    """Return the names of a project's annotators by id."""
    about = {"project": project_id, "pseudonyms": pseudonyms}
    return dict(fetch_rows(f"SELECT id, name FROM {ANNOTATORS} AS n", about))


def pseudonyms_by_name(project_id: int) -> dict[str, str]:
    """Return the pseudonyms of a project's annotators by their names."""
    shown = annotator_names(project_id, pseudonyms=True)
    return {name: shown[pk] for pk, name in annotator_names(project_id, pseudonyms=False).items()}


def numbers_renamed(numbers: ReportNumbers, names: Mapping[str, str]) -> ReportNumbers:
    """Return a report's numbers with other names of annotators."""
    criteria = tuple(_criterion_renamed(criterion, names) for criterion in numbers.report.criteria)
    return replace(numbers, report=replace(numbers.report, criteria=criteria))


def _criterion_renamed(criterion: CriterionResult, names: Mapping[str, str]) -> CriterionResult:
    agreement = criterion.agreement
    alone = {names.get(name, name): of for name, of in agreement.leave_one_out.items()}
    below = _all(agreement.below_the_bar, names)
    against = _all(agreement.against_others, names)
    agreement = replace(agreement, leave_one_out=alone, below_the_bar=below, against_others=against)
    return replace(criterion, annotators=_all(criterion.annotators, names), agreement=agreement)


def drawn_renamed(
    numbers: CriterionNumbers, names: Mapping[str, str], *_keys: Any
) -> CriterionNumbers:
    """Return the numbers of drawings with other names of annotators; judges keep theirs."""
    sides = zip(numbers.sides, numbers.people, strict=True)
    return replace(numbers, sides=tuple(names.get(n, n) if person else n for n, person in sides))


def _all(texts: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(names.get(text, text) for text in texts)


def download_renamed(content: str, names: Mapping[str, str], ending: str) -> str:
    """Return a report's download with other names in the places that name annotators."""
    if ending != "json":
        return _in_sentences(content, names)
    renamed = _renamed(orjson.loads(content), "", names)
    return orjson.dumps(renamed, option=orjson.OPT_INDENT_2).decode()


# The parts of a report's JSON that list annotators, and that have a value for each.
_LISTS, _BY_NAME = ("annotators", "left_out", "below_the_bar"), (
    "p", "leave_one_out_summary_spearman",
)  # fmt: skip


def _renamed(value: Any, part: str, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        by_name = names if part in _BY_NAME else {}
        return {by_name.get(key, key): _renamed(of, key, names) for key, of in value.items()}
    if isinstance(value, list):
        listed = names if part in _LISTS else {}
        return [
            listed.get(each, each) if isinstance(each, str) else _renamed(each, "", names)
            for each in value
        ]
    return _in_sentences(value, names) if isinstance(value, str) else value


def _in_sentences(text: str, names: Mapping[str, str]) -> str:
    """Return a text in which those who do not agree with the others have other names."""
    anybody = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    listed = re.compile(rf"(?<=the others: )(?:{anybody})(?:, (?:{anybody}))*")
    single = re.compile(anybody)
    return listed.sub(lambda all_: single.sub(lambda name: names[name[0]], all_[0]), text)
