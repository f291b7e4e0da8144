"""A site may leave `assurance` out. Everything else works, and what the app stored is shown as far
as the rest needs it, exported, and deleted with its project."""

import json
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from django.contrib.auth.models import User

from assurance.certifying.certificates import certify, read_requirements
from assurance.certifying.sealed import sealed
from assurance.disagreements.causes import give_cause
from assurance.improving.work import request_search
from assurance.instrument.studies import make_study
from assurance.web.urls import urlpatterns
from evaluations.models import Change, Criterion, Judge, LockedDocuments, Project, StudyKind
from evaluations.models.improving import withheld_documents
from evaluations.projects.archive.read import read_archive
from evaluations.reports.serving.parts import REPORT, code_of
from tests.assurance.instrument.test_probes import ended
from tests.assurance.without_assurance import pages
from tests.conftest import CHECKOUT
from tests.processes import run_to_its_end

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

OFF = {"GEVAL_ASSURANCE": "0"}
JOBS = {"searches", "record studies", "ask studies"}
# Beginnings of the app's addresses in the API.
ADDRESSES = ("certificates", "studies", "locked", "searches", "candidates", "judge-tests",
             "disagreements", "causes")  # fmt: skip
# And of its pages.
PAGES = ("improve", "instrument", "certificates", "report/compare", "report/disagreements",
         "report/causes")  # fmt: skip
COMMANDS = {"certify", "compare", "disagreements", "improve", "study", "verify"}
# What leads to its pages, and on which page of the rest.
LINKS = [
    (r"report/", ">Disagreements</a> ·"), (r"report/", ">Compare judges</a>"),
    (r"report/", ">Two judges</a>"), (r"report/", ">See the cases</a>"),
    (r"report/live/.*", ">read the outputs where"), (r"standing/", ">Look at disagreements</a>"),
    (r"judges/\d+/standing/", ">Look at disagreements</a>"),
    (r"judges/\d+/standing/", ">compare with "), (r"report/cell/.*", "the largest gap first</a>"),
    (r"report/bubble/.*", ">Ratings, reason and cause</a>"),
]  # fmt: skip
PROGRAM = "tests/assurance/without_assurance.py"


@pytest.fixture
def stored(
    judge: Judge,
    criterion: Criterion,
    locked: LockedDocuments,
    owner: User,
    make_judge: Callable[..., Judge],
) -> Project:
    """A project with all that the app stores: a lock, an open search, a certificate, probes that
    have ended, and the cause of a gap."""
    project, asked = judge.project, make_judge(judge.project)
    request_search(judge, criterion, [Change.PANEL])
    certify(judge, criterion, read_requirements(["documents>=1"]))
    ended(make_study(asked, criterion, StudyKind.PROBES))
    open_ = project.documents.exclude(pk__in=withheld_documents(project.pk))
    output = open_.earliest("pk").outputs.earliest("pk")
    give_cause(judge, criterion, output, "judge is wrong", note="", by=owner)
    return project


@pytest.fixture
def installed(stored: Project, owner: User) -> dict[str, tuple[int, str]]:
    """The same pages of a site with the app."""
    return pages(stored, owner)


@pytest.fixture
def answers(stored: Project, database_url: str, tmp_path: Path) -> dict[str, Any]:
    """What `without_assurance.py` prints."""
    done = run_to_its_end(
        PROGRAM, str(tmp_path / "archive.zip"), timeout=120, DATABASE_URL=database_url, **OFF
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_pages_and_the_api_of_the_rest_answer_without_links_to_it(
    installed: dict[str, tuple[int, str]], answers: dict[str, Any]
) -> None:
    shown = dict(answers["pages"])
    paths = json.loads(shown.pop("schema")[1])["paths"]

    missing = {part for part, (status, _text) in shown.items() if status == 404}
    assert missing == {part for part in shown if any(page in part for page in PAGES)}
    assert {status for part, (status, _text) in shown.items() if part not in missing} == {200}
    for part, (_status, text) in shown.items():
        assert re.findall(rf"href=\"[^\"]*/(?:{'|'.join(PAGES)})/", text) == [], part
    assert shown.keys() == installed.keys() - {"schema"}
    assert [link for link in LINKS if not _shows(installed, *link)] == []
    assert [link for link in LINKS if _shows(shown, *link)] == []
    assert "See where they differ most" in shown["standing/"][1]
    text = " ".join(text for _status, text in shown.values())
    assert "which this site has no pages" in text
    assert "quality" in json.loads(shown["report/export/json/"][1])["criteria"]
    assert "instructed" not in shown["report/export/json/"][1]
    addresses = {part for path in paths for part in path.split("/")}
    assert "judges" in addresses
    assert addresses.isdisjoint(ADDRESSES)
    assert COMMANDS.isdisjoint(answers["commands"])
    assert "report" in answers["commands"]


def _shows(pages: Mapping[str, Sequence[Any]], part: str, words: str) -> bool:
    texts = (" ".join(text.split()) for at, (_, text) in pages.items() if re.fullmatch(part, at))
    return any(words in text for text in texts)


def test_kept_reports_are_read_by_a_site_with_it_and_one_without(answers: dict[str, Any]) -> None:
    assert answers["kept"] == code_of(REPORT)
    assert answers["beside the report"] == ["", "annotators"]


def test_its_project_is_worked_on_exported_and_deleted_and_nothing_is_lost(
    answers: dict[str, Any], tmp_path: Path
) -> None:
    assert answers["jobs"]["runs"] == ""
    assert set(answers["jobs"].values()) == {""}
    assert JOBS.isdisjoint(answers["jobs"])
    assert answers["searches"] == ["paused"]
    assert not Project.objects.exists()
    assert len(answers["removed"]) == 1
    with zipfile.ZipFile(tmp_path / "archive.zip") as archive:
        records = json.loads(archive.read("manifest.json"))["records"]
    assert (records["locks"], records["certificates"], records["studies"]) == (1, 1, 1)
    assert records["ratings"] == 900

    copy = read_archive(tmp_path / "archive.zip")

    assert sealed(copy.certificates.get()).problem == ""
    assert copy.studies.count() == 2
    assert LockedDocuments.objects.get(project=copy).seed == "fixed"


def test_the_rest_names_its_pages_and_templates_nowhere() -> None:
    pages = "|".join(pattern.name for pattern in urlpatterns)
    names = re.compile(rf"evaluations:(?:{pages})\b|\bassurance[/.]\w")
    rest = [
        path
        for room in ("annotations", "evaluations", "geval_site", "templates", "static/js")
        for path in (CHECKOUT / room).rglob("*")
        if path.suffix in (".py", ".html", ".js") and "assurance" not in path.parts
    ]

    assert len(rest) > 500
    # A certificate's address is on the certificate.
    assert [path.name for path in rest if names.search(path.read_text())] == ["certificates.py"]


def test_its_commands_are_unknown_and_others_known(
    manage: Callable[..., CompletedProcess[str]], rated_project: Project
) -> None:
    unknown = manage("certify", "small", **OFF)
    report = manage("report", "small", **OFF)

    assert "Unknown command: 'certify'" in unknown.stderr
    assert report.returncode == 0, report.stderr
    assert "quality" in report.stdout
