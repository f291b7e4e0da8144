"""`manage.py member PROJECT USER ROLE`: add a member to a project, or change their role."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project
from evaluations.models import Membership, Role
from geval.texts.program import command


class Command(SiteCommand):
    help = "Add a user to a project, change their role, or remove them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument(
            "user",
            help=f"name of a user; create one with `{command('createsuperuser')}` or on the "
            "admin pages",
        )
        parser.add_argument("role", choices=[*Role.values, "none"], help="none removes them")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        user = get_user_model().objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(
                f"There is no user {options['user']!r}; create one on the admin pages at /admin/."
            )
        if options["role"] == "none":
            Membership.objects.filter(project=project, user=user).delete()
            self.stdout.write(f"{user} is no longer a member of {project}.")
            return
        Membership.objects.update_or_create(
            project=project, user=user, defaults={"role": options["role"]}
        )
        self.stdout.write(f"{user} is {options['role']} of {project}.")
