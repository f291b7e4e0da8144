"""Read a campaign's known answers (outputs with their correct answers) from CSV or rows, and write
them as rows. Pure.

An entry has the id of its `document`, the ids of its `outputs`, and the `expected` answer, as
`checks.py` compares it.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from geval.files.fields import is_not_applicable
from geval.statistics.scales import NOT_APPLICABLE
from geval.texts.subjects import CriterionLike

RATING, PAIRWISE, BEST_WORST, RANKING = "rating", "pairwise", "best_worst", "ranking"
# The most outputs of a group: one per letter.
MOST_OUTPUTS = 9
COLUMNS = {
    RATING: ("doc_id", "system_id", "criterion", "score"),
    PAIRWISE: ("doc_id", "system_a", "system_b", "winner"),
    BEST_WORST: ("doc_id", "system_id", "place"),
    RANKING: ("doc_id", "system_id", "rank"),
}
# The ids of an output and its document, by the names of document and system.
Outputs = Mapping[tuple[str, str], tuple[int, int]]


class GoldError(ValueError):
    """Rows cannot be used; each message names its line."""


@dataclass
class _Gold:
    document: int
    outputs: list[int]
    expected: dict[str, Any] = field(default_factory=dict)


def read_gold(
    text: str, kind: str, criteria: Sequence[CriterionLike], outputs: Callable[[], Outputs]
) -> list[dict[str, Any]]:
    """Return the known answers in a CSV text, one entry per item.

    For ratings the columns are doc_id, system_id, criterion, score; for pairs doc_id, system_a,
    system_b, winner ("a", "b" or "tie"), and criterion if the campaign has criteria; both may have
    a reason, which annotators read after practice. Groups have a row for each output: doc_id,
    system_id, and place ("best", "worst" or nothing) or rank (from 1); the outputs of a document
    that are listed are one item.

    Args:
        outputs: reads the project's outputs, once there are rows.

    Raises:
        GoldError: the text is not such a CSV, or a row names something that does not exist.
    """
    if not text.strip():
        return []
    if kind not in COLUMNS:
        raise GoldError("Choose what the task is first.")
    reader = csv.DictReader(io.StringIO(text.strip()))
    header = [name.strip() for name in reader.fieldnames or []]
    missing = [name for name in COLUMNS[kind] if name not in header]
    if missing:
        raise GoldError(
            f"Line 1: the column {missing[0]} is missing; expected {', '.join(COLUMNS[kind])}."
        )
    rows = (
        (f"Line {line}", {str(name).strip(): value or "" for name, value in raw.items() if name})
        for line, raw in enumerate(reader, start=2)
    )
    return _gold_of(rows, kind, criteria, outputs())


def gold_of_rows(
    listed: Sequence[Mapping[str, str | int | float]],
    kind: str,
    criteria: Sequence[CriterionLike],
    outputs: Callable[[], Outputs],
) -> list[dict[str, Any]]:
    """Read the known answers in rows with the columns of such a CSV.

    Raises:
        GoldError: a row lacks a column, or names something that does not exist.
    """
    columns = COLUMNS[kind]
    for number, row in enumerate(listed, start=1):
        if missing := [name for name in columns if name not in row and name != "place"]:
            raise GoldError(
                f"Row {number}: {missing[0]} is missing; expected {', '.join(columns)}."
            )
    rows = (
        (f"Row {number}", {"place": ""} | {name: str(value) for name, value in row.items()})
        for number, row in enumerate(listed, start=1)
    )
    return _gold_of(rows, kind, criteria, outputs())


def rows_of_gold(
    gold: Iterable[Mapping[str, Any]],
    kind: str,
    outputs: Mapping[int, tuple[str, str]],
    criteria: Mapping[str, str],
) -> list[dict[str, str | float]]:
    """Convert known answers to rows that `gold_of_rows` reads.

    Args:
        outputs: the names of documents and systems, by the id of the output; entries with other
            outputs are left out.
        criteria: names by id, as text.
    """
    return [
        row
        for entry in gold
        if set(entry["outputs"]) <= outputs.keys()
        for row in _rows_of_entry(kind, entry, outputs, criteria)
    ]


def csv_of_rows(rows: Sequence[Mapping[str, str | float]]) -> str:
    """Return rows of known answers as the CSV that `read_gold` reads; empty without rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, dict.fromkeys(name for row in rows for name in row))
    if rows:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().replace("\r\n", "\n")


def _rows_of_entry(
    kind: str,
    entry: Mapping[str, Any],
    outputs: Mapping[int, tuple[str, str]],
    names: Mapping[str, str],
) -> Iterator[dict[str, str | float]]:
    expected, pks = entry["expected"], entry["outputs"]
    doc_id = outputs[pks[0]][0]
    why = {"reason": expected["reason"]} if "reason" in expected else {}

    def about(criterion: str) -> dict[str, str | float]:
        return {"criterion": names[criterion], **why} if criterion in names else why

    if kind == RATING:
        for criterion, score in expected.get("scores", {}).items():
            yield {"doc_id": doc_id, "system_id": outputs[pks[0]][1], **about(criterion),
                   "score": NOT_APPLICABLE if score is None else score}  # fmt: skip
    elif kind == PAIRWISE:
        for criterion, winner in expected.get("winners", {}).items():
            word = {pks[0]: "a", pks[1]: "b"}.get(winner, "tie")
            yield {"doc_id": doc_id, "system_a": outputs[pks[0]][1],
                   "system_b": outputs[pks[1]][1], **about(criterion), "winner": word}  # fmt: skip
    elif kind == RANKING:
        for criterion, ranks in expected.get("ranks", {}).items():
            for pk in pks:
                yield {"doc_id": doc_id, "system_id": outputs[pk][1], **about(criterion),
                       "rank": ranks[str(pk)]}  # fmt: skip
    else:
        for criterion, best in expected.get("best", {}).items():
            worst = expected.get("worst", {}).get(criterion)
            for pk in pks:
                word = {best: "best", worst: "worst"}.get(pk, "")
                yield {"doc_id": doc_id, "system_id": outputs[pk][1], **about(criterion),
                       "place": word}  # fmt: skip


def _gold_of(
    rows: Iterable[tuple[str, dict[str, str]]],
    kind: str,
    criteria: Sequence[CriterionLike],
    outputs: Outputs,
) -> list[dict[str, Any]]:
    by_name = {criterion.name.lower(): criterion for criterion in criteria}
    gold_by_outputs: dict[tuple[int, ...], _Gold] = {}
    groups: dict[str, _Gold] = {}
    errors = []
    for place, raw in rows:
        row = {name: value.strip() for name, value in raw.items()}
        try:
            if kind in (BEST_WORST, RANKING):
                _take_of_group(row, kind, by_name, outputs, groups)
            else:
                _take(row, kind, by_name, outputs, gold_by_outputs)
        except GoldError as error:
            errors.append(f"{place}: {error}")
    for doc_id, gold in groups.items():
        if problem := _problem_of_group(gold, kind):
            errors.append(f"Document {doc_id}: {problem}")
        gold_by_outputs[tuple(gold.outputs)] = gold
    if errors:
        raise GoldError(
            " ".join(errors[:10]) + (f" … and {len(errors) - 10} more." if len(errors) > 10 else "")
        )
    return [
        {"document": gold.document, "outputs": gold.outputs, "expected": gold.expected}
        for gold in gold_by_outputs.values()
    ]


def _take(
    row: dict[str, str],
    kind: str,
    criteria: dict[str, CriterionLike],
    outputs: Outputs,
    answers: dict[tuple[int, ...], _Gold],
) -> None:
    systems = ("system_id",) if kind == RATING else ("system_a", "system_b")
    pks = []
    document = 0
    for column in systems:
        key = (row["doc_id"], row[column])
        if key not in outputs:
            raise GoldError(
                f"there is no output of {row[column] or 'nobody'} for document {row['doc_id']}."
            )
        pk, document = outputs[key]
        pks.append(pk)
    criterion = criteria.get(row.get("criterion", "").lower())
    if criterion is None and (criteria or kind == RATING):
        names = ", ".join(criteria)
        raise GoldError(
            f"{row.get('criterion') or 'no criterion'} is not a criterion of the campaign"
            f" ({names})."
        )
    gold = answers.setdefault(tuple(pks), _Gold(document, pks))
    if row.get("reason"):
        gold.expected["reason"] = row["reason"]
    if kind == RATING:
        assert criterion is not None
        gold.expected.setdefault("scores", {})[str(criterion.pk)] = _point(row["score"], criterion)
    else:
        winners = {"a": pks[0], "b": pks[1], "tie": 0}
        if row["winner"].lower() not in winners:
            raise GoldError(f"the winner must be a, b or tie, not {row['winner'][:40]!r}.")
        about = str(criterion.pk) if criterion else "0"
        gold.expected.setdefault("winners", {})[about] = winners[row["winner"].lower()]


def _take_of_group(
    row: dict[str, str],
    kind: str,
    criteria: dict[str, CriterionLike],
    outputs: Outputs,
    groups: dict[str, _Gold],
) -> None:
    """Read one output of a group, and its place on a criterion."""
    key = (row["doc_id"], row["system_id"])
    if key not in outputs:
        raise GoldError(
            f"there is no output of {row['system_id'] or 'nobody'} for document {row['doc_id']}."
        )
    pk, document = outputs[key]
    criterion = criteria.get(row.get("criterion", "").lower())
    if criterion is None and criteria:
        raise GoldError(f"name one of the campaign's criteria ({', '.join(criteria)}).")
    gold = groups.setdefault(row["doc_id"], _Gold(document, []))
    if pk not in gold.outputs:
        gold.outputs.append(pk)
    if row.get("reason"):
        gold.expected["reason"] = row["reason"]
    about = str(criterion.pk) if criterion else "0"
    if kind == RANKING:
        if not row["rank"].isdecimal() or not 1 <= int(row["rank"]) <= MOST_OUTPUTS:
            raise GoldError(f"rank {row['rank'][:40]!r} is not a whole number from 1.")
        ranks = gold.expected.setdefault("ranks", {}).setdefault(about, {})
        ranks[str(pk)] = int(row["rank"])
    elif (place := row["place"].lower()) in ("best", "worst"):
        if about in gold.expected.setdefault(place, {}):
            raise GoldError(f"document {row['doc_id']} has two outputs that are the {place}.")
        gold.expected[place][about] = pk
    elif place:
        raise GoldError(f"the place must be best, worst or empty, not {place[:40]!r}.")


def _problem_of_group(gold: _Gold, kind: str) -> str:
    """Return why a group cannot be an item; empty if it can."""
    if not 2 <= len(gold.outputs) <= MOST_OUTPUTS:
        return f"list 2 to {MOST_OUTPUTS} outputs, each in a line of its own."
    if kind == BEST_WORST:
        ends = [gold.expected.get(end, {}) for end in ("best", "worst")]
        if not ends[0] or ends[0].keys() != ends[1].keys():
            return "say which output is the best and which is the worst."
    elif any(len(ranks) < len(gold.outputs) for ranks in gold.expected["ranks"].values()):
        return "give every output a rank."
    return ""


def _point(written: str, criterion: CriterionLike) -> float | None:
    if criterion.scale.allows_not_applicable and is_not_applicable(written):
        return None
    try:
        point = criterion.scale.point_at(float(written))
    except ValueError:
        point = None
    if point is None:
        raise GoldError(
            f"score {written[:40]!r} is not on {criterion.name}'s scale {criterion.scale}."
        )
    return point
