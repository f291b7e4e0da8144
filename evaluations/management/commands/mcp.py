"""`manage.py mcp`: the site's tools for a coding agent that starts this program (stdio)."""

from argparse import ArgumentParser
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.http import HttpRequest

from evaluations.management.base import SiteCommand
from evaluations.web.agents.agent import Agent, Level
from evaluations.web.agents.server import MISSING, is_installed, make_server
from geval.texts.program import command


class Command(SiteCommand):
    help = "Serve tools to a coding agent on this machine. The protocol is MCP over stdio."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", help="whose rights it has; needed if there are several users")
        parser.add_argument(
            "--write", action="store_true", help="let it load, create and lock, not only read"
        )
        parser.add_argument(
            "--spend", action="store_true", help="let it also call models, which may cost money"
        )
        parser.add_argument(
            "--address",
            default="http://127.0.0.1:8000/",
            metavar="URL",
            help="where the pages are, for links in answers",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if not is_installed():
            raise CommandError(MISSING)
        level = Level.SPEND if options["spend"] else Level(options["write"])
        request = HttpRequest()
        request.user = request.auth = _user(options["user"])  # type: ignore[attr-defined]
        agent = Agent(request, level, options["address"])
        async_to_sync(make_server(agent, here=True).run_stdio_async)()


def _user(name: str | None) -> Any:
    """Return the user with this name, or the only user.

    Raises:
        CommandError: there is no such user, or there are several and none is named.
    """
    users = get_user_model().objects.filter(is_active=True)
    chosen = list(users.filter(username=name) if name else users[:2])
    if len(chosen) == 1:
        return chosen[0]
    if name or not chosen:
        who = f"There is no user {name!r}" if name else "There is no user yet"
        raise CommandError(f"{who}; create one with `{command('createsuperuser')}`.")
    raise CommandError("There are several users; say with --user whose rights the agent has.")
