"""No command of the app breaks on conversations."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import get_commands

from evaluations.corpus.locks.locking import lock_documents
from evaluations.models import Project
from tests.pages.test_every_route_of_conversations import SLUG, call, conversations

__all__ = ["conversations"]
pytestmark = pytest.mark.django_db
HELPFULNESS = ("--criterion", "helpfulness")
# What each is called with; `out` is a file that does not exist yet.
COMMANDS: dict[str, list[list[str]]] = {
    "certify": [
        [SLUG, "--judge", "metric", *HELPFULNESS, "--require", "documents>=5", "--out", "{out}"]
    ],
    "verify": [["--show-key"]],
    "improve": [[SLUG, "--judge", "metric", *HELPFULNESS, "--change", "panel"]],
}


def test_every_command_is_walked() -> None:
    assert {name for name, app in get_commands().items() if app == "assurance"} == {*COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_breaks_on_conversations(
    conversations: Project, owner: User, tmp_path: Path, name: str
) -> None:
    lock_documents(conversations, share=0.35, seed="c")  # a search needs 10, and 20 others

    for arguments in COMMANDS[name]:
        call(name, [each.replace("{out}", str(tmp_path / name)) for each in arguments])
