"""Pages of uploads, in three steps: choose files, preview them with a dry run, load."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from evaluations.corpus.removing import StillInUseError
from evaluations.corpus.uploads.keeping import ChosenFile, keep_upload
from evaluations.corpus.uploads.loading import (
    NotReadyError,
    Scales,
    answer_question,
    correct_cells,
    leave_out_errors,
    set_columns,
    set_scales,
    start_check,
    start_load,
)
from evaluations.corpus.uploads.undoing import NO_RUNS, runs_with, undo_upload, why_not_undone
from evaluations.models import (
    Project,
    SavedColumns,
    Upload,
    UploadFile,
    UploadState,
    WorkerHeartbeat,
)
from evaluations.people.access import EDITORS, project_action, project_view
from evaluations.people.audit import note_detail
from evaluations.people.waking import wake_for_upload
from evaluations.web.forms.uploads import ColumnsForm, ScalesForm, UploadForm, initial_options
from evaluations.web.notices import STOP_POLLING, noticing, refuse, show_form
from geval.files.fields import CRITERION_LIMIT
from geval.files.load_results import describe_result, in_order
from geval.files.mapping import kind_of
from geval.files.refused import RefusedRow, describe_refused, refused_csv
from geval.texts.numbers import whole_number
from geval.texts.spelling import storable
from geval.texts.spreadsheets import csv_line

# Errors often share a cause; more would fill the page.
SHOWN_ERRORS = 100
SHOWN_UPLOADS = 10
SHOWN_LINES = 5
PASTED = "pasted rows"
CHANGED = (
    "Your changes to the columns and defaults were checked first. See below what they give, and"
    " load the data then."
)


@project_view(EDITORS)
def upload_create(request: HttpRequest, project: Project) -> HttpResponse:
    form = UploadForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        with tempfile.NamedTemporaryFile(dir=settings.TEMPORARY_DIR) as pasted:
            files = [
                ChosenFile(Path(file.temporary_file_path()), file.name)
                for file in form.cleaned_data["files"]
            ]
            if form.cleaned_data["text"].strip():
                pasted.write(form.cleaned_data["text"].encode("utf-8", "surrogatepass"))
                pasted.flush()
                files.append(ChosenFile(Path(pasted.name), PASTED))
            about = initial_options([file.name for file in files])
            upload = keep_upload(project, request.user.pk, files, about)
        start_check(upload)
        return redirect(upload)
    uploads = project.uploads.select_related("made_by").prefetch_related("files")[:SHOWN_UPLOADS]
    context = {
        "project": project,
        "tab": "data",
        "form": form,
        "uploads": uploads,
        "saved": project.saved_columns.all(),
    }
    return show_form(request, "evaluations/upload_create.html", context)


@project_view(EDITORS)
def upload_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The page, or for htmx its live part, which stops polling once nothing is running."""
    upload = _upload(project, pk)
    if request.htmx:  # type: ignore[attr-defined]
        status = 200 if upload.is_active else STOP_POLLING
        return render(
            request, "evaluations/upload_detail.html#progress", _context(upload), status=status
        )
    return render(request, "evaluations/upload_detail.html", _context(upload))


@project_action(EDITORS)
def upload_columns(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Store the meaning of the columns, also for similar files, and check again."""
    upload = _upload(project, pk)
    return _check_columns(request, upload, _columns_form(request, upload))


def _columns_form(request: HttpRequest, upload: Upload) -> ColumnsForm:
    return ColumnsForm(upload, list(upload.files.all()), request.POST)


def _check_columns(request: HttpRequest, upload: Upload, form: ColumnsForm) -> HttpResponse:
    if not form.is_valid():
        return render(request, "evaluations/upload_detail.html", _context(upload, form), status=422)
    columns = {file.pk: form.chosen(file) for file in upload.files.all()}
    return _then_check(request, upload, lambda: set_columns(upload, columns, form.about()))


@project_action(EDITORS)
def upload_answer(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Take an answer to a question about a file's columns, and check again."""
    upload = _upload(project, pk)
    numbers = request.POST.get("answer", "").split("-")
    file, question, choice = (whole_number(number, default=0) for number in (*numbers, *"000")[:3])
    criterion = storable(request.POST.get("criterion", "")).strip()
    if "criterion" in request.POST and not 0 < len(criterion) <= CRITERION_LIMIT:
        refuse(request, f"Write the criterion's name, in at most {CRITERION_LIMIT} characters.")
        return redirect(upload)
    return _then_check(
        request, upload, lambda: answer_question(upload, file, question, choice, criterion)
    )


@project_action(EDITORS)
def upload_correct(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Replace single cells that have errors, and check again."""
    upload = _upload(project, pk)
    cells = {
        whole_number(name.removeprefix("cell-"), default=len(upload.errors)): storable(text)
        for name, text in request.POST.items()
        if name.startswith("cell-") and isinstance(text, str)
    }
    return _then_check(request, upload, lambda: correct_cells(upload, cells))


@project_action(EDITORS)
def upload_rest(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Check again without the cells and rows that have errors."""
    upload = _upload(project, pk)
    return _then_check(request, upload, lambda: leave_out_errors(upload))


@project_action(EDITORS)
def upload_scales(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Set the scales of new criteria, and check again."""
    upload = _upload(project, pk)

    def set_them(scales: Scales) -> HttpResponse:
        return _then_check(request, upload, lambda: set_scales(upload, scales))

    return _with_scales(request, upload, set_them)


@project_view(EDITORS)
def upload_refused(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The rows that were left out, or have cells that were, with the reasons, as CSV."""
    rows = [
        RefusedRow(file.name, row["line"], row["cells"], tuple(row["reasons"]))
        for file in _upload(project, pk).files.all()
        for row in file.refused
    ]
    response = HttpResponse(refused_csv(rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-left-out.csv"'
    return response


def _then_check(request: HttpRequest, upload: Upload, change: Callable[[], None]) -> HttpResponse:
    with noticing(request, NotReadyError):
        change()
        start_check(_upload(upload.project, upload.pk))
    return redirect(upload)


@project_action(EDITORS)
def saved_columns_forget(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    get_object_or_404(SavedColumns, project=project, pk=pk).delete()
    return redirect("evaluations:upload_create", project.slug)


@project_action(EDITORS)
def upload_load(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Load a checked upload, which confirms its scales. If the form says something else of the
    columns than what was checked, that is checked first, and shown."""
    upload = _upload(project, pk)
    if ColumnsForm.is_in(request.POST) and upload.state == UploadState.CHECKED:
        form = _columns_form(request, upload)
        if form.has_changed():
            return _with_scales(request, upload, lambda s: _check_first(request, upload, form, s))
    return _with_scales(request, upload, lambda scales: _load(request, upload, scales))


def _check_first(
    request: HttpRequest, upload: Upload, form: ColumnsForm, scales: Scales
) -> HttpResponse:
    if form.is_valid():
        set_scales(upload, scales)
        messages.info(request, CHANGED)
    return _check_columns(request, upload, form)


def _load(request: HttpRequest, upload: Upload, scales: Scales) -> HttpResponse:
    with noticing(request, NotReadyError):
        if upload.state == UploadState.CHECKED:
            set_scales(upload, scales)
        if upload.is_silent:
            wake_for_upload(upload.pk)
        elif upload.is_parked:
            start_check(upload)
        else:
            start_load(upload)
    note_detail(request, str(upload))
    return redirect(upload)


def _with_scales(
    request: HttpRequest, upload: Upload, act: Callable[[Scales], HttpResponse]
) -> HttpResponse:
    """Do an action with the scales of a form, or show the form again with its errors."""
    scales = ScalesForm(upload, request.POST)
    if not scales.is_valid():
        context = _context(upload, scales=scales)
        return render(request, "evaluations/upload_detail.html", context, status=422)
    return act(scales.scales())


@project_action(EDITORS)
def upload_discard(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Discard an upload; nothing of it is in the project unless it was loaded."""
    upload = _upload(project, pk)
    if upload.state == UploadState.LOADING and not upload.is_silent:
        refuse(request, "The upload is being loaded; wait until it has finished.")
        return redirect(upload)
    upload.delete()
    return redirect("evaluations:upload_create", project.slug)


@project_action(EDITORS)
def upload_undo(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Delete everything that an upload created, with the runs on it alone that the user confirmed,
    or say what depends on it."""
    upload = _upload(project, pk)
    confirmed = [whole_number(run, default=0) for run in request.POST.getlist("run")]
    note_detail(request, str(upload))
    with noticing(request, StillInUseError):
        if (runs := undo_upload(upload, confirmed)).pks:
            note_detail(request, f"{upload}, with {runs}")
    return redirect(upload)


@project_view(EDITORS)
def upload_errors(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """All stored errors, as CSV."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-errors.csv"'
    columns = ("file", "line", "column", "message")
    response.write(csv_line(columns))
    for error in _upload(project, pk).errors:
        response.write(csv_line(error[name] or "" for name in columns))
    return response


def _upload(project: Project, pk: int) -> Upload:
    return get_object_or_404(
        Upload.objects.select_related("project").prefetch_related("files"), project=project, pk=pk
    )


@dataclass
class ShownError:
    """An error by its number among those of the upload, with all the lines where it occurs."""

    number: int
    error: dict[str, Any]
    lines: list[int]

    @property
    def lines_in_words(self) -> str:
        more = len(self.lines) - SHOWN_LINES
        shown = ", ".join(str(line) for line in self.lines[:SHOWN_LINES] if line)
        return f"{shown} and {more:,} more" if more > 0 else shown


def _errors_by_cause(errors: Sequence[dict[str, Any]]) -> list[ShownError]:
    """Return errors in order, merging equal errors of cells that cannot be corrected here."""
    shown: dict[Any, ShownError] = {}
    for number, error in enumerate(errors):
        is_own = error.get("value") is not None
        key = number if is_own else (error["file"], error["column"], error["message"])
        shown.setdefault(key, ShownError(number, error, [])).lines.append(error["line"])
    return list(shown.values())


def _refused_in_words(files: Sequence[UploadFile]) -> str:
    columns = [row.get("columns", ()) for file in files for row in file.refused]
    return describe_refused(sum(map(len, columns)), sum(not names for names in columns))


def _context(
    upload: Upload, form: ColumnsForm | None = None, scales: ScalesForm | None = None
) -> dict[str, Any]:
    files = list(upload.files.all())
    form = form or ColumnsForm(upload, files)
    scales = scales or ScalesForm(upload)
    contents = upload.contents or {}
    result = in_order(upload.result or {})
    not_undone = why_not_undone(upload) if upload.state == UploadState.DONE else ""
    is_undoable = upload.state == UploadState.DONE and not not_undone
    return {
        "project": upload.project,
        "tab": "data",
        "upload": upload,
        "form": form,
        "files": [(file, kind_of(file.columns), form.columns_of(file)) for file in files],
        "result": {kind: tally for kind, tally in result.items() if any(tally.values())},
        "said": describe_result(result),
        "changes": any(tally["created"] or tally["changed"] for tally in result.values()),
        "errors": _errors_by_cause(upload.errors[:SHOWN_ERRORS]),
        "listed": min(len(upload.errors), SHOWN_ERRORS),
        "can_correct": any(error.get("value") is not None for error in upload.errors),
        "can_leave_out": all(error["line"] for error in upload.errors)
        and upload.error_count == len(upload.errors),
        "questions": [(f, f.preview["questions"]) for f in files if f.preview.get("questions")],
        "contents": contents,
        "criteria": [
            (criterion, scales.field_of(criterion["name"]))
            for criterion in contents.get("criteria", ())
        ],
        "scales": scales,
        "refused": _refused_in_words(files),
        "percent": min(100, 100 * upload.bytes_read // max(1, upload.size)),
        "worker_alive": WorkerHeartbeat.objects.doing("uploads").exists(),
        "not_undone": not_undone,
        "runs_with": runs_with(upload) if is_undoable else NO_RUNS,
    }
