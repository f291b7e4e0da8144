"""Undo a loaded upload as a whole: everything that it created is deleted, while nothing else
depends on it."""

from collections.abc import Mapping

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
    Judge,
    PairScore,
    Project,
    Score,
    System,
    Upload,
    UploadState,
)
from evaluations.models.changes import note_change
from evaluations.models.improving import withheld_documents
from geval_site.sql import fetch_rows, fetch_value

# What is deleted, what depends on others first. The last are kept if something else uses them.
CREATED: tuple[type[models.Model], ...] = (PairScore, Score, Preference, Rating, CandidateOutput,
                                           Document)  # fmt: skip
NAMED: tuple[type[models.Model], ...] = (System, Annotator, Criterion, Judge)
# Rows of a table by ranges of their ids.
_IN_RANGES = "SELECT lower(r) AS first, upper(r) AS beyond FROM unnest(%s::int8multirange) AS r"
EMPTY = "{}"


@transaction.atomic
def undo_upload(upload: Upload) -> None:
    """Delete everything that an upload created.

    Raises:
        StillInUseError: something else depends on it, or it changed what existed before.
    """
    project = Project.objects.select_for_update().get(pk=upload.project_id)
    upload = Upload.objects.select_for_update().get(pk=upload.pk)
    if reason := why_not_undone(upload):
        raise StillInUseError(f"The upload was not undone: {reason}")
    created: dict[str, str] = (upload.result or {})["created"]
    for model in CREATED:
        _delete(model, created.get(model._meta.db_table, EMPTY))
    Conversation.objects.filter(project=project, documents=None).delete()
    for model in NAMED:
        for pk in _ids(created.get(model._meta.db_table, EMPTY)):
            _delete_unused(model, pk)
    Upload.objects.filter(pk=upload.pk).update(state=UploadState.UNDONE)
    note_change(project.pk)


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
    return f"{describe_dependents(dependents)} by now; remove that first." if dependents else ""


def _count_dependents(created: Mapping[str, str]) -> dict[str, int]:
    """Return how many records of each kind, beside the upload's own, depend on its texts."""
    outputs = created.get(CandidateOutput._meta.db_table, EMPTY)
    documents = created.get(Document._meta.db_table, EMPTY)
    counts = {}
    for kind, (table, points) in DEPENDENTS.items():
        counts[kind] = fetch_value(
            f"""SELECT count(DISTINCT t.id) FROM ({_IN_RANGES}) AS r
                JOIN evaluations_candidateoutput o ON o.id >= r.first AND o.id < r.beyond
                JOIN {table} t ON {points} WHERE NOT t.id <@ %s::int8multirange""",
            [outputs, created.get(table, EMPTY)],
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
