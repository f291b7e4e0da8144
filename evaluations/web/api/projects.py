"""HTTP API of projects: list, create, counts, archive."""

import tempfile
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db.models import QuerySet
from django.http import FileResponse, HttpRequest
from ninja import Field, Path, Query, Router, Schema, Status

from annotations.models import GuidelinesVersion
from evaluations.models import ApiToken, Project
from evaluations.models.project import SLUG_LENGTH
from evaluations.models.sizes import with_sizes
from evaluations.people.audit import note_detail
from evaluations.people.limits import allowances
from evaluations.projects.archive.write import write_archive
from evaluations.projects.archiving import archive, restore
from evaluations.projects.deletion import confirm, delete_project
from evaluations.web.api.auth import KEEPS, project_for
from evaluations.web.api.schemas import In, Page, page_of
from evaluations.web.revisions import Change, Revised, editing
from geval.files.project_fields import FormatFields

router = Router()


class ProjectIn(In):
    """Without a `slug`, the site chooses one like the name."""

    name: str = Field(min_length=1, max_length=200)
    description: str = Field("", max_length=20_000)
    slug: str = Field("", max_length=SLUG_LENGTH)


class ProjectChange(Change):
    name: str = Field("", min_length=1, max_length=200)
    description: str = Field("", max_length=20_000)
    guidelines: str = Field("", max_length=50_000)


class FormatsIn(FormatFields, Change):
    """What is left out stays as it is."""


class Archived(Change):
    archived: bool


class DeletionIn(In):
    """The project's name, typed so that no project goes by a slip."""

    name: str = Field(max_length=200)


class ProjectOut(Revised):
    slug: str
    name: str
    description: str
    guidelines: str
    created_at: datetime
    archived_at: datetime | None
    source_format: str
    output_format: str
    reference_format: str
    code_language: str
    text_language: str
    document_count: int
    system_count: int
    output_count: int


class Projects(Schema):
    items: list[ProjectOut]
    next: int | None


@router.get("", response=Projects)
def list_projects(request: HttpRequest, page: Query[Page]) -> Any:
    """The projects of the user that the token may access."""
    listed = page_of(seen_projects(request), page)
    return listed | {"items": with_sizes(listed["items"])}


def seen_projects(request: HttpRequest) -> QuerySet[Project]:
    """Return the projects of the user that the token may access."""
    projects = Project.objects.seen_by(request.user)
    token = request.auth  # type: ignore[attr-defined]
    if isinstance(token, ApiToken) and token.project_id:
        return projects.filter(pk=token.project_id)
    return projects


@router.post("", response={201: ProjectOut})
def make_project(request: HttpRequest, data: ProjectIn) -> Any:
    """Create a project, owned by the user. The response has its short name."""
    if data.slug:
        validate_slug(data.slug)
    project = Project.objects.make(**data.dict(), owner_id=request.user.pk or 0)
    return Status(201, with_sizes([project])[0])


@router.get("/{slug}", response=ProjectOut)
def get_project(request: HttpRequest, slug: Path[str]) -> Any:
    """One project with its counts."""
    return with_sizes([project_for(request, slug)])[0]


@router.put("/{slug}", response=ProjectOut)
def edit_project(request: HttpRequest, slug: Path[str], data: ProjectChange) -> Any:
    """Change a project's name, description or guidelines for annotators."""
    return _changed(request, slug, data, data.sent())


@router.put("/{slug}/formats", response=ProjectOut)
def edit_formats(request: HttpRequest, slug: Path[str], data: FormatsIn) -> Any:
    """Change how people see the texts. Judges always get them as they were written."""
    sent = {name: value for name, value in data.sent().items() if value is not None}
    return _changed(request, slug, data, sent)


def _changed(request: HttpRequest, slug: str, data: Change, values: dict[str, Any]) -> Any:
    pk = project_for(request, slug, change=True).pk
    with editing(Project.objects.all(), data, _shown, pk=pk) as project:
        for name, value in values.items():
            setattr(project, name, value)
        project.full_clean(validate_unique=False)
        project.save(update_fields=list(values))
        GuidelinesVersion.objects.current(project, by=request.user)
    return with_sizes([project])[0]


def _shown(project: Project) -> ProjectOut:
    return ProjectOut.from_orm(with_sizes([project])[0])


@router.put("/{slug}/archived", response=ProjectOut, auth=KEEPS)
def archive_project(request: HttpRequest, slug: Path[str], data: Archived) -> Any:
    """Archive a project, which then cannot be changed, or restore it."""
    pk = project_for(request, slug).pk
    with editing(Project.objects.all(), data, _shown, pk=pk) as project:
        (archive if data.archived else restore)(project)
    note_detail(request, "archived" if data.archived else "restored")
    return with_sizes([project])[0]


@router.delete("/{slug}", response={204: None}, auth=KEEPS)
def remove_project(request: HttpRequest, slug: Path[str], data: DeletionIn) -> Any:
    """Delete an archived project and all that it holds, for good."""
    project = project_for(request, slug)
    try:
        confirm(project, data.name)
    except ValidationError as error:
        raise ValidationError({"name": error}) from None
    delete_project(project, user=request.user, by=request.user.get_username())
    return Status(204, None)


class AllowanceOut(Schema):
    resource: str
    whose: str
    used: float
    most: float | None


@router.get("/{slug}/usage", response=list[AllowanceOut])
def get_usage(request: HttpRequest, slug: Path[str]) -> Any:
    """What the project, and all projects of its owner, use of what they may."""
    return allowances(project_for(request, slug, change=True))


@router.get(
    "/{slug}/archive", openapi_extra={"responses": {200: {"content": {"application/zip": {}}}}}
)
def get_archive(request: HttpRequest, slug: Path[str], pseudonyms: bool = False) -> Any:
    """The whole project as one zip of plain files; `pseudonyms` leaves out annotators' names."""
    project = project_for(request, slug, change=True)
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the response closes it when it is sent)
    write_archive(project, file, pseudonyms=pseudonyms)
    file.seek(0)
    return FileResponse(
        file, as_attachment=True, filename=f"{project.slug}.zip", content_type="application/zip"
    )
