"""A project's report: its rows are read here, with people's and judges' comparisons of outputs for
its leaderboards, and `geval/reports/report.py` computes it.
"""

import itertools
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import Histogram

from annotations.models import Assignment, AssignmentState, ItemKind, Preference
from evaluations.models import Criterion, Judge, PairScore, Project, Study
from evaluations.models.newest_scores import newest_scores
from evaluations.reports.data import load_data, only_round, usual_options
from evaluations.reports.searched import Searches, searches_behind
from geval.files.answers.pairs import preference_pairs
from geval.reports.data import ReportData
from geval.reports.leaderboard import OVERALL, ComparedSystems, Leaderboard, leaderboard, with_seen
from geval.reports.options import ReportOptions
from geval.reports.pairwise import PairVerdict
from geval.reports.report import CriterionResult, Records, Report, report_of
from geval.reports.report import criterion_result as result_of
from geval.reports.verdicts.steps import OnStep, unseen
from geval.statistics.sensitivity import Finding
from geval_site.extensions import added
from geval_site.sql import fetch_rows


@dataclass(frozen=True)
class ShownFinding:
    """A finding with its title; `is_share` if its value is a share or a ratio rather than
    points."""

    title: str
    found: Finding
    is_share: bool


@dataclass(frozen=True)
class Sensitivity:
    """A judge's sensitivities on a criterion, from a finished study; `sample` describes the outputs
    that its comparison with people covers, if not all."""

    study: Study
    findings: tuple[ShownFinding, ...]
    outputs: int = 0
    sample: tuple[str, ...] = ()

    @property
    def says_anything(self) -> bool:
        """Whether there was enough data to test."""
        return any(finding.found.p is not None for finding in self.findings)

    @property
    def wrong(self) -> tuple[ShownFinding, ...]:
        """The findings that show a problem."""
        return tuple(finding for finding in self.findings if finding.found.is_found)


_NEWEST_VERDICTS = newest_scores(
    "r.project_id = %s AND s.criterion_id IS NOT DISTINCT FROM %s::bigint",
    table="evaluations_pairscore",
)
_VERDICTS = f"""
    SELECT n.judge_id, a.document_id, a.system_id, b.system_id, n.value, n.tie, n.left
    FROM ({_NEWEST_VERDICTS}) AS n JOIN evaluations_candidateoutput a ON a.id = n.output_id
    JOIN evaluations_candidateoutput b ON b.id = n.rival_id
    ORDER BY n.run_id, n.output_id, n.rival_id"""
report_seconds = Histogram(
    "geval_report_seconds",
    "Time to compute a report, or to find that nothing has changed.",
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)


@report_seconds.time()
def build_report(
    project: Project,
    *,
    judges: Collection[Judge] | None = None,
    criteria: Collection[Criterion] | None = None,
    options: ReportOptions | None = None,
    data: ReportData | None = None,
    probed: Sequence[Sensitivity] | None = None,
    on_step: OnStep = unseen,
) -> Report:
    """Return the report of a project, on some or all of its judges and criteria.

    Args:
        data: the data that `options` select; read from the database if None.
        probed: findings of probes of its judges; computed if None.
        on_step: called as each step begins.
    """
    options = options or usual_options(project)
    chosen_criteria = _chosen(
        project.criteria.all() if criteria is None else criteria, options.criteria
    )
    chosen_judges = _chosen(project.judges.all() if judges is None else judges, options.judges)
    if data is None:
        data = selected_data(project, chosen_judges, chosen_criteria, options)
    searches = searches_behind(project)
    return report_of(
        (project.slug, project.name),
        data,
        chosen_criteria,
        chosen_judges,
        options,
        _records(project, searches, probed),
        boards=_boards(project, data, chosen_judges, chosen_criteria, options, searches),
        on_step=on_step,
    )


def criterion_result(
    project: Project,
    criterion: Criterion,
    *,
    options: ReportOptions,
    data: ReportData,
    probed: Sequence[Sensitivity] | None = None,
) -> CriterionResult:
    """Return a report's part on one criterion, without significance letters, which cover all
    criteria.

    Args:
        data: the data that `options` select.
        probed: findings of probes of its judges; computed if None.
    """
    judges = _chosen(project.judges.all(), options.judges)
    records = _records(project, searches_behind(project), probed)
    return result_of(criterion, judges, data, options, records)


def selected_data(
    project: Project,
    judges: Collection[Judge],
    criteria: Collection[Criterion],
    options: ReportOptions,
) -> ReportData:
    """Return the data for a report: without locked ratings, and as the view selects it."""
    data = load_data(project, list(judges), list(criteria), with_labels=True)
    return only_round(data, project, options.round).selected(options)


def _chosen(records: Collection[Any], ids: tuple[int, ...]) -> list[Any]:
    return [record for record in records if not ids or record.pk in ids]


def _records(project: Project, searches: Searches, probed: Sequence[Sensitivity] | None) -> Records:
    compared = project.judges.with_scores().count()
    (instructed,) = added("instructed")
    return Records(compared, searches.seen, instructed(project, probed))


def _boards(
    project: Project,
    data: ReportData,
    judges: Collection[Judge],
    criteria: Collection[Criterion],
    options: ReportOptions,
    searches: Searches,
) -> tuple[tuple[str, Leaderboard], ...]:
    """Return the results of comparisons by criterion. For all criteria together, a search counts as
    having seen what it saw on any of them."""
    boards = leaderboards(
        project, data, [*judges], [*criteria],
        annotators=options.annotators, round_id=options.round,
    )  # fmt: skip
    ids = {criterion.name: [criterion.pk] for criterion in criteria}
    every = [criterion.pk for criterion in criteria]
    return tuple(
        (
            name,
            with_seen(
                board,
                {label for pk in ids.get(name, every) for label in searches.made_among(judges, pk)},
            ),
        )
        for name, board in boards
    )


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
    for judge, *verdict in fetch_rows(_VERDICTS, [project.pk, criterion_id]):
        of_pair = PairVerdict(*verdict)
        if of_pair.first in systems and of_pair.second in systems:
            by_judge[judge].append(of_pair)
    return by_judge
