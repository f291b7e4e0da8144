"""Messages name commands as whoever reads them types them."""

import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from geval.texts.program import command, program


@pytest.mark.parametrize(
    ("started_as", "name"),
    [
        ("manage.py", "manage.py"),
        ("/srv/site/manage.py", "manage.py"),
        ("/opt/geval-site/bin/geval-site", "geval-site"),
        ("/opt/geval-site/bin/gunicorn", "geval-site"),
        ("/opt/geval-site/lib/python3.13/site-packages/geval_site/__main__.py", "geval-site"),
        ("", "geval-site"),
    ],
)
def test_what_was_started_decides_where_it_is_installed(
    tmp_path: Path, started_as: str, name: str
) -> None:
    assert program(started_as, checkout=tmp_path) == name


def test_processes_of_a_checkout_that_neither_started_say_manage_py(tmp_path: Path) -> None:
    (tmp_path / "manage.py").touch()

    assert program("/usr/bin/celery", checkout=tmp_path) == "manage.py"
    assert program("/venv/bin/geval-site", checkout=tmp_path) == "geval-site"


@pytest.mark.django_db
def test_an_error_says_what_to_type() -> None:
    with pytest.raises(CommandError, match=re.escape(command("load nothing FILE…"))):
        call_command("report", "nothing")
