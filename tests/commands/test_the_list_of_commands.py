"""`--help` lists our commands in groups, the framework's on request."""

import subprocess
import sys

import pytest

from geval_site.command_help import GROUPS, own_commands
from tests.conftest import CHECKOUT


def printed(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout


def test_every_command_of_ours_is_in_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]

    assert len(grouped) == len(set(grouped))
    assert set(own_commands()) == set(grouped)


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",)])
def test_it_is_printed_without_a_command(arguments: tuple[str, ...]) -> None:
    text = printed(*arguments)

    assert "Runs\n  judge" in text
    assert "createsuperuser" not in text.split("Commands of Django")[0]
