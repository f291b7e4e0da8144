"""HTTP API of documents, outputs, ratings, preferences and scores: lists and bulk transfer."""

import tempfile
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import IO, Any, Literal

import orjson
from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Path, Query, Router, Schema, Status
from ninja.errors import HttpError

from evaluations.corpus.families import keep_families
from evaluations.corpus.recognised import files_of_project, remember_choices
from evaluations.corpus.removing import remove_document, remove_output
from evaluations.corpus.store import LoadOptions, load_files
from evaluations.models import CandidateOutput, Document, Project
from evaluations.models.newest_scores import newest_scores
from evaluations.reports.ratings.downloads import DOWNLOADS
from evaluations.reports.ratings.exports import as_jsonl
from evaluations.web.api.auth import project_for
from evaluations.web.api.schemas import In, Page, page_of, reads_by_itself
from evaluations.web.revisions import Change, Revised, editing
from geval.files.load_results import ExampleItem, LoadContents, LoadTally
from geval.files.questions import parsed_columns, parsed_scales
from geval.files.recognised import as_input
from geval.files.unused import UnusedColumn
from geval.statistics.scales import NOT_APPLICABLE
from geval.texts.turns import turns_as_json

router = Router()
Export = Literal[
    "hugging-face.zip", "label-studio.json", "argilla.json", "answers.csv", "answers.jsonl",
    "decisions.csv", "decisions.jsonl",
]  # fmt: skip
# Bodies and lists may be larger than memory.
CHUNK = 2**20
ROWS = 2000
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-ndjson": {"schema": {"type": "string"}},
            "text/csv": {"schema": {"type": "string"}},
        },
    }
}
LINES: dict[str, Any] = {
    "responses": {200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}}
}


class DocumentOut(Schema):
    id: int
    doc_id: str
    source: str
    context: str
    references: list[str]
    metadata: dict[str, str]
    session: str
    turns_before: int


class TurnsOut(Schema):
    """The turns of a document's conversation; one whose number in the file is not its place has a
    `number`. `rated` is the number of the turn that is rated, or one more than the last one's if it
    is a reply to all."""

    turns: list[dict[str, Any]]
    rated: int


class Documents(Schema):
    items: list[DocumentOut]
    next: int | None


class SystemOut(Revised):
    """`kind` is human, llm or other; an empty `family` is guessed from the name."""

    id: int
    system_id: str = Field(alias="name")
    kind: str
    family: str


class SystemIn(Change):
    kind: Literal["human", "llm", "other"] | None = None
    family: str | None = Field(None, max_length=60)


class OutputOut(Schema):
    id: int
    doc_id: str
    system_id: str
    output: str
    turns: list[dict[str, Any]]

    @staticmethod
    def resolve_doc_id(output: CandidateOutput) -> str:
        return output.document.doc_id

    @staticmethod
    def resolve_system_id(output: CandidateOutput) -> str:
        return output.system.name

    @staticmethod
    def resolve_output(output: CandidateOutput) -> str:
        return output.text


class Outputs(Schema):
    items: list[OutputOut]
    next: int | None


class DocumentSearch(Page):
    """`q` finds words in the source and in outputs, like the search on the documents page."""

    q: str = Field("", max_length=200)


class OutputFilter(Page):
    doc_id: str = Field("", max_length=200)
    system_id: str = Field("", max_length=200)


class CriterionContentsOut(Schema):
    """A criterion in the body. Its scale is `from_data` if it is a guess."""

    name: str
    is_new: bool
    scale: str
    from_data: bool
    ratings: int
    scores: int


class ContentsOut(Schema):
    """The criteria of the body; after a dry run also who rated and wrote how many rows, and three
    examples."""

    criteria: list[CriterionContentsOut]
    raters: dict[str, int]
    judges: dict[str, int]
    systems: dict[str, int]
    examples: list[ExampleItem]


class Loaded(Schema):
    """The result of a load: everything was loaded, or nothing. `columns` are the meanings of
    columns that were read; `notes` say which words were read as numbers."""

    documents: LoadTally
    outputs: LoadTally
    ratings: LoadTally
    preferences: LoadTally
    verdicts: LoadTally
    scores: LoadTally
    replies: LoadTally
    unreadable: int
    unused: list[UnusedColumn]
    notes: list[str]
    columns: dict[str, str]
    contents: ContentsOut


class LoadQuery(In):
    """Names for scores, replies or ratings that do not name their judge, annotator or criterion.
    With a `judge`, preferences are this judge's verdicts, not people's.

    `rate` says what of conversations is rated, where their records do not. `replace` replaces
    texts that nothing depends on; `check` is a dry run; with `open_only`, ratings and preferences
    of documents that are locked until the last look are errors. `columns` (THEIRS=OURS) and `scale`
    (CRITERION=1-5) can be repeated; they say what columns are that are not recognised, and
    which scales new criteria have. `sheet` is the one to read of a workbook, by default the first
    that looks like a table.
    """

    judge: str = Field("", max_length=200)
    criterion: str = Field("", max_length=100)
    annotator: str = Field("annotator", min_length=1, max_length=200)
    rate: str = Field("", max_length=60)
    replace: bool = False
    check: bool = False
    open_only: bool = False
    sheet: str = Field("", max_length=100)
    columns: list[str] = Field([], max_length=500)
    scale: list[str] = Field([], max_length=500)


@router.get("/documents", response=Documents)
def list_documents(request: HttpRequest, slug: Path[str], page: Query[DocumentSearch]) -> Any:
    """Documents, paginated."""
    documents = Document.objects.filter(project=project_for(request, slug))
    return page_of(documents.matching(_text(page.q)) if page.q.strip() else documents, page)


@router.get("/documents/{int:pk}/conversation", response=TurnsOut)
def get_conversation(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """The conversation of a document; without turns if it is not one."""
    documents = Document.objects.select_related("conversation")
    document = get_object_or_404(documents, project=project_for(request, slug), pk=pk)
    turns = document.conversation.read() if document.conversation else ()
    after = turns[-1].number + 1 if turns else 1
    return {
        "turns": turns_as_json(turns),
        "rated": document.rated_number or after,
    }


@router.get("/systems", response=list[SystemOut])
def list_systems(request: HttpRequest, slug: Path[str]) -> Any:
    """All systems: who wrote the outputs, and of which family of models they are."""
    return project_for(request, slug).systems.order_by("pk")


@router.put("/systems/{int:pk}", response=SystemOut)
def edit_system(request: HttpRequest, slug: Path[str], pk: int, data: SystemIn) -> Any:
    """Say who wrote a system's outputs; what is left out stays as it is."""
    project = project_for(request, slug, change=True)
    with editing(project.systems.all(), data, SystemOut.from_orm, pk=pk) as system:
        for name, value in data.sent().items():
            setattr(system, name, getattr(system, name) if value is None else value)
        keep_families(project, systems=[system])
        return system


@router.get("/outputs", response=Outputs)
def list_outputs(request: HttpRequest, slug: Path[str], page: Query[OutputFilter]) -> Any:
    """Candidate outputs, paginated; optionally of one document or system."""
    outputs = CandidateOutput.objects.of_project(project_for(request, slug)).select_related(
        "document", "system"
    )
    if page.doc_id:
        outputs = outputs.filter(document__doc_id=_text(page.doc_id))
    if page.system_id:
        outputs = outputs.filter(system__name=_text(page.system_id))
    return page_of(outputs, page)


@router.delete("/documents/{int:pk}", response={204: None})
def remove_document_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Remove a document with its outputs if nothing depends on them; else 409 says what does."""
    document = get_object_or_404(Document, project=project_for(request, slug, change=True), pk=pk)
    remove_document(document)
    return Status(204, None)


@router.delete("/outputs/{int:pk}", response={204: None})
def remove_output_by_id(request: HttpRequest, slug: Path[str], pk: int) -> Any:
    """Remove one output if nothing depends on it."""
    outputs = CandidateOutput.objects.of_project(project_for(request, slug, change=True))
    remove_output(get_object_or_404(outputs.select_related("document__project", "system"), pk=pk))
    return Status(204, None)


def _add_load(name: str, about: str) -> None:
    def load(request: HttpRequest, slug: Path[str], about: Query[LoadQuery]) -> Any:
        return _load(request, slug, about, name)

    load.__name__, load.__doc__ = f"load_{name}", about
    router.post(f"/{name}", response=Loaded, openapi_extra=BODY)(reads_by_itself(load))


for _name, _about in {
    "outputs": "Load outputs with their documents: JSON Lines, CSV, or any file that an upload"
    " accepts.",
    "ratings": "Load people's ratings.",
    "preferences": "Load preferences between two outputs: people's, or with `judge` that judge's"
    " verdicts.",
    "scores": "Load scores, or raw replies, of judges that ran elsewhere.",
}.items():
    _add_load(_name, _about)


@router.get("/ratings", openapi_extra=LINES)
def get_ratings(request: HttpRequest, slug: Path[str], pseudonyms: bool = False) -> Any:
    """All ratings of people, one JSON object per line."""
    lines = as_jsonl(project_for(request, slug), "ratings", pseudonyms=pseudonyms)
    return StreamingHttpResponse(lines, content_type="application/x-ndjson")


@router.get("/preferences", openapi_extra=LINES)
def get_preferences(request: HttpRequest, slug: Path[str], pseudonyms: bool = False) -> Any:
    """All preferences of people, one JSON object per line."""
    lines = as_jsonl(project_for(request, slug), "preferences", pseudonyms=pseudonyms)
    return StreamingHttpResponse(lines, content_type="application/x-ndjson")


@router.get("/scores", openapi_extra=LINES)
def get_scores(request: HttpRequest, slug: Path[str]) -> Any:
    """All scores of all judges, one JSON object per line; scores from later runs come later. The
    score "n/a" is the answer that a criterion does not apply."""
    return _lines(
        """SELECT d.doc_id, s.name AS system_id, c.name AS criterion, j.name AS judge,
               j.version AS judge_version, t.run_id AS run, t.value AS score, t.coverage
           FROM evaluations_score t JOIN evaluations_evaluationrun r ON r.id = t.run_id
           JOIN evaluations_judge j ON j.id = r.judge_id
           JOIN evaluations_candidateoutput o ON o.id = t.output_id
           JOIN evaluations_document d ON d.id = o.document_id JOIN evaluations_system s
               ON s.id = o.system_id
           LEFT JOIN evaluations_criterion c ON c.id = t.criterion_id
           WHERE r.project_id = %s AND r.search_id IS NULL AND r.purpose = ''
           ORDER BY t.run_id, t.id""",
        project_for(request, slug),
        of_scores=True,
    )


@router.get("/choices", openapi_extra=LINES)
def get_choices(request: HttpRequest, slug: Path[str]) -> Any:
    """What judges chose between two outputs, one JSON object per line: each judge's newest answer
    about each pair, as `share` (the probability of `system_a`, a tie counts half), `tie`, and
    `shown_first` (what went to the output shown first, null if both orders were not asked)."""
    newest = newest_scores("r.project_id = %s", table="evaluations_pairscore")
    return _lines(
        f"""SELECT d.doc_id, sa.name AS system_a, sb.name AS system_b,
                coalesce(c.name, '') AS criterion, j.name AS judge, j.version AS judge_version,
                n.run_id AS run, n.value AS share, n.tie, n.left AS shown_first
            FROM ({newest}) AS n JOIN evaluations_judge j ON j.id = n.judge_id
            JOIN evaluations_candidateoutput a ON a.id = n.output_id
            JOIN evaluations_candidateoutput b ON b.id = n.rival_id
            JOIN evaluations_system sa ON sa.id = a.system_id
            JOIN evaluations_system sb ON sb.id = b.system_id
            JOIN evaluations_document d ON d.id = a.document_id
            LEFT JOIN evaluations_criterion c ON c.id = n.criterion_id
            ORDER BY n.run_id, n.id""",
        project_for(request, slug),
    )


def _lines(query: str, project: Project, *, of_scores: bool = False) -> StreamingHttpResponse:
    """Yield the rows of a query about a project, each as an object; a score that is null is
    "n/a"."""

    def lines() -> Iterator[bytes]:
        with transaction.atomic(), connection.chunked_cursor() as cursor:
            cursor.execute(query, [project.pk])
            while rows := cursor.fetchmany(ROWS):
                names = [column.name for column in cursor.description]
                records = [dict(zip(names, row, strict=True)) for row in rows]
                for record in records if of_scores else ():
                    if record["score"] is None:
                        record["score"] = NOT_APPLICABLE
                yield b"".join(orjson.dumps(record) + b"\n" for record in records)

    return StreamingHttpResponse(lines(), content_type="application/x-ndjson")


@router.get("/exports/{name}")
def get_export(
    request: HttpRequest,
    slug: Path[str],
    name: Path[Export],
    pseudonyms: bool | None = None,
    licence: str = "",
) -> Any:
    """Outputs with their ratings and scores, as a dataset of Hugging Face (a zip), tasks of Label
    Studio or records of Argilla (JSON lists), which uploads accept; or all answers of campaigns and
    adjudicators' decisions. `pseudonyms` leaves out annotators' names; the dataset does so
    unless it is false. `licence` is for its card, such as cc-by-4.0."""
    project, download = project_for(request, slug), DOWNLOADS[name]
    try:
        content = download.of(project, pseudonyms=pseudonyms, licence=licence)
    except ValueError as error:
        raise HttpError(400, str(error)) from None
    return StreamingHttpResponse(content, content_type=download.content_type)


def _text(value: str) -> str:
    """Return the text without NUL, which PostgreSQL texts cannot contain."""
    return value.replace("\0", "")


def _load(request: HttpRequest, slug: str, about: LoadQuery, name: str) -> dict[str, Any]:
    """Write the body to a file and load it."""
    project_for(request, slug, change=True)
    with tempfile.NamedTemporaryFile(dir=settings.TEMPORARY_DIR) as file:
        _write_body(request, file)
        return load_written(request, slug, about, name, FilePath(file.name))


def load_written(
    request: HttpRequest, slug: str, about: LoadQuery, name: str, path: FilePath
) -> dict[str, Any]:
    """Load a file; errors are problem details with their lines."""
    project = project_for(request, slug, change=True)
    columns, scales = parsed_columns(about.columns), parsed_scales(about.scale)
    about_rows = LoadOptions(
        judge=_text(about.judge).strip() or "imported",
        criterion=_text(about.criterion),
        annotator=_text(about.annotator).strip() or "annotator",
        replace=about.replace,
        rate=_text(about.rate).strip().lower(),
        verdicts_by=_text(about.judge).strip(),
        open_only=about.open_only,
        scales=scales,
    )
    files = files_of_project(project, [(path, name)], columns, _text(about.sheet))
    inputs = [as_input(file_of_project, is_chosen=bool(columns)) for file_of_project in files]
    result = load_files(project, inputs, about=about_rows, dry_run=about.check)
    if columns and not about.check:
        remember_choices(project, files)
    return result.as_json() | {
        "unreadable": result.unreadable,
        "unused": result.unused,
        "notes": result.notes,
        "columns": files[0].columns,
        "contents": result.contents or LoadContents(),
    }


def _write_body(request: HttpRequest, file: IO[bytes]) -> None:
    size = 0
    while chunk := request.read(CHUNK):
        size += len(chunk)
        if size > settings.UPLOAD_LIMIT_BYTES:
            raise HttpError(
                413,
                f"The body is larger than {settings.UPLOAD_LIMIT_BYTES // 2**20} MB; split it.",
            )
        file.write(chunk)
    file.flush()
