"""The names of people in files: their own, or pseudonyms, which are the same in all files of a
project: "annotator 1" and so on, and none for those who review, decide or exclude."""

import re
from collections.abc import Mapping
from typing import Any

import orjson
from django.db import connection

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
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id, name FROM {ANNOTATORS} AS n", about)
        return dict(cursor.fetchall())


def report_with_pseudonyms(project_id: int, content: str, ending: str) -> str:
    """Return a report's download with pseudonyms in the places that name annotators."""
    real = annotator_names(project_id, pseudonyms=False)
    shown = annotator_names(project_id, pseudonyms=True)
    names = {name: shown[pk] for pk, name in real.items() if pk in shown}
    if ending != "json" or not names:
        return _in_sentences(content, names)
    renamed = _renamed(orjson.loads(content), "", names)
    return orjson.dumps(renamed, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


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
    """Return a text in which those who do not agree with the others have pseudonyms."""
    if not names:
        return text
    anybody = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    listed = re.compile(rf"(?<=the others: )(?:{anybody})(?:, (?:{anybody}))*")
    single = re.compile(anybody)
    return listed.sub(lambda all_: single.sub(lambda name: names[name[0]], all_[0]), text)
