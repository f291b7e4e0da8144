"""Comparisons of outputs by people and by judges, read for leaderboards."""

import itertools
from collections import defaultdict
from collections.abc import Collection, Sequence

from django.db import connection

from annotations.models import Assignment, AssignmentState, ItemKind, Preference
from evaluations.models import Criterion, Judge, PairScore, Project
from evaluations.models.newest_scores import newest_scores
from geval.files.answers.pairs import preference_pairs
from geval.reports.data import ReportData
from geval.reports.leaderboard import OVERALL, ComparedSystems, Leaderboard, leaderboard
from geval.reports.pairwise import PairVerdict

_NEWEST = newest_scores(
    "r.project_id = %s AND s.criterion_id IS NOT DISTINCT FROM %s::bigint",
    table="evaluations_pairscore",
)
_VERDICTS = f"""
    SELECT n.judge_id, a.document_id, a.system_id, b.system_id, n.value, n.tie, n.left
    FROM ({_NEWEST}) AS n JOIN evaluations_candidateoutput a ON a.id = n.output_id
    JOIN evaluations_candidateoutput b ON b.id = n.rival_id
    ORDER BY n.run_id, n.output_id, n.rival_id"""


def leaderboards(
    project: Project,
    data: ReportData,
    judges: Sequence[Judge],
    criteria: Sequence[Criterion],
    annotators: Collection[int] = (),
    round_id: int = 0,
) -> tuple[tuple[str, Leaderboard], ...]:
    """Return a leaderboard for each criterion, and overall, on which people or judges compared
    outputs.

    Args:
        annotators: ids of the annotators whose comparisons count; empty means all.
        round_id: the only campaign whose comparisons by people count; 0: each person's newest
            comparison of a pair.
    """
    names = {criterion.pk: criterion.name for criterion in criteria}
    compared = (
        project.annotators.filter(preferences__isnull=False)
        .values_list("preferences__criterion", flat=True)
        .distinct()
        .order_by()
    )
    by_judges = (
        PairScore.objects.filter(run__project=project)
        .values_list("criterion", flat=True)
        .distinct()
        .order_by()
    )
    return tuple(
        (
            names.get(pk, OVERALL),
            leaderboard(
                data,
                judges,
                pk,
                compared_by_people(project, data, pk, annotators, round_id),
                _verdicts_of(project, pk, frozenset(data.system_ids.tolist())),
            ),
        )
        for pk in sorted({*compared, *by_judges}, key=lambda pk: pk or 0)
        if pk is None or pk in names
    )


def compared_by_people(
    project: Project,
    data: ReportData,
    criterion_id: int | None,
    annotators: Collection[int],
    round_id: int,
) -> list[ComparedSystems]:
    """Return people's comparisons within the report's part of the project."""
    if round_id:
        return _compared_in_round(data, criterion_id, annotators, round_id)
    rows = Preference.objects.filter(annotator__project=project, criterion=criterion_id)
    if annotators:
        rows = rows.filter(annotator__in=annotators)
    documents, systems = set(data.document_ids.tolist()), set(data.system_ids.tolist())
    columns = (
        "output_a__document",
        "output_a__system",
        "output_b__system",
        "value",
        "a_was_left",
        "annotator",
    )
    return [
        row
        for row in itertools.starmap(ComparedSystems, rows.values_list(*columns))
        if row.document in documents and row.first in systems and row.second in systems
    ]


def _compared_in_round(
    data: ReportData, criterion_id: int | None, annotators: Collection[int], round_id: int
) -> list[ComparedSystems]:
    """Return people's comparisons in one campaign, even if newer ones of theirs count elsewhere."""
    places = zip(
        data.document_ids[data.outputs.document].tolist(),
        data.system_ids[data.outputs.system].tolist(),
        strict=True,
    )
    place_of = dict(zip(data.output_ids.tolist(), places, strict=True))
    answers = Assignment.objects.filter(
        campaign=round_id, item__kind=ItemKind.ORDINARY, state=AssignmentState.SUBMITTED
    )
    if annotators:
        answers = answers.filter(annotator__in=annotators)
    rows = []
    for answer, shown, annotator in answers.order_by("pk").values_list(
        "answer", "shown", "annotator"
    ):
        for pair in preference_pairs(answer or {}, shown):
            if (pair.criterion or None) != criterion_id or not (
                pair.output_a in place_of and pair.output_b in place_of
            ):
                continue
            document, first = place_of[pair.output_a]
            second = place_of[pair.output_b][1]
            rows.append(
                ComparedSystems(document, first, second, pair.value, pair.a_was_left, annotator)
            )
    return rows


def _verdicts_of(
    project: Project, criterion_id: int | None, systems: Collection[int]
) -> dict[int, list[PairVerdict]]:
    """Return judges' verdicts on a criterion (None: overall), by judge id.

    Args:
        systems: ids of the systems to include.
    """
    by_judge: dict[int, list[PairVerdict]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_VERDICTS, [project.pk, criterion_id])
        for judge, *verdict in cursor.fetchall():
            of_pair = PairVerdict(*verdict)
            if of_pair.first in systems and of_pair.second in systems:
                by_judge[judge].append(of_pair)
    return by_judge
