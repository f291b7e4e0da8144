"""Deleted projects: invisible at once, while workers remove their rows, some thousand at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import OperationalError, models, transaction
from django.utils import timezone
from django.utils.crypto import get_random_string

from evaluations.corpus.locks.draws import record
from evaluations.corpus.locks.locking import locked_of
from evaluations.judging.runs.lifecycle import cancel_run
from evaluations.models import (
    ApiToken,
    AuditEntry,
    EvaluationRun,
    Invitation,
    Membership,
    Project,
    RunItem,
    ShareLink,
    Webhook,
)
from evaluations.models.project import RANDOM_LENGTH, RANDOM_LETTERS
from evaluations.models.upkeep import alone
from evaluations.people.limits import Resource, shown, used

ACTION = "project deleted"
# Short statements, so that others wait little for locked rows.
AT_ONCE = 20_000
DELETION_LOCK = 0x676F6E65  # any constant: one process at a time
APPS = ("evaluations", "annotations")
# What gives people, programs and other sites access to a project, or notifies them about it.
WAYS_IN = (Webhook, ShareLink, Invitation, ApiToken, Membership)


class DeletionError(Exception):
    """A project cannot be deleted; the message says why and what to do."""


@dataclass(frozen=True)
class Gone:
    """A removed project, by its short name at the end, with the number of its rows."""

    slug: str
    rows: int


def confirm(project: Project, name: str) -> str:
    """Check the typed name of a project, to prevent deletion by mistake.

    Raises:
        ValidationError: the name differs.
    """
    if name != project.name:
        raise ValidationError(f"This is not the name of the project. Type: {project.name}")
    return name


def delete_project(project: Project, *, user: Any = None, by: str) -> None:
    """Make a project inaccessible. Its contents are removed afterwards (`remove_deleted`); its
    short name is free at once, and an entry of the site's audit log remains.

    Args:
        user: the user who deletes it, None for a command.
        by: their name for the log.

    Raises:
        DeletionError: the project is not archived, is being loaded into, or its cost still counts
            towards its owner's limit.
    """
    with transaction.atomic():
        try:
            with transaction.atomic():
                held = Project.objects.select_for_update(nowait=True).get(pk=project.pk)
        except OperationalError:
            raise DeletionError(
                "Something is being loaded into this project. Wait until that has ended, and"
                " delete it then."
            ) from None
        if held.archived_at is None:
            raise DeletionError("Archive the project first; only archived projects are deleted.")
        if user is not None and settings.USER_MONEY_PER_MONTH and (spent := _spent(held)):
            raise DeletionError(
                f"This project cost {spent} this month, which counts for the limit of all projects"
                " of its owner. Delete it next month, or ask the site's administrator."
            )
        for way in WAYS_IN:
            way._base_manager.filter(project=held).delete()
        _stop_asking(held)
        if locked := locked_of(held):
            # The site remembers the draw and its looks, in case the texts are loaded again.
            record(locked)
        AuditEntry.objects.create(
            user=user,
            user_name=by,
            action=ACTION,
            path="",
            detail=f"{held.slug}: {held.name}"[:300],
        )
        held.slug = f"deleted-{get_random_string(2 * RANDOM_LENGTH, RANDOM_LETTERS)}"
        held.deleted_at = timezone.now()
        held.save(update_fields=["slug", "deleted_at"])


def _stop_asking(project: Project) -> None:
    """Stop all calls to models for the project, except those in flight."""
    project.searches.all().cancel("deleting the project")
    project.studies.all().stop()
    unfinished = EvaluationRun.objects.unfinished().filter(project=project)
    for run_id in unfinished.values_list("pk", flat=True):
        cancel_run(run_id, "The project was deleted.")


def _spent(project: Project) -> str:
    money = used(Resource.MONEY, [project.pk])
    return shown(Resource.MONEY, money) if money else ""


def remove_deleted() -> Iterator[Gone]:
    """Remove the contents of deleted projects, one project at a time.

    Rows are removed in chunks, referenced ones last; an interrupted removal continues the next
    time. While a worker still waits for a model's answer, its project waits too.
    """
    with alone(DELETION_LOCK) as is_alone:
        for project in Project.objects.deleted().order_by("pk") if is_alone else ():
            if not RunItem.objects.held().filter(run__project=project).exists():
                rows = sum(_remove(model, project.pk) for model in models_in_order())
                project.delete()
                yield Gone(project.slug, rows)


def models_in_order() -> list[type[models.Model]]:
    """Return the models whose rows belong to a project, each before those that it refers to."""
    tables = {
        model
        for app in APPS
        for model in apps.get_app_config(app).get_models(include_auto_created=True)
    }
    sorter: TopologicalSorter[type[models.Model]] = TopologicalSorter()
    for model in tables:
        if model is not Project and path_to_project(model):
            sorter.add(model)
            for referred in _references(model).values():
                if referred is not model and referred is not Project and referred in tables:
                    sorter.add(referred, model)
    return list(sorter.static_order())


def path_to_project(model: type[models.Model]) -> str:
    """Return the shortest lookup from a model to its project; empty if there is none."""
    paths: list[tuple[type[models.Model], tuple[str, ...]]] = [(model, ())]
    seen = {model}
    for reached, path in paths:
        for name, referred in _references(reached).items():
            if referred is Project:
                return "__".join((*path, name))
            if referred not in seen:
                seen.add(referred)
                paths.append((referred, (*path, name)))
    return ""


def _references(model: type[models.Model]) -> dict[str, type[models.Model]]:
    """Return the models that a model refers to, by field name; required references come first."""
    fields = [field for field in model._meta.local_fields if field.is_relation]
    return {
        field.name: field.related_model
        for field in sorted(fields, key=lambda field: field.null)
        if isinstance(field.related_model, type)
    }


def _remove(model: type[models.Model], project_id: int) -> int:
    """Remove a model's rows, newest first, because they may refer to earlier ones of the same
    model."""
    rows = model._base_manager.filter(**{path_to_project(model): project_id}).order_by("-pk")
    removed = 0
    while ids := list(rows.values_list("pk", flat=True)[:AT_ONCE]):
        query = model._base_manager.filter(pk__in=ids)
        removed += query._raw_delete(query.db)
    return removed
