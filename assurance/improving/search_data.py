"""What a search for a better judge reads from a project: ratings and scores as arrays, and texts on
which a judge and people differ, with annotators' comments.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from annotations.models import Assignment
from annotations.models.assignments import AssignmentState
from evaluations.models import CandidateOutput, Criterion, Judge, LockedDocuments, Project
from evaluations.reports.data import load_data
from geval.improving.ground import Ground, ground_in
from geval.llm.reflection import LONGEST_TEXT, Case
from geval.statistics.types import FloatArray, IntArray

# Kinds fitted to ratings of any document, which may have seen the locked ones.
FITTED_KINDS = ("formula", "ensemble")
# Limits for the reflecting model: number of outputs, and approximate number of characters.
MOST_CASES, MOST_CHARACTERS = 60, 60_000


def ground_of(
    project: Project, judge: Judge, criterion: Criterion, locked: LockedDocuments
) -> Ground:
    """Return the data for improving a judge on a criterion.

    Raises:
        ImproveError: the judge has no scores on it, or nobody has rated it.
    """
    newest = {each.name: each for each in project.judges.order_by("version", "pk")}
    judges = list({each.pk: each for each in (*newest.values(), judge)}.values())
    criteria = list(project.criteria.all())
    return ground_in(
        load_data(project, judges, criteria, with_withheld=True, with_labels=True),
        list(newest.values()),
        judge,
        criteria,
        criterion,
        locked.among,
        fitted={each.pk for each in judges if each.kind in FITTED_KINDS},
    )


def outputs_at(ground: Ground, places: IntArray) -> list[CandidateOutput]:
    """Return the outputs at some positions, with their documents, in the same order."""
    ids = [int(pk) for pk in ground.output_ids[places]]
    by_pk = CandidateOutput.objects.select_related("document").in_bulk(ids)
    return [by_pk[pk] for pk in ids]


def cases_of(ground: Ground, documents: Sequence[int], scores: FloatArray) -> list[Case]:
    """Return outputs of some documents on which judge and people differ most, grouped by document,
    largest difference first.

    Args:
        documents: positions of training documents.
        scores: scores of all outputs, NaN if missing; shape (outputs,).
    """
    is_wanted = np.isin(ground.outputs.document, np.array(documents)) & ~np.isnan(ground.human)
    places = np.flatnonzero(is_wanted)
    scale = ground.criterion.scale
    if scale.is_ordered:
        gaps = _centre_by_document(ground, ground.human, places) - _centre_by_document(
            ground, scores, places
        )
    else:
        gaps = np.where(np.isnan(scores), np.nan, scores != ground.human)[places]
    names = {} if scale.is_ordered else {point: name for name, point in scale.labels.items()}

    def written(value: float) -> str:
        return names.get(value) or f"{value:.2f}"

    order = places[np.argsort(-np.abs(np.nan_to_num(gaps, nan=9.0)), kind="stable")][:MOST_CASES]
    order = _as_fits(order, outputs_at(ground, order))
    order = order[np.argsort(ground.outputs.document[order], kind="stable")]
    outputs = outputs_at(ground, order)
    comments = _comments_on([output.pk for output in outputs])
    return [
        Case(
            source=output.document.source,
            output=output.text,
            people=written(float(ground.human[index])),
            judge=None if np.isnan(scores[index]) else written(float(scores[index])),
            comments=tuple(comments[output.pk]),
        )
        for index, output in zip(order, outputs, strict=True)
    ]


def _as_fits(order: np.ndarray, outputs: Sequence[CandidateOutput]) -> np.ndarray:
    """Return as many outputs as fit into a prompt; each document's source is shown once."""
    seen, total = set[int](), 0
    for count, output in enumerate(outputs):
        total += min(len(output.text), LONGEST_TEXT)
        if output.document_id not in seen:
            total += min(len(output.document.source), LONGEST_TEXT)
        seen.add(output.document_id)
        if total > MOST_CHARACTERS and count:
            return order[:count]
    return order


def _centre_by_document(ground: Ground, values: FloatArray, places: np.ndarray) -> FloatArray:
    """Centre values by document, in standard deviations over all."""
    document, own = ground.outputs.document[places], values[places]
    centred = own.copy()
    for unit in np.unique(document):
        in_unit = document == unit
        defined = own[in_unit][~np.isnan(own[in_unit])]
        centred[in_unit] -= defined.mean() if len(defined) else 0.0
    spread = np.nanstd(centred) if not np.isnan(centred).all() else 0.0
    return np.asarray(centred / (spread or 1.0))


def _comments_on(output_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return annotators' comments on items that show a single one of these outputs."""
    comments: dict[int, list[str]] = defaultdict(list)
    rows = Assignment.objects.filter(
        state=AssignmentState.SUBMITTED, shown__in=[[pk] for pk in output_ids]
    ).order_by("pk")
    for shown, answer in rows.values_list("shown", "answer"):
        if comment := str((answer or {}).get("comment", "")).strip():
            comments[shown[0]].append(comment)
    return comments
