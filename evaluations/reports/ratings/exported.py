"""A project's contents by output, as exports for other tools need it, and as a Hugging Face
dataset.

Ratings of locked documents are left out until the last look. Includes ratings by people only, and
the newest of each judge's scores on a criterion.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from annotations.models import Annotator
from evaluations.models import CandidateOutput, Document, Judge, Project
from evaluations.models.improving import withheld_documents
from evaluations.models.newest_scores import newest_scores
from evaluations.reports.ratings.answers import answer_records
from evaluations.reports.ratings.card import languages_of, sections_of
from evaluations.reports.ratings.exports import COLUMNS, records
from evaluations.reports.ratings.pseudonyms import ANNOTATORS
from geval.files.hugging_face import RECORDS, Dataset, Rows
from geval.files.tool_forms import ExportedOutput, Given
from geval.statistics.scales import NOT_APPLICABLE
from geval.texts.turns import ASSISTANT, Turn, transcript, turns_as_json
from geval_site.sql import fetch_rows
from geval_site.version import __version__

# Outputs have texts of any length, with all their ratings, comments and scores.
CHUNK = 500
_SCORES = f"""
    SELECT n.output_id, c.name, n.judge_id, n.value
    FROM ({newest_scores("s.output_id = ANY (%s)")}) AS n
    JOIN evaluations_criterion c ON c.id = n.criterion_id
    ORDER BY n.output_id, c.position, c.id, n.judge_id"""

_RATINGS = f"""
    SELECT r.output_id, c.name, n.name, n.kind, r.score, r.comment
    FROM annotations_rating r JOIN {ANNOTATORS} n ON n.id = r.annotator_id
    JOIN evaluations_criterion c ON c.id = r.criterion_id
    WHERE r.output_id = ANY (%(outputs)s) ORDER BY r.id"""


def exported_outputs(project: Project, *, pseudonyms: bool = False) -> Iterator[ExportedOutput]:
    """Yield all outputs, by document."""
    hidden = frozenset(withheld_documents(project.pk))
    judges = {judge.pk: judge.label for judge in Judge.objects.filter(project=project)}
    outputs = CandidateOutput.objects.of_project(project).order_by("document_id", "pk")
    keys = list(outputs.values_list("pk", flat=True))
    for start in range(0, len(keys), CHUNK):
        chunk = keys[start : start + CHUNK]
        ratings, comments = _ratings_of(project, chunk, pseudonyms=pseudonyms)
        answers = _answers_of(project, chunk, pseudonyms=pseudonyms)
        scores = _scores_of(chunk, judges)
        listed = CandidateOutput.objects.filter(pk__in=chunk).select_related(
            "system", "document__conversation"
        )
        for output in listed.order_by("document_id", "pk"):
            columns, about = _columns(output), scores[output.pk]
            if output.document_id in hidden:
                yield ExportedOutput(columns, [], about)
                continue
            key = (output.document.doc_id, output.system.name)
            yield ExportedOutput(
                columns, ratings[output.pk], about, comments[output.pk], answers[key]
            )


def metadata_names(project: Project) -> list[str]:
    """Return the names of all documents' metadata fields."""
    rows = fetch_rows(
        """SELECT DISTINCT jsonb_object_keys(metadata) AS name FROM evaluations_document
           WHERE project_id = %s AND NOT (metadata = '{}'::jsonb) ORDER BY name""",
        [project.pk],
    )
    return [name for (name,) in rows]


def _ratings_of(
    project: Project, outputs: Sequence[int], *, pseudonyms: bool
) -> tuple[dict[int, list[Given]], dict[int, dict[str, str]]]:
    """Return people's ratings, and all comments by their author, by output."""
    ratings: dict[int, list[Given]] = defaultdict(list)
    comments: dict[int, dict[str, str]] = defaultdict(dict)
    about: dict[str, Any] = {
        "project": project.pk,
        "outputs": list(outputs),
        "pseudonyms": pseudonyms,
    }
    for output, criterion, who, kind, points, comment in fetch_rows(_RATINGS, about):
        if kind == Annotator.Kind.PERSON:
            ratings[output].append((criterion, who, points))
        if comment:
            comments[output][who] = comment
    return ratings, comments


def _answers_of(
    project: Project, outputs: Sequence[int], *, pseudonyms: bool
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the record of answers by document and system; a comparison is listed with its first
    output."""
    answers: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in answer_records(project, outputs=outputs, pseudonyms=pseudonyms):
        answers[record["doc_id"], record["systems"][0]].append(record)
    return answers


def _scores_of(outputs: Sequence[int], judges: dict[int, str]) -> dict[int, list[Given]]:
    scores: dict[int, list[Given]] = defaultdict(list)
    for output, criterion, judge, value in fetch_rows(_SCORES, [list(outputs)]):
        scores[output].append((criterion, judges[judge], value))
    return scores


def _columns(output: CandidateOutput) -> dict[str, Any]:
    document = output.document
    columns: dict[str, Any] = {
        "doc_id": document.doc_id,
        "system_id": output.system.name,
        "source": document.source,
        **_said(document, output),
        "context": document.context,
        "references": list(document.references),
        "session_id": document.session,
        **{f"metadata.{name}": value for name, value in document.metadata.items()},
    }
    return {name: value for name, value in columns.items() if value or name == "output"}


def _said(document: Document, output: CandidateOutput) -> dict[str, Any]:
    """Return the output as a text, or as the turns of its conversation."""
    history, later, said = document.history(), document.later(), output.said
    if said == document.rated_turn():
        turns = (*history, *document.rated_turn(), *later)
        return {"turns": turns_as_json(turns), "rate": f"#{document.rated_number}"}
    if not (history or output.turns):
        return {"output": output.text}
    if not history and output.text == transcript(said):
        return {"turns": turns_as_json(said), "rate": "session"}
    if output.text and said == (Turn(ASSISTANT, output.text),):
        return {"turns": turns_as_json(history), "rate": "reply", "output": output.text}
    unnumbered = (replace(turn, number=0) for turn in said)
    return {"turns": turns_as_json((*history, *unnumbered)), "rate": "reply"}


def dataset_of(project: Project, *, pseudonyms: bool = True, licence: str = "") -> Dataset:
    """Return a project as a dataset whose rows are read when it is written; datasets are made to be
    published, so without names.

    Args:
        licence: one of LICENCES; empty for none.
    """

    with_answer = project.criteria.filter(allows_not_applicable=True).exists()

    def with_number(row: dict[str, Any]) -> dict[str, Any]:
        # A column has one type, so a number is null there.
        is_none = row["score"] in (None, NOT_APPLICABLE)
        answer = {"not_applicable": is_none} if with_answer else {}
        return row | answer | {"score": None if is_none else row["score"]}

    def scores() -> Rows:
        for output in exported_outputs(project):
            names = {name: output.columns[name] for name in ("doc_id", "system_id")}
            for criterion, judge, points in output.scores:
                yield with_number(names | {"criterion": criterion, "judge": judge, "score": points})

    tables: dict[str, Callable[[], Rows]] = {
        "outputs": lambda: (output.columns for output in exported_outputs(project)),
        "ratings": lambda: map(with_number, records(project, "ratings", pseudonyms=pseudonyms)),
        "scores": scores,
        "preferences": lambda: records(project, "preferences", pseudonyms=pseudonyms),
        "answers": lambda: records(project, "answers", pseudonyms=pseudonyms),
        "decisions": lambda: records(project, "decisions", pseudonyms=pseudonyms),
    }
    criteria = project.criteria.order_by("position", "pk")
    return Dataset(
        project.name,
        project.description,
        tables,
        {name: COLUMNS[name] for name in RECORDS},
        metadata_names(project),
        tuple(criteria.values_list("name", "scale_min", "scale_max", "definition")),
        languages_of(project),
        sections_of(project, pseudonyms=pseudonyms),
        __version__,
        licence,
    )
