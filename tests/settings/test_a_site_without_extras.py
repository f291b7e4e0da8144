"""What a site does without the packages of the extras `assurance`, `evaluators`, `local` and
`mcp`."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import ApiToken, Project, RunState
from evaluations.models.tokens import new_token
from geval.reproduction import coco
from tests.conftest import CHECKOUT
from tests.hiding import EXTRAS, finders

pytestmark = pytest.mark.django_db(transaction=True)
LEXICAL = ("rouge", "bleu", "chrf", "meteor")
OTHER_KINDS = "judges/new/?kind=other"
INSTALL = "pip install 'geval-site[evaluators]'"
# Imports every module of ours, as a process would that has none of these packages.
IMPORTS_ALL = """
import importlib, os, pkgutil, sys
from tests import hiding
sys.meta_path[:] = hiding.finders()
import django
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.site_settings"
django.setup()
for package in ("geval", "evaluations", "annotations"):
    for info in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if not info.name.endswith("__main__"):
            importlib.import_module(info.name)
from django.core.management import call_command
call_command("check")
call_command("evaluators")
"""


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "meta_path", finders())
    for name in [name for name in sys.modules if name.partition(".")[0] in EXTRAS]:
        monkeypatch.delitem(sys.modules, name)
    caches = (coco._rouge, coco._bleu)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def test_every_module_loads_and_the_list_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS_ALL],
        cwd=CHECKOUT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.startswith("  ")}
    for kind in LEXICAL:
        assert "✗ not installed" in lines[kind]
        assert INSTALL in lines[kind]
    assert "✓" in lines["geval"]


def test_pages_show_and_say_what_to_install(
    without: None, judged_project: Project, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")
    pages = {
        name: client.get(f"/p/{judged_project.slug}/{name}")
        for name in (
            *("", "judges/", "judges/new/", OTHER_KINDS, "judges/new/?kind=rouge"),
            "report/",
        )
    }

    assert {name: page.status_code for name, page in pages.items()} == dict.fromkeys(pages, 200)
    new = pages[OTHER_KINDS].content.decode().replace("&#x27;", "'")
    assert new.count(INSTALL) == len(LEXICAL)
    assert "Not installed (rouge_score, nltk missing)" in new


@pytest.mark.parametrize("kind", LEXICAL)
def test_a_run_pauses_and_says_what_to_install(
    without: None, project: Project, load: Callable[..., Any], kind: str
) -> None:
    output = '{"doc_id": "d", "system_id": "s", "source": "x", "output": "y", "references": ["z"]}'
    load(project, {"outputs.jsonl": output})
    judge, _ = create_judge(project, JudgeDraft(name=kind, kind=kind, settings={}))
    run = start_run(judge, list(project.criteria.all()))

    work_on_run(run.pk, "tester")

    run.refresh_from_db()
    assert run.state == RunState.PAUSED
    assert INSTALL in run.message


def test_agents_are_refused_and_it_says_what_to_install(
    without: None, project: Project, owner: User
) -> None:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="agent", digest=digest)

    answer = Client().post("/api/v1/mcp", HTTP_AUTHORIZATION=f"Bearer {token}")

    assert (answer.status_code, answer.json()["title"]) == (501, "Not installed")
    assert "geval-site[mcp]" in answer.json()["detail"]
    with pytest.raises(CommandError, match=r"geval-site\[mcp\]"):
        call_command("mcp")


def test_without_a_database_it_says_what_to_set_or_install(tmp_path: Path) -> None:
    code = (
        "import sys; from tests import hiding; sys.meta_path[:] = hiding.finders();"
        " from geval_site.command_line import main; main()"
    )
    of_a_server = {
        "GEVAL_MODE": "local", "GEVAL_DATA_DIR": str(tmp_path), "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "geval_site.settings",
    }  # fmt: skip

    def run(command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, command], cwd=CHECKOUT, capture_output=True, text=True,
            env=os.environ | of_a_server | more, check=False,
        )  # fmt: skip

    refused = run("migrate")
    elsewhere = run("migrate", DATABASE_URL="postgresql://u@127.0.0.1:9/d")

    assert refused.returncode == 1
    assert refused.stderr.startswith("DATABASE_URL is not set")
    assert refused.stderr.endswith("pip install 'geval-site[local]'.\n")
    assert "geval-site[local]" not in elsewhere.stderr
    assert "127.0.0.1" in elsewhere.stderr
