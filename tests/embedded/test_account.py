"""The system account for PostgreSQL: made once, however many commands need it at once."""

import os
import pwd
import subprocess
import sys
import uuid
from collections.abc import Iterator

import pytest

from geval_site.embedded.runner import AccountError, system_account
from tests.conftest import CHECKOUT

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes accounts")
MAKE = (
    "import sys; from geval_site.embedded.runner import system_account;"
    " print(system_account(sys.argv[1]).pw_uid)"
)


@pytest.fixture
def name() -> Iterator[str]:
    unused = f"geval-test-{uuid.uuid4().hex[:8]}"
    yield unused
    subprocess.run(["/usr/sbin/userdel", unused], check=False, capture_output=True)


def test_commands_that_need_it_at_once_get_one_and_the_same(name: str) -> None:
    commands = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE, name], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    numbers = {command.communicate(timeout=60)[0].strip() for command in commands}

    assert numbers == {str(pwd.getpwnam(name).pw_uid)}


def test_one_that_is_there_is_taken_as_it_is(name: str) -> None:
    first = system_account(name)

    assert system_account(name) == first


def test_a_name_that_no_account_can_have_is_a_clear_error() -> None:
    with pytest.raises(
        AccountError, match=r"the account no:name could not be created: .*Run as an ordinary user"
    ):
        system_account("no:name")
