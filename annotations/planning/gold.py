"""Read a campaign's known answers from CSV: outputs, and their right answers."""

import csv
import io
from dataclasses import dataclass, field
from typing import Any

from annotations.models import CampaignKind
from evaluations.models import CandidateOutput, Criterion, Project

COLUMNS = {
    CampaignKind.RATING: ("doc_id", "system_id", "criterion", "score"),
    CampaignKind.PAIRWISE: ("doc_id", "system_a", "system_b", "winner"),
}


class GoldError(ValueError):
    """Rows that cannot be used; each message names its line."""


@dataclass
class _Gold:
    document: int
    outputs: list[int]
    expected: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_gold(
    text: str, *, project: Project, kind: str, criteria: list[Criterion]
) -> list[dict[str, Any]]:
    """The known answers in a CSV text, one entry per item, with ids of this project.

    For ratings the columns are doc_id, system_id, criterion, score; for pairs doc_id, system_a,
    system_b, winner ("a", "b" or "tie"), and criterion if the campaign has criteria.

    Raises:
        GoldError: the text is not such a CSV, or a row names something that does not exist.
    """
    if not text.strip():
        return []
    if kind not in COLUMNS:
        raise GoldError("Known answers are for ratings and for pairs only.")
    reader = csv.DictReader(io.StringIO(text.strip()))
    header = [name.strip() for name in reader.fieldnames or []]
    missing = [name for name in COLUMNS[CampaignKind(kind)] if name not in header]
    if missing:
        raise GoldError(
            f"Line 1: the column {missing[0]} is missing; expected"
            f" {', '.join(COLUMNS[CampaignKind(kind)])}."
        )
    by_name = {criterion.name.lower(): criterion for criterion in criteria}
    outputs = _outputs(project)
    found: dict[tuple[int, ...], _Gold] = {}
    errors = []
    for line, raw in enumerate(reader, start=2):
        row = {str(name).strip(): (value or "").strip() for name, value in raw.items() if name}
        try:
            _take(row, kind, by_name, outputs, found)
        except GoldError as error:
            errors.append(f"Line {line}: {error}")
    if errors:
        raise GoldError(
            " ".join(errors[:10]) + (f" … and {len(errors) - 10} more." if len(errors) > 10 else "")
        )
    return [
        {"document": gold.document, "outputs": gold.outputs, "expected": gold.expected}
        for gold in found.values()
    ]


def _outputs(project: Project) -> dict[tuple[str, str], tuple[int, int]]:
    rows = CandidateOutput.objects.of_project(project).values_list(
        "document__doc_id", "system__name", "pk", "document_id"
    )
    return {(doc_id, system): (pk, document) for doc_id, system, pk, document in rows}


def _take(
    row: dict[str, str],
    kind: str,
    criteria: dict[str, Criterion],
    outputs: dict[tuple[str, str], tuple[int, int]],
    found: dict[tuple[int, ...], _Gold],
) -> None:
    systems = ("system_id",) if kind == CampaignKind.RATING else ("system_a", "system_b")
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
    if criterion is None and (criteria or kind == CampaignKind.RATING):
        known = ", ".join(criteria)
        raise GoldError(
            f"{row.get('criterion') or 'no criterion'} is not a criterion of the campaign"
            f" ({known})."
        )
    gold = found.setdefault(tuple(pks), _Gold(document, pks))
    if kind == CampaignKind.RATING:
        assert criterion is not None
        gold.expected.setdefault("scores", {})[str(criterion.pk)] = _point(row["score"], criterion)
    else:
        winners = {"a": pks[0], "b": pks[1], "tie": 0}
        if row["winner"].lower() not in winners:
            raise GoldError(f"the winner must be a, b or tie, not {row['winner'][:40]!r}.")
        about = str(criterion.pk) if criterion else "0"
        gold.expected.setdefault("winners", {})[about] = winners[row["winner"].lower()]


def _point(written: str, criterion: Criterion) -> float:
    try:
        point = criterion.scale.point_at(float(written))
    except ValueError:
        point = None
    if point is None:
        raise GoldError(
            f"score {written[:40]!r} is not on {criterion.name}'s scale {criterion.scale}."
        )
    return point
