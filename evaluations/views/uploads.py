"""Pages of uploads, in three steps: choose files, preview them with a dry run, load."""

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evaluations.corpus.mapping import kind_of
from evaluations.corpus.results import describe_result, in_order
from evaluations.forms import ColumnsForm, SavedColumnsForm, UploadForm, initial_options
from evaluations.hidden_fields import whole_number
from evaluations.models import Project, SavedColumns, Upload, UploadState, WorkerHeartbeat
from evaluations.people.access import EDITORS, project_view
from evaluations.people.audit import note_detail
from evaluations.spreadsheets import csv_line
from evaluations.uploads.keeping import ChosenFile, keep_upload
from evaluations.uploads.work import NotReadyError, set_columns, start_check, start_load
from evaluations.views.polling import STOP_POLLING
from evaluations.waking import wake_for_upload

SHOWN_ERRORS = 100
SHOWN_UPLOADS = 10
PASTED = "pasted rows"


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
    return render(
        request, "evaluations/upload_create.html", context, status=422 if form.errors else 200
    )


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


@require_POST
@project_view(EDITORS)
def upload_columns(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Store the meaning of the columns, save it for similar files if requested, and check again."""
    upload = _upload(project, pk)
    form = ColumnsForm(upload, list(upload.files.all()), request.POST)
    if not form.is_valid():
        return render(request, "evaluations/upload_detail.html", _context(upload, form), status=422)
    try:
        set_columns(
            upload, {file.pk: form.chosen(file) for file in upload.files.all()}, form.about()
        )
        upload = _upload(project, pk)
        _save_columns(request, upload)
        start_check(upload)
    except NotReadyError as error:
        messages.error(request, str(error))
    return redirect(upload)


def _save_columns(request: HttpRequest, upload: Upload) -> None:
    """Save the columns of the file whose button was pressed, under the name next to it."""
    pressed = whole_number(request.POST.get("save", "").removeprefix("file-"), default=0)
    file = upload.files.filter(pk=pressed).first()
    if file is None:
        return
    form = SavedColumnsForm({"name": request.POST.get(f"name-{file.pk}", "").strip()})
    if not form.is_valid():
        messages.error(request, "To save the columns, enter a name of at most 100 characters.")
        return
    names = sorted(column["name"] for column in file.preview["columns"])
    SavedColumns.objects.update_or_create(
        project=upload.project,
        name=form.cleaned_data["name"],
        defaults={"columns": file.columns, "file_columns": names},
    )
    messages.success(
        request,
        f"Saved as “{form.cleaned_data['name']}”. The next file with these columns uses it.",
    )


@require_POST
@project_view(EDITORS)
def saved_columns_forget(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    get_object_or_404(SavedColumns, project=project, pk=pk).delete()
    return redirect("evaluations:upload_create", project.slug)


@require_POST
@project_view(EDITORS)
def upload_load(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    upload = _upload(project, pk)
    try:
        if upload.is_silent:
            wake_for_upload(upload.pk)
        elif upload.is_parked:
            start_check(upload)
        else:
            start_load(upload)
    except NotReadyError as error:
        messages.error(request, str(error))
    note_detail(request, str(upload))
    return redirect(upload)


@require_POST
@project_view(EDITORS)
def upload_discard(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Discard an upload; nothing of it is in the project unless it was loaded."""
    upload = _upload(project, pk)
    if upload.state == UploadState.LOADING and not upload.is_silent:
        messages.error(request, "The upload is being loaded; wait until it has finished.")
        return redirect(upload)
    upload.delete()
    return redirect("evaluations:upload_create", project.slug)


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


def _context(upload: Upload, form: ColumnsForm | None = None) -> dict[str, Any]:
    files = list(upload.files.all())
    form = form or ColumnsForm(upload, files)
    result = in_order(upload.result or {})
    return {
        "project": upload.project,
        "tab": "data",
        "upload": upload,
        "form": form,
        "files": [(file, kind_of(file.columns), form.columns_of(file)) for file in files],
        "result": {kind: tally for kind, tally in result.items() if any(tally.values())},
        "said": describe_result(result),
        "changes": any(tally["created"] or tally["changed"] for tally in result.values()),
        "errors": upload.errors[:SHOWN_ERRORS],
        "percent": min(100, 100 * upload.bytes_read // max(1, upload.size)),
        "worker_alive": WorkerHeartbeat.objects.doing("uploads").exists(),
    }
