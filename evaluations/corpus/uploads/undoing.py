"""Undo a loaded upload as a whole: everything that it created is deleted, while nothing else
depends on it but runs that judged nothing else, which are deleted with it once this is confirmed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import models, transaction
from django.db.models.fields.reverse_related import ForeignObjectRel

from annotations.models import Annotator, Preference, Rating
from evaluations.corpus.removing import DEPENDENTS, StillInUseError, describe_dependents
from evaluations.models import (
    CandidateOutput,
    Conversation,
    Criterion,
    Document,
    EvaluationRun,
    GapCause,
    Judge,
    ModelReply,
    PairScore,
    PolicyDecision,
    Project,
    RunItem,
    Score,
    StudyItem,
    System,
    Upload,
    UploadState,
)
from evaluations.models.changes import note_change
from evaluations.models.improving import Candidate, withheld_documents
from geval.texts.numbers import counted, money
from geval_site.sql import fetch_rows, fetch_value

# What is deleted, what depends on others first. The last are kept if something else uses them.
CREATED: tuple[type[models.Model], ...] = (PairScore, Score, RunItem, ModelReply, Preference,
                                           Rating, CandidateOutput, Document)  # fmt: skip
NAMED: tuple[type[models.Model], ...] = (System, Annotator, Criterion, Judge)
# Rows of a table by ranges of their ids.
_IN_RANGES = "SELECT lower(r) AS first, upper(r) AS beyond FROM unnest(%s::int8multirange) AS r"
EMPTY = "{}"
# Runs of a project that judged nothing but some outputs, by ranges of their ids.
_RUNS_ON_OUTPUTS = """
    SELECT t.run_id FROM (SELECT run_id, output_id, NULL::bigint AS rival_id FROM evaluations_score
          UNION ALL SELECT run_id, output_id, rival_id FROM evaluations_pairscore
          UNION ALL SELECT run_id, output_id, rival_id FROM evaluations_runitem) AS t
    JOIN evaluations_evaluationrun r ON r.id = t.run_id WHERE r.project_id = %s
    GROUP BY t.run_id HAVING bool_and(t.output_id <@ %s::int8multirange
            AND coalesce(t.rival_id <@ %s::int8multirange, true))
"""
# What is based on a run's scores, and would be lost with them.
BASED_ON_SCORES: tuple[type[models.Model], ...] = (GapCause, PolicyDecision, StudyItem)
OF_RUNS = ("scores", "comparisons by judges", "items of runs")


@dataclass(frozen=True)
class RunsWithIt:
    """The finished runs that judged only outputs of an upload: how many scores and comparisons they
    have, and what they cost."""

    pks: Sequence[int]
    scores: int
    cost: Decimal

    def __str__(self) -> str:
        cost = f", which cost {money(self.cost)}" if self.cost else ""
        return f"{counted(len(self.pks), 'run')} with {counted(self.scores, 'score')}{cost}"


NO_RUNS = RunsWithIt((), 0, Decimal())


@transaction.atomic
def undo_upload(upload: Upload, confirmed: Collection[int] = ()) -> RunsWithIt:
    """Delete everything that an upload created, and the runs on it alone; return these runs.

    Args:
        confirmed: the ids of the runs that the user agreed to delete.

    Raises:
        StillInUseError: something else depends on it, it changed what existed before, or the runs
            are others than those that were confirmed.
    """
    project = Project.objects.select_for_update().get(pk=upload.project_id)
    upload = Upload.objects.select_for_update().get(pk=upload.pk)
    if reason := why_not_undone(upload):
        raise StillInUseError(f"The upload was not undone: {reason}")
    runs = runs_with(upload)
    if {*runs.pks} != {*confirmed}:
        raise StillInUseError(f"The upload was not undone: confirm that this also deletes {runs}.")
    EvaluationRun.objects.filter(pk__in=runs.pks).delete()
    created: dict[str, str] = (upload.result or {})["created"]
    for model in CREATED:
        _delete(model, created.get(model._meta.db_table, EMPTY))
    Conversation.objects.filter(project=project, documents=None).delete()
    for model in NAMED:
        for pk in _ids(created.get(model._meta.db_table, EMPTY)):
            _delete_unused(model, pk)
    Upload.objects.filter(pk=upload.pk).update(state=UploadState.UNDONE)
    note_change(project.pk)
    return runs


def runs_with(upload: Upload) -> RunsWithIt:
    """Return the runs that are deleted if a loaded upload is undone: finished ones that judged only
    its outputs, and that no search or study is based on."""
    outputs = (upload.result or {}).get("created", {}).get(CandidateOutput._meta.db_table, EMPTY)
    if outputs == EMPTY:
        return NO_RUNS
    pks = [pk for (pk,) in fetch_rows(_RUNS_ON_OUTPUTS, [upload.project_id, outputs, outputs])]
    runs = (
        EvaluationRun.objects.filter(pk__in=pks, search=None, study_part=None)
        .of_judges_that_run()
        .exclude(pk__in=EvaluationRun.objects.unfinished().values("pk"))
        .exclude(pk__in=Candidate.objects.exclude(look_run=None).values("look_run"))
        .order_by("pk")
    )
    if not runs:
        return NO_RUNS
    scores = sum(model.objects.filter(run__in=runs).count() for model in (Score, PairScore))
    return RunsWithIt(
        [run.pk for run in runs], scores, sum((run.cost or Decimal() for run in runs), Decimal())
    )


def why_not_undone(upload: Upload) -> str:
    """Return why an upload cannot be undone, as a sentence; empty if it can."""
    result = upload.result or {}
    if upload.state != UploadState.DONE:
        return "it is not loaded."
    if "created" not in result:
        return "it was loaded by an earlier version, which did not note what it created."
    changed = {kind: result[kind]["changed"] for kind in ("documents", "outputs")}
    if any(changed.values()):
        counts = " and ".join(f"{n:,} existing {kind}" for kind, n in changed.items() if n)
        return f"it changed {counts}, whose earlier texts are not kept."
    if _rates_locked_documents(upload.project_id, result["created"]):
        return "documents with its ratings are locked until the last look."
    dependents = _count_dependents(result["created"])
    if not {*OF_RUNS}.isdisjoint(dependents):
        runs = runs_with(upload)
        dependents = _count_dependents(result["created"], runs.pks)
        if runs.pks and _bases_others(result["created"]):
            return "causes, policies or studies are based on scores of its outputs."
    if not dependents:
        return ""
    of_runs = not {*OF_RUNS}.isdisjoint(dependents)
    return describe_dependents(dependents) + (
        " by now. If these are of a later upload, undo that first. Otherwise they stay: leave its"
        " outputs out with a report's filters."
        + " Runs are removed with it if they are over and judged nothing else."
        * of_runs
    )


def _bases_others(created: Mapping[str, str]) -> bool:
    spans = _spans(created.get(CandidateOutput._meta.db_table, EMPTY))
    return any(
        _rows(model).filter(output__gte=first, output__lt=beyond).exists()
        for model in BASED_ON_SCORES
        for first, beyond in spans
    )


def _count_dependents(created: Mapping[str, str], runs: Sequence[int] = ()) -> dict[str, int]:
    """Return how many records of each kind, beside the upload's own and those of some runs, depend
    on its texts."""
    outputs = created.get(CandidateOutput._meta.db_table, EMPTY)
    documents = created.get(Document._meta.db_table, EMPTY)
    counts = {}
    for kind, (table, points) in DEPENDENTS.items():
        counts[kind] = fetch_value(
            f"""SELECT count(DISTINCT t.id) FROM ({_IN_RANGES}) AS r
                JOIN evaluations_candidateoutput o ON o.id >= r.first AND o.id < r.beyond
                JOIN {table} t ON {points} WHERE NOT t.id <@ %s::int8multirange
                {"AND NOT t.run_id = ANY(%s)" if kind in OF_RUNS else ""}""",
            [outputs, created.get(table, EMPTY), *([list(runs)] if kind in OF_RUNS else [])],
        )
    counts["outputs"] = fetch_value(
        f"""SELECT count(*) FROM ({_IN_RANGES}) AS r
            JOIN evaluations_candidateoutput o
                ON o.document_id >= r.first AND o.document_id < r.beyond
            WHERE NOT o.id <@ %s::int8multirange""",
        [documents, outputs],
    )
    return {kind: count for kind, count in counts.items() if count}


def _rates_locked_documents(project_id: int, created: Mapping[str, str]) -> bool:
    locked = withheld_documents(project_id)
    value = fetch_value(
        f"""SELECT EXISTS (SELECT FROM ({_IN_RANGES}) AS r
            JOIN annotations_rating t ON t.id >= r.first AND t.id < r.beyond
            JOIN evaluations_candidateoutput o ON o.id = t.output_id
            WHERE o.document_id = ANY(%s))""",
        [created.get(Rating._meta.db_table, EMPTY), locked],
    )
    return bool(value)


def _delete(model: type[models.Model], ranges: str) -> None:
    for first, beyond in _spans(ranges):
        _rows(model).filter(pk__gte=first, pk__lt=beyond).delete()


def _delete_unused(model: type[models.Model], pk: int) -> None:
    """Delete a record that only the upload used."""
    if model is Judge:
        imports = EvaluationRun.objects.filter(judge=pk, scores=None, pair_scores=None, items=None)
        imports.delete()
    fields = model._meta.get_fields(include_hidden=True)
    links = [field for field in fields if isinstance(field, ForeignObjectRel)]
    if any(_rows(link.related_model).filter(**{link.field.name: pk}).exists() for link in links):
        return
    _rows(model).filter(pk=pk).delete()


def _rows(model: type[models.Model]) -> models.QuerySet[models.Model]:
    return model._default_manager.all()


def _ids(ranges: str) -> list[int]:
    return [pk for first, beyond in _spans(ranges) for pk in range(first, beyond)]


def _spans(ranges: str) -> list[tuple[int, int]]:
    return fetch_rows(_IN_RANGES, [ranges])
