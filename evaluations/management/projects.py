"""Find projects, judges and criteria by name for commands, with errors that list existing ones."""

from collections.abc import Sequence

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_slug
from django.db import transaction

from evaluations.judging.judges.judges import newest_version
from evaluations.models import Criterion, Endpoint, Judge, Membership, Project, Role
from geval.texts.program import command
from geval.texts.sentences import did_you_mean


def find_project(slug: str) -> Project:
    """Return the project with this short name.

    Raises:
        CommandError: there is no such project; the message lists existing ones.
    """
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        slugs = list(Project.objects.values_list("slug", flat=True))
        advice = did_you_mean(slug, slugs) or f" `{command(f'load {slug} FILE…')}` creates one."
        listed = ", ".join(slugs[:20]) or "none yet"
        raise CommandError(f"There is no project {slug!r} (projects: {listed}).{advice}")
    return project


@transaction.atomic
def project_or_new(slug: str, *, owner: str | None) -> Project:
    """Return the project with this short name, creating it with its owners if necessary.

    Raises:
        CommandError: the name is not a valid short name, or there is no such user.
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
    # Another command may be creating it now: then this one waits for it, and uses it.
    project, is_new = Project.objects.get_or_create(slug=slug, defaults={"name": name})
    if is_new:
        add_owners(project, owner=owner)
    return project


def add_owners(project: Project, *, owner: str | None) -> None:
    """Make a user, or every site administrator, an owner of a new project.

    Raises:
        CommandError: there is no such user.
    """
    users = get_user_model().objects
    owners = users.filter(username=owner) if owner else users.filter(is_superuser=True)
    if owner and not owners.exists():
        raise CommandError(
            f"There is no user {owner!r}; create one with `{command('createsuperuser')}`."
        )
    Membership.objects.bulk_create(
        Membership(project=project, user=user, role=Role.OWNER) for user in owners
    )


def find_judge(project: Project, name: str) -> Judge:
    """Return the judge with this name in a project; the newest version if the name has no version.

    Raises:
        CommandError: there is no such judge; the message lists existing ones.
    """
    judge = newest_version(project, name) or next(
        (j for j in project.judges.all() if j.label == name), None
    )
    if judge is None:
        names = ", ".join(judge.label for judge in project.judges.all()) or "none yet"
        raise CommandError(f"Project {project.slug} has no judge {name!r} (judges: {names}).")
    return judge


def find_endpoint(project: Project, name: str) -> Endpoint:
    """Return the endpoint with this name in a project.

    Raises:
        CommandError: there is no such endpoint; the message lists existing ones.
    """
    endpoint = project.endpoints.filter(name=name).first()
    if endpoint is None:
        names = ", ".join(project.endpoints.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"Project {project.slug} has no endpoint {name!r} (endpoints: {names}).")
    return endpoint


def find_criteria(project: Project, names: Sequence[str] | None) -> list[Criterion]:
    """Return the criteria with these names; all criteria for no names.

    Raises:
        CommandError: one does not exist; the message lists existing ones.
    """
    criteria = list(project.criteria.all())
    if not names:
        return criteria
    by_name = {criterion.name.lower(): criterion for criterion in criteria}
    missing = [name for name in names if name.lower() not in by_name]
    if missing:
        existing = ", ".join(by_name) or "none yet"
        raise CommandError(
            f"Project {project.slug} has no criterion {missing[0]!r} (criteria: {existing})."
        )
    return [by_name[name.lower()] for name in names]


def find_criterion(project: Project, name: str) -> Criterion:
    """Return the criterion with this name.

    Raises:
        CommandError: there is no such criterion; the message lists existing ones.
    """
    return find_criteria(project, [name])[0]
