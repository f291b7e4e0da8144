"""This installation's site as a client, for commands that also work on others over HTTP."""

from dataclasses import dataclass
from typing import Any, ClassVar

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from evaluations.judging.runs.errands import work_on_errand
from evaluations.models import Project, Role
from evaluations.web.agents.inner_site import InnerSite
from geval.client import Client
from geval.client.agent_tools import Level
from geval.texts.program import command

ENVIRON = {"SERVER_NAME": "localhost", "SERVER_PORT": "80", "wsgi.url_scheme": "http"}


@dataclass(frozen=True)
class OwnSite(InnerSite):
    """The API within this process. It probes endpoints itself, because workers do not see
    uncommitted rows."""

    WAITS: ClassVar[bool] = True

    def wait_for_probe(self, address: str, *, every: float = 0.5) -> dict[str, Any]:
        work_on_errand("probe", int(address.rsplit("/", 1)[1]))
        return super().wait_for_probe(address, every=every)


def own_site(slug: str) -> Client:
    """Return this site, signed in as an owner of the project; for a new project, as an
    administrator.

    Raises:
        CommandError: there is no such user.
    """
    users = get_user_model().objects.filter(is_active=True).order_by("pk")
    if Project.objects.filter(slug=slug).exists():
        owners = users.filter(memberships__project__slug=slug, memberships__role=Role.OWNER)
        if (owner := owners.first()) is None:
            advice = command(f"member {slug} USER owner")
            raise CommandError(f"Project {slug} has no owner; `{advice}` makes somebody its owner.")
    elif (owner := users.filter(is_superuser=True).first()) is None:
        raise CommandError(
            "There is no administrator yet, who would own the project; create one with"
            f" `{command('createsuperuser')}`."
        )
    return OwnSite(
        "http://127.0.0.1:8000/", token="", level=Level.WRITE, user=owner, environ=ENVIRON
    )
