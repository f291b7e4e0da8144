"""`manage.py member PROJECT USER ROLE`: let somebody into a project, or give them another role."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project
from evaluations.models import Membership, Role


class Command(SiteCommand):
    help = "Make a user a member of a project, change their role, or take them out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument(
            "user", help="name of a user; `manage.py createsuperuser` or the admin pages make one"
        )
        parser.add_argument("role", choices=[*Role.values, "none"], help="none takes them out")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        user = get_user_model().objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(
                f"There is no user {options['user']!r}; make one on the admin pages at /admin/."
            )
        if options["role"] == "none":
            Membership.objects.filter(project=project, user=user).delete()
            self.stdout.write(f"{user} is not a member of {project} any more.")
            return
        Membership.objects.update_or_create(
            project=project, user=user, defaults={"role": options["role"]}
        )
        self.stdout.write(f"{user} is {options['role']} of {project}.")
