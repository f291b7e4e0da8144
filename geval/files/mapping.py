"""Match a file's columns with ours, by names and first rows; users can change it. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from geval.files.cells import NUMBERED, CellColumn, base_of, cell_of
from geval.files.column_aliases import NAMES, is_ours, names_in
from geval.files.fields import is_missing, number_in
from geval.files.messages import turns_column
from geval.files.preference_rows import ANNOTATOR, DOCUMENT, FIRST, SECOND
from geval.files.rater_names import folded
from geval.files.rows import Columns
from geval.files.tools import tool_of
from geval.statistics.locked_rule import GROUP

TARGETS = {
    "doc_id": "document's name",
    "source": "source text",
    "context": "context",
    "references": "reference, or a list of them",
    "session_id": "session that the document is a turn of",
    "group": "group of the document, such as its topic",
    "metadata": "metadata of the document",
    "system_id": "system's name",
    "output": "output",
    "criterion": "criterion's name",
    "score": "score on that criterion",
    "annotator": "annotator's name",
    "judge": "judge's name",
    "repeat": "which of several scores of a judge for the same output",
    "comment": "rater's comment",
    "ratings": "ratings",
    "scores": "scores of a judge",
    "system_a": "first system",
    "system_b": "second system",
    "winner": "winner of the two",
    "strength": "strength of the preference",
    "shown_first": "which was shown first",
    "turn": "turn of a conversation",
}
GROUPS = {
    "Document": ("doc_id", "source", "context", "references", "session_id", "group", "metadata"),
    "Output": ("system_id", "output"),
    "Ratings and scores": names_in("criterion score annotator judge repeat ratings scores comment"),
    "Preferences": ("system_a", "system_b", "winner", "strength", "shown_first", "turn"),
}
SEVERAL = frozenset({"metadata", "ratings", "scores"})
# Columns with the comments of the rater whose name follows.
COMMENTS_OF = "comments."
REPEATS = names_in("repeat repetition replicate trial attempt")
COMMENTS = ("comment", "comments", "remark", "remarks")
# Texts about an output, which are neither sources nor outputs.
REMARKS = {
    *COMMENTS, "critique", "explanation", "feedback", "justification", "note", "notes",
    "rationale", "reason", "reasoning",
}  # fmt: skip
SCORES = {
    "doc_id": (*NAMES["doc_id"], "document_id", "item_id"),
    "system_id": NAMES["system_id"],
    "criterion": names_in(
        "criterion dimension aspect quality criteria kriterium merkmal critère criterio critério"
    ),
    "score": ("score", "rating", "value"),
    "annotator": names_in(
        "annotator rater annotator_id rater_id worker worker_id evaluator reviewer reviewer_id"
        " labeler labeller grader coder bewerter bewerterin annotateur évaluateur anotador"
        " evaluador avaliador annotatore valutatore"
    ),
    "judge": ("judge", "metric", "judge_model"),
    "repeat": REPEATS,
    "comment": COMMENTS,
}
# Names of scores beside the name of who gave them; alone they say too little.
LABELS = ("label", "verdict", "grade", "judgement", "judgment", "annotation")
# What else a row with a rating says: whose it is, and a comment.
RATED_BY = ("annotator", "judge", "comment")
PREFERENCES = {
    "doc_id": DOCUMENT,
    "system_a": (*FIRST, "first"),
    "system_b": (*SECOND, "second"),
    "annotator": (*ANNOTATOR, *SCORES["annotator"]),
    "criterion": SCORES["criterion"],
    "winner": ("winner", "preference", "choice"),
    "strength": ("strength",),
    "shown_first": ("shown_first",),
    "turn": ("turn",),
    "comment": COMMENTS,
}
# Nested records, which the readers recognise as a whole.
STRUCTURED = {
    "all_responses": "raw replies of a judge, as in the G-Eval release",
    "system_output": "an object of the G-Eval or UniEval release",
    "expert_annotations": "SummEval's own JSON, with its ratings",
}
# Longer values are texts, not labels to filter by.
LONGEST_METADATA = 200


def structure_of(record: Mapping[str, Any]) -> str:
    """Return the kind of a nested record; empty for a record of plain columns."""
    if not is_ours(record) and (tool := tool_of(record)):
        return tool.title
    if record and all(isinstance(value, dict) for value in record.values()):
        return "preferences by annotator"
    if "key" in record and "winner" in record:
        return "comparisons named as MT-bench does"
    if turns_column(record):
        return "a conversation"
    return next((title for name, title in STRUCTURED.items() if name in record), "")


def flattened(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with the fields of nested objects as columns `outer.inner`; one level
    deep."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{inner}": part for inner, part in value.items()})
        else:
            flat[name] = value
    return flat


def guess_columns(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Guess the meaning of each column; unrecognised columns are left out.

    Args:
        rows: the first rows, by column.
    """
    plain = plain_names(names)
    has = set(plain.values())
    if has & set(PREFERENCES["winner"]) and has & set(PREFERENCES["system_a"]):
        guess = _named(plain, PREFERENCES)
        # Our column names judges; in MT-bench it names people.
        by_judge = "system_a" in has and "annotator" not in has
        return guess | {name: "judge" for name in guess if by_judge and plain[name] == "judge"}
    if not has & set(NAMES["output"]):
        if has & set(SCORES["score"]):
            return _named(plain, SCORES)
        if long := _named_in_long(plain, rows):
            return long
    columns = _named(
        plain, {**NAMES, "session_id": ("session_id",), "group": (GROUP,), "repeat": REPEATS}
    )
    if tidy := _named_in_tidy(plain, columns, rows):
        return _with_metadata(names, columns | tidy, rows)
    if "output" not in columns.values():
        # Texts written by people, with nothing to compare them with: these are the outputs.
        columns |= {name: "output" for name, target in columns.items() if target == "references"}
    rater = _named(
        {n: p for n, p in plain.items() if n not in columns}, {"annotator": SCORES["annotator"]}
    )
    for name in names:
        short = plain[name].rpartition(".")[0]
        if name in columns or name in rater:
            continue
        if short in ("ratings", "metadata"):
            columns[name] = short
        elif rater and _all_short(name, rows) and _all_numbers(name, rows):
            columns[name] = "ratings"
    columns |= rater if "ratings" in columns.values() else dict.fromkeys(rater, "metadata")
    return _with_metadata(names, columns, rows)


def _named_in_long(plain: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the columns of a table with a row for each label of a named rater or judge; empty for
    any other table, such as one with the labels of people and of a judge side by side."""
    columns = _named(plain, SCORES | {"score": LABELS})
    by_target = {target: name for name, target in columns.items()}
    who, label = by_target.get("annotator") or by_target.get("judge"), by_target.get("score")
    if not (who and label):
        return {}
    given, names = ({str(row.get(name)) for row in rows} for name in (label, who))
    return columns if given.isdisjoint(names) else {}


def _named_in_tidy(
    plain: Mapping[str, str], columns: Columns, rows: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Return the columns of a rating in a table whose rows have the output as well: its criterion,
    number and rater; empty for any other table."""
    others = {name: written for name, written in plain.items() if name not in columns}
    names = {target: SCORES[target] for target in ("criterion", "score", *RATED_BY)}
    tidy = _named(others, names)
    by_target = {target: name for name, target in tidy.items()}
    criterion, score = by_target.get("criterion"), by_target.get("score")
    if not (criterion and score) or _all_numbers(criterion, rows):
        return {}
    by_judge = "judge" in by_target and "annotator" not in by_target
    return tidy | {score: CellColumn("", "", by_judge).target}


def _with_metadata(
    names: Sequence[str], columns: dict[str, str], rows: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Return columns with short values that have no other meaning as metadata."""
    others = (name for name in names if name not in columns and _all_short(name, rows))
    return columns | dict.fromkeys(others, "metadata")


def plain_names(names: Sequence[str]) -> dict[str, str]:
    """Return columns by name, with the normalised spelling in which known names are listed."""
    return {name: re.sub(r"[\s\-]+", "_", name.strip().lower()) for name in names}


def _named(
    plain: Mapping[str, str], names_of_columns: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    columns: dict[str, str] = {}
    for target, aliases in names_of_columns.items():
        for alias in aliases:
            name = next(
                (
                    name
                    for name, written in plain.items()
                    if written == alias and name not in columns
                ),
                None,
            )
            if name is not None:
                columns[name] = target
                break
    return columns


def _all_short(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    values = [row.get(name) for row in rows]
    return any(value not in (None, "") for value in values) and all(
        not isinstance(value, dict | list) and len(str(value)) <= LONGEST_METADATA
        for value in values
    )


def _all_numbers(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    values = [row.get(name) for row in rows if not is_missing(row.get(name))]
    return all(number_in(str(value)) is not None for value in values)


def kind_of(columns: Columns) -> str:
    """Return the kind of rows with these columns; empty if they cannot be loaded."""
    targets = set(map(base_of, columns.values()))
    cells = targets & {"ratings", "scores"}
    if "winner" in targets:
        return "preferences"
    if "score" in targets and "output" not in targets:
        return (
            "scores of judges" if "judge" in targets and "annotator" not in targets else "ratings"
        )
    if "output" in targets:
        return " with ".join(["outputs", *([IN_CELLS[len(cells), min(cells)]] if cells else [])])
    return f"{IN_CELLS[len(cells), min(cells)]} in columns" if cells else ""


IN_CELLS = {
    (1, "ratings"): "ratings",
    (1, "scores"): "scores of judges",
    (2, "ratings"): "ratings and scores of judges",
}


def cell_column(name: str, target: str) -> CellColumn | None:
    """Return who rated what in a column; None if its cells are not ratings or scores."""
    if target == "ratings":
        return CellColumn(name.removeprefix("ratings."), "")
    return cell_of(target)


def commented_raters(columns: Columns) -> dict[str, str | None]:
    """Return whose comments columns beside those of ratings contain: of the rater in the column's
    name, or of the only one ("" is the default); None if that is unclear. Empty where rows name
    their rater."""
    if not {"annotator", "judge", "winner", "score"}.isdisjoint(map(base_of, columns.values())):
        return {}
    cells = [cell for column in columns.items() if (cell := cell_column(*column))]
    raters = {cell.rater for cell in cells if not cell.by_judge}
    if cells and not raters:
        return {}  # judges' remarks are not read
    return {
        name: _rater_in(name, raters) for name, target in columns.items() if target == "comment"
    }


def _rater_in(name: str, raters: Collection[str]) -> str | None:
    in_name = [rater for rater in raters if rater and f" {_words(rater)} " in f" {_words(name)} "]
    only = next(iter(raters)) if len(raters) == 1 else None
    return max(in_name, key=len, default=only)


def _words(name: str) -> str:
    return re.sub(r"[\W_]+", " ", folded(name)).strip()


def _problems_of_comments(columns: Columns) -> Iterator[str]:
    raters = commented_raters(columns)
    for name in (name for name, rater in raters.items() if rater is None):
        yield (
            f"Whose comments are in “{name}”? Its name has to contain the name of a rater in"
            " another column; otherwise ignore it."
        )
    for rater, count in Counter(raters.values()).items():
        if rater is not None and count > 1:
            yield f"Two columns are comments of {rater or 'the same rater'}: choose one."


def column_of_rating(columns: Columns, criterion: str, rater: str) -> str:
    """Return the column with a rater's ratings of a criterion; our name for it if there is none."""
    for name, target in columns.items():
        cell = cell_column(name, target)
        if (
            cell
            and cell.criterion.lower() in (criterion.lower(), "")
            and (cell.rater in (rater, "") or cell.rater == NUMBERED)
        ):
            return name
    return next((name for name, target in columns.items() if target == "score"), "score")


def problems_of(columns: Columns) -> list[str]:
    """Return why these columns cannot be loaded, as sentences; empty if they can."""
    targets = [base_of(target) for target in columns.values()]
    others = {"comment"} if commented_raters(columns) else set()
    problems = [
        f"Two columns are the {TARGETS[target]}: choose one."
        for target in dict.fromkeys(targets)
        if target not in {*SEVERAL, *others} and targets.count(target) > 1
    ]
    problems += _problems_of_comments(columns)
    cells = [cell for column in columns.items() if (cell := cell_column(*column)) is not None]
    problems += [
        f"Two columns are the ratings of {cell.criterion or 'each row'} by"
        f" {cell.rater or 'the same rater'}: choose one, or name their raters."
        for cell, count in Counter(cells).items()
        if count > 1
    ]
    if any(not cell.criterion for cell in cells) and "criterion" not in targets:
        problems.append("Say which criterion was rated in each column of ratings.")
    kind = kind_of(columns)
    if not kind:
        return [
            *problems,
            (
                "Say which column is the output, the score or the winner; there is nothing to load"
                " otherwise."
            ),
        ]
    rater = "judge" if "judge" in targets else "annotator"
    needed = {
        "preferences": ("doc_id", "system_a", "system_b", rater),
        "ratings": ("doc_id", "system_id", "criterion", "annotator"),
        "scores of judges": ("doc_id", "system_id", "criterion", "judge"),
    }.get(kind, ("source",) if kind.startswith("outputs") else ("doc_id", "system_id"))
    problems += [
        f"Choose the column with the {TARGETS[target]}: {kind} need it."
        for target in needed
        if target not in targets
    ]
    if "doc_id" in needed and not {"doc_id", "source", "output"} & set(targets):
        problems.append(
            "If columns hold the source and the output, say which: then no document's name is"
            " needed."
        )
    if "annotator" in targets and "judge" in targets and kind != "preferences":
        problems.append(
            "A row belongs to an annotator or to a judge: choose one of the two columns."
        )
    return problems


def is_native(columns: Columns) -> bool:
    """Return whether readers recognise these columns by their names."""
    return all(
        target == name
        or name in NAMES.get(target, ())
        or (target == "metadata" and name.startswith("metadata."))
        for name, target in columns.items()
    )


def renamed(record: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
    """Return a record with only our columns."""
    flat, raters = flattened(record), commented_raters(columns)
    return {
        _our_name(name, target, raters): flat[name]
        for name, target in columns.items()
        if flat.get(name) is not None
    }


def renamed_header(header: Sequence[str], columns: Columns) -> tuple[str, ...]:
    """Return a table's header with our columns; other columns get names that no reader uses."""
    raters = commented_raters(columns)
    return tuple(
        _our_name(name, columns[name], raters) if name in columns else f"(left out {number})"
        for number, name in enumerate(header)
    )


def _our_name(name: str, target: str, raters: Mapping[str, str | None]) -> str:
    if cell_of(target):
        return target
    if (rater := raters.get(name)) is not None:
        return f"{COMMENTS_OF}{rater}"
    target = base_of(target)
    return f"{target}.{name.removeprefix(f'{target}.')}" if target in SEVERAL else target
