"""The human and judge scores of a project as tables, kept up to date by what has changed."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from django.db import connection, models

from annotations.results.human_scores import HumanScores, human_scores
from evaluations.changes import Key, state_of
from evaluations.llm.injection import PATTERN
from evaluations.models import Criterion, EvaluationRun, Judge, Project
from evaluations.models.corpus import CandidateOutput, System
from evaluations.models.newest_scores import newest_scores
from evaluations.query_arrays import fetch_numbers, id_list, positions
from evaluations.reports.options import ReportOptions
from evaluations.statistics.pairing import FloatArray, IntArray, mean_over_raters, table


@dataclass
class ReportData:
    """All that the statistics need of a project.

    `document_ids` and `system_ids` rise; tables have shape (documents, systems), NaN for missing.
    `words` counts the words of each output, NaN where there is none. `addressed` are the outputs,
    as (doc_id, system), that seem to address the judge (possible prompt injection). `judges` maps
    (criterion id, judge id) to scores.
    """

    document_ids: IntArray
    system_ids: IntArray
    doc_ids: tuple[str, ...]
    system_names: tuple[str, ...]
    system_kinds: tuple[str, ...]
    words: FloatArray
    addressed: tuple[tuple[str, str], ...] = ()
    humans: dict[int, HumanScores] = field(default_factory=dict)
    judges: dict[tuple[int, int], FloatArray] = field(default_factory=dict)

    @property
    def outputs(self) -> int:
        return int((~np.isnan(self.words)).sum())

    def kinds(self, kind: str) -> np.ndarray:
        """Shape (systems,), which systems are of a kind."""
        return np.array([one == kind for one in self.system_kinds], dtype=bool)

    def selected(self, options: ReportOptions) -> "ReportData":
        """The part of it that options ask for; annotators left out do not count in means."""
        if not options.is_filtered:
            return self
        rows = [
            index
            for index, name in enumerate(self.doc_ids)
            if options.documents.lower() in name.lower()
        ]
        wanted = set(options.systems)
        columns = [
            index for index, pk in enumerate(self.system_ids.tolist()) if not wanted or pk in wanted
        ]
        part = np.ix_(rows, columns)
        humans = {pk: _part_of(human, options, rows, columns) for pk, human in self.humans.items()}
        return replace(
            self,
            document_ids=self.document_ids[rows],
            system_ids=self.system_ids[columns],
            doc_ids=tuple(self.doc_ids[row] for row in rows),
            system_names=tuple(self.system_names[column] for column in columns),
            system_kinds=tuple(self.system_kinds[column] for column in columns),
            words=self.words[part],
            humans=humans,
            judges={key: scores[part] for key, scores in self.judges.items()},
        )


def _part_of(
    human: HumanScores, options: ReportOptions, rows: list[int], columns: list[int]
) -> HumanScores:
    wanted = set(options.annotators)
    raters = [index for index, pk in enumerate(human.annotator_ids) if not wanted or pk in wanted]
    ratings = human.ratings[np.ix_(raters, rows, columns)]
    part = human.mean[np.ix_(rows, columns)] if not wanted else mean_over_raters(ratings)
    active = [index for index in range(len(raters)) if not np.isnan(ratings[index]).all()]
    return HumanScores(
        annotators=tuple(human.annotators[raters[index]] for index in active),
        ratings=ratings[active],
        mean=part,
        in_sight=human.in_sight,
        annotator_ids=tuple(human.annotator_ids[raters[index]] for index in active),
    )


def load_data(
    project: Project, judges: Sequence[Judge], criteria: Sequence[Criterion]
) -> ReportData:
    """Everything from the database, in a handful of queries whatever the size of the project."""
    data = _frame(project)
    fill_humans(data, project, [criterion.pk for criterion in criteria])
    fill_judges(data, [judge.pk for judge in judges], [criterion.pk for criterion in criteria])
    return data


def _frame(project: Project) -> ReportData:
    documents = list(project.documents.order_by("pk").values_list("pk", "doc_id"))
    systems = list(
        System.objects.filter(project=project).order_by("pk").values_list("pk", "name", "kind")
    )
    document_ids = np.array([pk for pk, _ in documents], dtype=np.int64)
    system_ids = np.array([pk for pk, _, _ in systems], dtype=np.int64)
    # Counted where the texts are.
    rows = fetch_numbers(
        ["o.document_id", "o.system_id", "evaluations_word_count(o.text)"],
        f"""FROM evaluations_candidateoutput o JOIN evaluations_document d ON d.id = o.document_id
            WHERE d.project_id = {int(project.pk)}""",
    )
    shape = (len(documents), len(systems))
    outputs = (
        CandidateOutput.objects.of_project(project)
        .filter(text__iregex=PATTERN)
        .order_by("document", "system")
    )
    return ReportData(
        document_ids=document_ids,
        system_ids=system_ids,
        doc_ids=tuple(name for _, name in documents),
        system_names=tuple(name for _, name, _ in systems),
        system_kinds=tuple(kind for _, _, kind in systems),
        words=table(
            positions(rows[:, 0], document_ids),
            positions(rows[:, 1], system_ids),
            rows[:, 2],
            shape=shape,
        ),
        addressed=tuple(outputs.values_list("document__doc_id", "system__name")),
    )


def fill_humans(data: ReportData, project: Project, criterion_ids: list[int]) -> None:
    """Read people's ratings on some criteria again."""
    data.humans |= human_scores(
        project.pk, criterion_ids, documents=data.document_ids, systems=data.system_ids
    )


def fill_judges(
    data: ReportData,
    judge_ids: list[int],
    criterion_ids: list[int],
    *,
    run: EvaluationRun | None = None,
) -> None:
    """Read some judges' scores on some criteria again; a score without a criterion counts for every
    one.

    Args:
        run: take the scores of this run only, where otherwise the newest of each judge count.
    """
    rows = _score_rows(judge_ids, criterion_ids, run)
    shape = (len(data.document_ids), len(data.system_ids))
    for judge_id in judge_ids:
        of_judge = rows[rows[:, 0] == judge_id]
        for criterion_id in criterion_ids:
            mine = of_judge[(of_judge[:, 1] == criterion_id) | (of_judge[:, 1] == 0)]
            data.judges.pop((criterion_id, judge_id), None)
            if len(mine):
                data.judges[criterion_id, judge_id] = table(
                    positions(mine[:, 2], data.document_ids),
                    positions(mine[:, 3], data.system_ids),
                    mine[:, 4],
                    shape=shape,
                )


def _score_rows(
    judge_ids: list[int], criterion_ids: list[int], run: EvaluationRun | None
) -> FloatArray:
    """Judge, criterion (0 for all), document, system and value of each score; shape (scores, 5).
    Scores that count for every criterion come first, so that a criterion's own replaces them."""
    wanted = f"""r.judge_id IN ({id_list(judge_ids)})
        AND (s.criterion_id IS NULL OR s.criterion_id IN ({id_list(criterion_ids)}))"""
    several = list(
        EvaluationRun.objects.filter(judge__in=judge_ids)
        .order_by()
        .values_list("judge", flat=True)
        .annotate(runs=models.Count("pk"))
        .filter(runs__gt=1)
    )
    # Millions of scores of judges that ran once need no sorting, which would take most of the time.
    plain = f"""SELECT r.judge_id, s.criterion_id, s.output_id, s.value FROM evaluations_score s
        JOIN evaluations_evaluationrun r ON r.id = s.run_id WHERE {wanted}"""
    if run is not None:
        chosen = f"{plain} AND r.id = {int(run.pk)}"
    elif several:
        once = f"{plain} AND r.judge_id NOT IN ({id_list(several)})"
        again = newest_scores(f"{wanted} AND r.judge_id IN ({id_list(several)})")
        chosen = f"""{once} UNION ALL
            SELECT n.judge_id, n.criterion_id, n.output_id, n.value FROM ({again}) AS n"""
    else:
        chosen = plain
    rows = fetch_numbers(
        ["s.judge_id", "coalesce(s.criterion_id, 0)", "o.document_id", "o.system_id", "s.value"],
        f"FROM ({chosen}) AS s JOIN evaluations_candidateoutput o ON o.id = s.output_id",
    )
    return rows[np.argsort(rows[:, 1] > 0, kind="stable")]


def ids_of(project_id: int) -> dict[str, list[int]]:
    """The ids of a project's annotators, systems, judges and criteria, in one query."""
    tables = {
        "annotators": "annotations_annotator",
        **{f"{n}s": f"evaluations_{n}" for n in ("system", "judge")},
    }
    tables["criteria"] = "evaluations_criterion"
    arrays = (
        f"ARRAY(SELECT id FROM {table} WHERE project_id = %s ORDER BY id)"
        for table in tables.values()
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(arrays)}", [project_id] * len(tables))
        return dict(zip(tables, cursor.fetchone(), strict=True))


class LiveData:
    """A project's data, read once and then only where something has changed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.state: dict[Key, tuple[int, int]] | None = None
        self.data: ReportData | None = None
        self.frame: dict[str, list[int]] = {}
        self.lock = threading.Lock()

    def current(self) -> ReportData:
        """The data as it is now."""
        state = state_of(self.project.pk)
        # What the tables' shape depends on; when it changes, everything is read again.
        frame = ids_of(self.project.pk)
        changed = [key for key in state if self.state is None or self.state.get(key) != state[key]]
        if self.data is None or self.frame != frame or (None, None) in changed:
            self.data = load_data(
                self.project, list(self.project.judges.all()), list(self.project.criteria.all())
            )
        else:
            for judge, criterion in changed:
                asked = [criterion] if criterion else frame["criteria"]
                if judge is None:
                    fill_humans(self.data, self.project, asked)
                else:
                    fill_judges(self.data, [judge], asked)
        self.state, self.frame = state, frame
        # A copy of the dictionaries: another request may bring them up to date while this one
        # reads.
        return replace(self.data, humans=dict(self.data.humans), judges=dict(self.data.judges))
