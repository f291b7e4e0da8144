"""What the commands share: finding a project, a judge and criteria by name, with errors that say
what there is."""

from collections.abc import Sequence

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_slug
from django.db import transaction

from evaluations.judges.judges import newest_version
from evaluations.models import Criterion, Endpoint, Judge, Membership, Project, Role


def find_project(slug: str) -> Project:
    """The project of a short name.

    Raises:
        CommandError: there is none; the message lists what there is.
    """
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.values_list("slug", flat=True)[:20]) or "none yet"
        raise CommandError(
            f"There is no project {slug!r} (projects: {known}). `manage.py load {slug} FILE…` makes"
            " one."
        )
    return project


@transaction.atomic
def project_or_new(slug: str, *, owner: str | None) -> Project:
    """The project of a short name, made with its owners if there is none.

    Raises:
        CommandError: the name cannot be a short name, or there is no such user.
    """
    project = Project.objects.filter(slug=slug).first()
    if project:
        return project
    try:
        validate_slug(slug)
    except ValidationError:
        raise CommandError(
            f"{slug!r} cannot be a project's short name: use letters, digits, - and _."
        ) from None
    name = slug.replace("-", " ").replace("_", " ").capitalize()
    # Another command may make it at this moment: then this one waits for it, and joins.
    project, is_new = Project.objects.get_or_create(slug=slug, defaults={"name": name})
    if is_new:
        add_owners(project, owner=owner)
    return project


def add_owners(project: Project, *, owner: str | None) -> None:
    """Give a new project to a user, or to every site administrator.

    Raises:
        CommandError: there is no such user.
    """
    users = get_user_model().objects
    owners = users.filter(username=owner) if owner else users.filter(is_superuser=True)
    if owner and not owners.exists():
        raise CommandError(f"There is no user {owner!r}; `manage.py createsuperuser` makes one.")
    Membership.objects.bulk_create(
        Membership(project=project, user=user, role=Role.OWNER) for user in owners
    )


def find_judge(project: Project, name: str) -> Judge:
    """The judge of a name within a project, the newest version where the name alone is given.

    Raises:
        CommandError: there is none; the message lists what there is.
    """
    judge = newest_version(project, name) or next(
        (j for j in project.judges.all() if j.label == name), None
    )
    if judge is None:
        known = ", ".join(judge.label for judge in project.judges.all()) or "none yet"
        raise CommandError(f"Project {project.slug} has no judge {name!r} (judges: {known}).")
    return judge


def find_endpoint(project: Project, name: str) -> Endpoint:
    """The endpoint of a name within a project.

    Raises:
        CommandError: there is none; the message lists what there is.
    """
    endpoint = project.endpoints.filter(name=name).first()
    if endpoint is None:
        known = ", ".join(project.endpoints.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"Project {project.slug} has no endpoint {name!r} (endpoints: {known}).")
    return endpoint


def find_criteria(project: Project, names: Sequence[str] | None) -> list[Criterion]:
    """The criteria of some names, all of them where none is named.

    Raises:
        CommandError: one is not there; the message lists what there is.
    """
    criteria = list(project.criteria.all())
    if not names:
        return criteria
    by_name = {criterion.name.lower(): criterion for criterion in criteria}
    missing = [name for name in names if name.lower() not in by_name]
    if missing:
        known = ", ".join(by_name) or "none yet"
        raise CommandError(
            f"Project {project.slug} has no criterion {missing[0]!r} (criteria: {known})."
        )
    return [by_name[name.lower()] for name in names]


def in_words(error: ValidationError) -> str:
    """A form's or record's errors as one line for the terminal."""
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return "; ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())
