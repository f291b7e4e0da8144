"""Exports name annotators by pseudonyms when asked to, the dataset unless names are asked for."""

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from evaluations.models import Project
from evaluations.reports.ratings.downloads import DOWNLOADS
from tests.archive.test_the_record_of_answers import recorded  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)
PAGE, API = "/p/small/annotate/export/{}", "/api/v1/projects/small/exports/{}"
LINES = "/api/v1/projects/small/{}"
NAMES = ("ann", "bob", "olga")


@pytest.fixture
def browser(recorded: Project, as_role: Callable[[str], Client]) -> Client:  # noqa: F811
    return as_role("owner")


def content_of(response: Any) -> str:
    assert response.status_code == 200, response.content
    content = b"".join(response)
    if not content.startswith(b"PK"):
        return content.decode()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [archive.read(name) for name in archive.namelist() if "outputs" not in name]
    return b"".join(parts).decode(errors="replace")


def names_in(text: str) -> list[str]:
    """The names in cells, JSON's texts and Parquet's columns; "Bobby" is none of them."""
    return [name for name in NAMES if re.search(rf"(?<![A-Za-z]){name}(?![A-Za-z])", text)]


def test_pseudonyms_leave_no_name_in_any_export(browser: Client) -> None:
    for name in DOWNLOADS:
        for query in ("?pseudonyms=true", "?pseudonyms"):
            assert names_in(content_of(browser.get(PAGE.format(name) + query))) == [], name


def test_exports_and_lines_of_the_api_have_pseudonyms(browser: Client) -> None:
    files = [API.format(name) for name in ("answers.csv", "argilla.json", "label-studio.json")]
    lines = [LINES.format(name) for name in ("ratings", "preferences")]
    for address in files + lines:
        shown = content_of(browser.get(address + "?pseudonyms=true"))

        assert names_in(shown) == []
        assert "annotator " in shown
        assert names_in(content_of(browser.get(address))) != []


@pytest.mark.parametrize("address", [PAGE, API])
def test_the_dataset_names_people_only_if_asked(
    browser: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geval.files.hugging_face.find_spec", lambda _name: None)
    dataset = address.format("hugging-face.zip")

    assert names_in(content_of(browser.get(dataset))) == []
    assert "annotator 2" in content_of(browser.get(dataset))
    assert names_in(content_of(browser.get(f"{dataset}?pseudonyms=false"))) == list(NAMES)


def test_the_command_writes_the_dataset_with_pseudonyms(
    recorded: Project,  # noqa: F811
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("geval.files.hugging_face.find_spec", lambda _name: None)
    shown = []
    for name, how in (("a", []), ("b", ["--no-pseudonyms"])):
        folder = tmp_path / name
        call_command(
            "export_project", "small", str(folder), "--as", "hugging-face", *how,
            stdout=io.StringIO(),
        )  # fmt: skip
        shown.append(names_in("".join(p.read_text() for p in folder.glob("*.jsonl"))))

    assert shown == [[], list(NAMES)]


def test_another_value_of_pseudonyms_is_an_error(browser: Client) -> None:
    refused = browser.get(PAGE.format("answers.csv") + "?pseudonyms=maybe")

    assert refused.status_code == 400
    assert "pseudonyms is true or false" in refused.content.decode()
