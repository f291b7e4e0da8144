"""The human and judge scores of a project as arrays, kept up to date incrementally."""

import itertools
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.db.models.fields.json import KT

from annotations.models import Campaign, CampaignState
from evaluations.models import Criterion, EvaluationRun, Judge, LockedDocuments, Project
from evaluations.models.changes import Key, state_of
from evaluations.models.corpus import System
from evaluations.models.newest_scores import newest_scores
from evaluations.models.query_arrays import (
    fetch_groups,
    fetch_numbers,
    id_list,
    ids_of_key,
    two_ids,
)
from evaluations.reports.ratings.human_scores import human_scores, with_weights
from geval.reports.data import DocumentName, ReportData, in_order
from geval.reports.human_scores import human_scores_of
from geval.reports.options import NO_ROUNDS, NO_SESSIONS, ReportOptions, read_options
from geval.reports.rubric_totals import fill_totals_of_judge, fill_totals_of_people
from geval.statistics.arrays import Outputs, positions
from geval.statistics.bias import Family
from geval.statistics.correlation import Level
from geval.statistics.locked_rule import GROUP
from geval.statistics.rubrics import Rubric, RubricItem, with_items
from geval.statistics.types import FloatArray, tie_close_values
from geval.texts.numbers import whole_number
from geval_site.sql import fetch_row, fetch_value

# Judges' scores are read in chunks of about this many.
MOST_SCORES = 4_000_000
# PostgreSQL's ids begin at 1.
EVERY_CRITERION = 0


def load_data(
    project: Project,
    judges: Sequence[Judge],
    criteria: Sequence[Criterion],
    *,
    with_withheld: bool = False,
    with_labels: bool = False,
) -> ReportData:
    """Load everything from the database, in a handful of queries whatever the size of the project.

    Args:
        with_withheld: include locked documents whose ratings are withheld; only for searches and
            looks, which do not show them.
        with_labels: include criteria of labels without an order, whose numbers only stand for
            names; only for reports, which know them.
    """
    data = _frame(project)
    fill_humans(data, project, [criterion.pk for criterion in criteria])
    fill_judges(data, [judge.pk for judge in judges], [criterion.pk for criterion in criteria])
    if not with_labels:
        data = without_labels(data, criteria)
    return data if with_withheld else without_withheld(data, project)


def without_labels(data: ReportData, criteria: Iterable[Criterion]) -> ReportData:
    """Return data in which nobody rated criteria whose points have no order: statistics of numbers
    would take labels for numbers."""
    unordered = {each.pk for each in criteria if not each.is_ordered} & data.humans.keys()
    if not unordered:
        return data
    none = np.zeros(0, dtype=np.int64)
    nothing = human_scores_of(none, none, np.zeros(0), outputs=len(data.outputs), raters=())
    humans = {pk: nothing if pk in unordered else human for pk, human in data.humans.items()}
    judges = {key: scores for key, scores in data.judges.items() if key[0] not in unordered}
    return replace(data, humans=humans, judges=judges)


def without_withheld(data: ReportData, project: Project) -> ReportData:
    """Return a report's data without the documents whose ratings are withheld."""
    lock = LockedDocuments.objects.withheld_in(project.pk)
    if lock is None:
        return data
    hidden = data.locked_units(lock.among)[data.unit_of]
    return data.without(hidden) if hidden.any() else data


def _frame(project: Project) -> ReportData:
    names = project.documents.order_by("pk").values_list(
        "pk", "doc_id", "session", KT(f"metadata__{GROUP}")
    )
    named = [DocumentName(pk, name, session, group or "") for pk, name, session, group in names]
    documents = in_order(named)
    systems = list(
        System.objects.filter(project=project)
        .order_by("pk")
        .values_list("pk", "name", "kind", "family")
    )
    document_ids = np.array([document.pk for document in documents], dtype=np.int64)
    system_ids = np.array([pk for pk, _, _, _ in systems], dtype=np.int64)
    # Words are counted in the database, where the texts are.
    rows = fetch_numbers(
        ["o.id", "o.document_id", "o.system_id", "evaluations_word_count(o.text)"],
        f"""FROM evaluations_candidateoutput o JOIN evaluations_document d ON d.id = o.document_id
            WHERE d.project_id = {int(project.pk)}""",
    )
    indexes = positions(rows[:, 1], document_ids)
    rows = rows[np.lexsort((rows[:, 2], indexes))]
    return ReportData(
        document_ids=document_ids,
        system_ids=system_ids,
        doc_ids=tuple(document.name for document in documents),
        sessions=tuple(document.session for document in documents),
        groups=tuple(document.group for document in documents),
        are_groups_given=any(document.group for document in named),
        system_names=tuple(name for _, name, _, _ in systems),
        system_kinds=tuple(kind for _, _, kind, _ in systems),
        system_families=tuple(Family.of(family, name) for _, name, _, family in systems),
        outputs=Outputs(
            positions(rows[:, 1], document_ids),
            positions(rows[:, 2], system_ids),
            len(documents),
            len(systems),
        ),
        output_ids=rows[:, 0].astype(np.int64),
        words=rows[:, 3].copy(),
        rubrics=_rubrics_of(project),
    )


def _rubrics_of(project: Project) -> tuple[Rubric, ...]:
    """Return the criteria that have items."""
    items: dict[Criterion, list[RubricItem]] = {}
    for item in project.criteria.exclude(rubric=None).select_related("rubric").order_by("pk"):
        if item.rubric is not None:
            items.setdefault(item.rubric, []).append(RubricItem(item.pk, item.scale, item.weight))
    return tuple(Rubric(rubric.pk, rubric.scale, tuple(of)) for rubric, of in items.items())


def _to_be_read(data: ReportData, criterion_ids: Collection[int]) -> list[int]:
    """Return criteria with the rubrics whose items they are, of those that the data has, and with
    all items of rubrics."""
    having = (
        rubric.pk
        for rubric in data.rubrics
        if rubric.pk in data.humans and any(item.pk in criterion_ids for item in rubric.items)
    )
    return with_items(data.rubrics, [*dict.fromkeys([*criterion_ids, *having])])


def fill_humans(data: ReportData, project: Project, criterion_ids: list[int]) -> None:
    """Read people's ratings on some criteria again, and the totals of rubrics that depend on
    them."""
    read = _to_be_read(data, criterion_ids)
    humans = human_scores(project.pk, read, outputs=data.output_ids)
    data.humans |= with_weights(project.pk, humans, outputs=data.output_ids)
    _fill_totals_of_people(data, read)


def _fill_totals_of_people(data: ReportData, criterion_ids: Collection[int]) -> None:
    for rubric in data.rubrics:
        if rubric.pk in criterion_ids:
            fill_totals_of_people(data, rubric)


def fill_judges(
    data: ReportData,
    judge_ids: list[int],
    criterion_ids: list[int],
    *,
    run: EvaluationRun | None = None,
) -> None:
    """Read some judges' scores on some criteria again, and the totals of rubrics that depend on
    them; a score without a criterion counts for every criterion, and for a rubric where the judge
    scored none of its items.

    Args:
        run: use only the scores of this run, instead of each judge's newest.
    """
    criterion_ids = _to_be_read(data, criterion_ids)
    at_once = max(1, MOST_SCORES // max(1, len(data.outputs) * len(criterion_ids)))
    for start in range(0, len(judge_ids), at_once):
        part = judge_ids[start : start + at_once]
        given = _scores_of(part, criterion_ids, run)
        for judge_id, criterion_id in itertools.product(part, criterion_ids):
            data.judges.pop((criterion_id, judge_id), None)
            data.not_applicable.pop((criterion_id, judge_id), None)
            scores = np.full(len(data.outputs), np.nan)
            said = np.zeros(len(data.outputs), dtype=bool)
            # Scores for every criterion come first, so that scores on a specific criterion replace
            # them.
            for about in (EVERY_CRITERION, criterion_id):
                output_ids, values = given.get((judge_id, about), ((), ()))
                at_output = positions(np.asarray(output_ids, dtype=float), data.output_ids)
                of_data = at_output >= 0
                scores[at_output[of_data]] = np.asarray(values)[of_data]
                said[at_output[of_data]] = np.isnan(scores[at_output[of_data]])
            if said.any():
                data.not_applicable[criterion_id, judge_id] = said
            if not np.isnan(scores).all():
                data.judges[criterion_id, judge_id] = tie_close_values(scores)
        for rubric, judge_id in itertools.product(data.rubrics, part):
            is_read = rubric.pk in criterion_ids
            if is_read and any((judge_id, item.pk) in given for item in rubric.items):
                fill_totals_of_judge(data, rubric, judge_id)


def _scores_of(
    judge_ids: list[int], criterion_ids: list[int], run: EvaluationRun | None
) -> dict[tuple[int, int], list[FloatArray]]:
    """Return outputs and values of scores by judge and criterion."""
    about = f"(s.criterion_id IS NULL OR s.criterion_id IN ({id_list(criterion_ids)}))"
    counting = EvaluationRun.objects.counting().filter(judge__in=judge_ids)
    if run is not None:
        counting = counting.filter(pk=run.pk)
    runs_of_judges: dict[int, list[int]] = {}
    for run_id, judge_id in counting.order_by().values_list("pk", "judge"):
        runs_of_judges.setdefault(judge_id, []).append(run_id)
    once = {runs[0]: judge_id for judge_id, runs in runs_of_judges.items() if len(runs) == 1}
    several = [judge_id for judge_id, runs in runs_of_judges.items() if len(runs) > 1]
    scores: dict[tuple[int, int], list[FloatArray]] = {}
    if once:
        # Sorting millions of scores would take most of the time, and is not needed for judges that
        # ran once. Their runs are named, so that the planner knows how many scores they have.
        of_runs = f"evaluations_score s WHERE s.run_id IN ({id_list([*once])}) AND {about}"
        groups = _group_scores("s.run_id", of_runs)
        scores |= {(once[run_id], of): columns for (run_id, of), columns in groups.items()}
    if several:
        newest = newest_scores(f"r.judge_id IN ({id_list(several)}) AND {about}")
        scores |= _group_scores("s.judge_id", f"({newest}) AS s")
    return scores


def _group_scores(key: str, scores: str) -> dict[tuple[int, int], list[FloatArray]]:
    """Group outputs and values of scores by an id and by their criterion's."""
    groups = fetch_groups(
        two_ids(key, f"coalesce(s.criterion_id, {EVERY_CRITERION})"),
        # Where a judge answered "n/a", it has no score, not even an older one.
        ["s.output_id", "coalesce(s.value, 'NaN')"],
        f"FROM {scores}",
    )
    return {ids_of_key(key_pair): columns for key_pair, columns in groups.items()}


def only_round(data: ReportData, project: Project, round_id: int) -> ReportData:
    """Return the data with people's ratings of one campaign only; unchanged for 0."""
    if not round_id:
        return data
    outputs = data.output_ids
    humans = human_scores(project.pk, [*data.humans], outputs=outputs, round_id=round_id)
    weighted = with_weights(project.pk, humans, outputs=outputs, round_id=round_id)
    part = replace(data, humans=weighted)
    _fill_totals_of_people(part, weighted.keys())
    return part


def rounds_of(project_id: int) -> dict[int, str]:
    """Return the names of campaigns with answers, by id, oldest first; empty if there is only
    one."""
    campaigns = Campaign.objects.filter(project_id=project_id).exclude(state=CampaignState.DRAFT)
    rounds = dict(campaigns.order_by("pk").values_list("pk", "name"))
    return rounds if len(rounds) > 1 else {}


# The judges and the criterion of pages about one or two judges.
SINGLE = {"judge": "judges", "first": "judges", "second": "judges", "criterion": "criteria"}


# Pairs of outputs, so that the search ends at the first one: every view asks.
_HAS_SEVERAL = """
    SELECT EXISTS (
        SELECT 1 FROM evaluations_document d
        JOIN evaluations_candidateoutput o ON o.document_id = d.id
        JOIN evaluations_candidateoutput p ON p.document_id = d.id AND p.id > o.id
        WHERE d.project_id = %(project)s)
        OR EXISTS (
        SELECT 1 FROM evaluations_document d
        JOIN evaluations_document e
            ON e.project_id = d.project_id AND e.session = d.session AND e.id > d.id
        JOIN evaluations_candidateoutput o ON o.document_id = d.id
        JOIN evaluations_candidateoutput p ON p.document_id = e.id
        WHERE d.project_id = %(project)s AND d.session <> '')
        OR NOT EXISTS (
        SELECT 1 FROM evaluations_document d
        JOIN evaluations_candidateoutput o ON o.document_id = d.id
        WHERE d.project_id = %(project)s)"""


def usual_options(project: Project) -> ReportOptions:
    """Return the view that a project's report has by itself: at summary level, or where documents
    and sessions have one output each, which nothing ranks, at dataset level; as in the library."""
    level: Level = "summary" if fetch_value(_HAS_SEVERAL, {"project": project.pk}) else "dataset"
    return ReportOptions(level, usual_level=level)


def options_of(query: Mapping[str, Any], project: Project) -> tuple[ReportOptions, list[str]]:
    """Return the view of a project's report that a query asks for, and its errors."""
    rounds = rounds_of(project.pk) if query.get("round") else NO_ROUNDS
    ids = ids_of(project.pk)
    level = usual_options(project).level
    options, errors = read_options(query, known=ids, rounds=rounds, usual_level=level)
    for name, kind in SINGLE.items():
        asked = str(query.get(name) or "0")
        if asked != "0" and whole_number(asked, default=-1) not in ids[kind]:
            errors.append(f"There is no {name} {asked[:40]!r} here.")
    if options.level == "session" and not project.documents.exclude(session="").exists():
        errors.append(NO_SESSIONS)
    return options, errors


def ids_of(project_id: int) -> dict[str, list[int]]:
    """Return the ids of a project's annotators, systems, judges and criteria, in one query."""
    tables = {
        "annotators": "annotations_annotator",
        **{f"{n}s": f"evaluations_{n}" for n in ("system", "judge")},
    }
    tables["criteria"] = "evaluations_criterion"
    arrays = (
        f"ARRAY(SELECT id FROM {table} WHERE project_id = %s ORDER BY id)"
        for table in tables.values()
    )
    row = fetch_row(f"SELECT {', '.join(arrays)}", [project_id] * len(tables))
    return dict(zip(tables, row, strict=True))


class LiveData:
    """A project's data, read once and then only where something has changed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.state: dict[Key, tuple[int, int]] | None = None
        self.data: ReportData | None = None
        self.frame: dict[str, list[int]] = {}
        # A second thread waits for the first one's reading rather than reading as well.
        self.lock = threading.Lock()

    def current(self) -> ReportData:
        """Return the current data, without what is withheld."""
        state = state_of(self.project.pk)
        # The shape of the tables depends on these ids; when they change, everything is read again.
        frame = ids_of(self.project.pk)
        changed = [key for key in state if self.state is None or self.state.get(key) != state[key]]
        if (
            self.data is None
            or self.frame != frame
            or (None, None) in changed
            or self.data.rubrics != _rubrics_of(self.project)
        ):
            self.data = load_data(
                self.project,
                list(self.project.judges.all()),
                list(self.project.criteria.all()),
                with_withheld=True,
                with_labels=True,
            )
        else:
            for judge, criterion in changed:
                criteria = [criterion] if criterion else frame["criteria"]
                if judge is None:
                    fill_humans(self.data, self.project, criteria)
                else:
                    fill_judges(self.data, [judge], criteria)
        self.state, self.frame = state, frame
        # Copy the dictionaries: another request may update them while this one reads.
        copy = replace(
            self.data,
            humans=dict(self.data.humans),
            judges=dict(self.data.judges),
            not_applicable=dict(self.data.not_applicable),
        )
        return without_withheld(copy, self.project)
