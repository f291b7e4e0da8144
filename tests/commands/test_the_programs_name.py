"""Messages name commands as whoever reads them types them."""

import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from geval.texts.program import command, program
from tests.conftest import CHECKOUT

OURS = ("geval", "geval_site", "evaluations", "annotations", "templates")


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


def test_no_text_names_one_of_them_for_all() -> None:
    """Docstrings may: they are read in a checkout. So may files that travel to other sites."""
    travelling = {"geval/files/archive/manifest.py"}
    folder = CHECKOUT / "evaluations/management/commands"
    names = {path.stem for path in folder.glob("[a-z]*.py")} | {"migrate", "createsuperuser"}
    named = re.compile(rf"(?:manage\.py|geval-site) (?:{'|'.join(names)})\b")
    found = []
    for path in (path for folder in OURS for path in (CHECKOUT / folder).rglob("*.*")):
        if path.suffix not in {".py", ".html"} or "migrations" in path.parts:
            continue
        quoted = r'""".*?"""|#[^\n]*' if path.suffix == ".py" else r"\{#.*?#\}"
        text = re.sub(quoted, "", path.read_text(), flags=re.S if path.suffix == ".py" else 0)
        place = str(path.relative_to(CHECKOUT))
        found += [f"{place}: {said}" for said in named.findall(text) if place not in travelling]

    assert found == []
