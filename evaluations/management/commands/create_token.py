"""`manage.py create_token USER NAME`: a token for the HTTP API, shown once."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project
from evaluations.models import ApiToken
from evaluations.models.tokens import TOKEN_DAYS
from geval.texts.program import command


class Command(SiteCommand):
    help = "Create a token for the HTTP API for a user. It is shown once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user")
        parser.add_argument("name", help="what it is for")
        parser.add_argument("--project", help="access this project only")
        parser.add_argument("--read-only", action="store_true")
        parser.add_argument(
            "--days",
            type=int,
            choices=range(3651),
            default=TOKEN_DAYS,
            metavar="N",
            help=f"after which it expires (default: {TOKEN_DAYS}; 0: never)",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        user = get_user_model().objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(
                f"There is no user {options['user']!r}; create one with"
                f" `{command('createsuperuser')}`."
            )
        project = find_project(options["project"]) if options["project"] else None
        token = ApiToken.objects.issue(
            user=user,
            name=options["name"],
            project=project,
            may_change=not options["read_only"],
            days=options["days"],
        )
        self.stdout.write(token)
